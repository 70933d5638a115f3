"""Intents on disk: their names, their documents, and many processes that make them at once."""

import shutil
from pathlib import Path

import pytest
import yaml

from qloop.state.intent import KEYS, SECTIONS, demoted, parse_folder_name, read_front, slug_of
from qloop.state.intents import create_intent, find_intent, intents_folder, list_intents
from qloop.system.errors import BadInput, InputMissing, UsageWrong
from state.crowd import crowd


def test_an_intent_is_a_folder_with_its_document(tmp_path: Path) -> None:
    """The document has the seven keys, the five sections, and the text as it was given."""
    root = intents_folder(tmp_path / "my repo", None)
    text = '# Export as CSV: "all" rows\n\nWith Ümläuts.\n\n## Why\n\nPeople ask.\n'
    made = create_intent(root, text, author="Ada: L", sources=["prd.md"], chain=[3], tags=["x"])
    written = made.document.read_text("utf-8")
    front = read_front(written)

    assert made.folder == tmp_path / "my repo/.qloop/intents/1--export-as-csv-all-rows"
    assert made.title == 'Export as CSV: "all" rows'
    assert tuple(front) == KEYS
    assert front == yaml.safe_load(written.split("---\n")[1]) | {"created": front["created"]}
    assert (front["id"], front["author"], front["tags"]) == (1, "Ada: L", ["x"])
    assert (front["sources"], front["chain"]) == (["prd.md"], [3])
    headings = [line[3:] for line in written.splitlines() if line.startswith("## ")]
    assert headings == list(SECTIONS)
    assert "With Ümläuts.\n\n#### Why\n\nPeople ask.\n" in written
    assert list_intents(root) == [made]


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Export as CSV", "export-as-csv"),
        ("Größe & Maß!", "grosse-mass"),
        ("日本語", "intent"),
        ("../../etc/passwd", "etc-passwd"),
        ("a" * 90, "a" * 48),
        ("word " * 20, "-".join(["word"] * 9)),
    ],
)
def test_a_slug_is_plain_and_short(title: str, slug: str) -> None:
    """Whatever the title, its slug makes a folder's name that is read back as it was written."""
    assert slug_of(title) == slug
    assert parse_folder_name(f"7--{slug}") == (7, slug)


def test_headings_of_a_text_stand_below_the_sections() -> None:
    """A document taken as an intent's text cannot open or close one of its sections."""
    text = "# One\n## Insights\n```\n# code\n```\n  ### Three\n#hash\n"

    assert demoted(text) == "### One\n#### Insights\n```\n# code\n```\n##### Three\n#hash"


def test_an_intent_is_found_by_any_of_its_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Id, slug, folder name, path and a slug's beginning name it; what is unclear is refused."""
    csv = create_intent(tmp_path, "csv export", author="a")
    xml = create_intent(tmp_path, "xml export", author="a")
    both = create_intent(tmp_path, "csv import", author="a")
    monkeypatch.chdir(xml.folder)

    for word in ("2", "xml-export", "2--xml-export", "xml", ".", str(xml.folder), "2--x"):
        assert find_intent(tmp_path, word) == xml
    assert find_intent(tmp_path, "csv-i") == both
    with pytest.raises(BadInput, match="1--csv-export, 3--csv-import"):
        find_intent(tmp_path, "csv")
    with pytest.raises(InputMissing, match="did you mean 'xml-export'"):
        find_intent(tmp_path, "xlm-exprt")
    with pytest.raises(InputMissing, match="qloop intent new"):
        find_intent(tmp_path / "none", "")
    assert csv.id == 1


def test_an_id_is_never_given_twice(tmp_path: Path) -> None:
    """Not after its folder was removed, nor where what a crash left lies about."""
    first = create_intent(tmp_path, "one", author="a")
    shutil.rmtree(first.folder)
    (tmp_path / ".new-left").mkdir()
    (tmp_path / "12--by-hand").mkdir()
    second = create_intent(tmp_path, "two", author="a")
    second.document.write_text("---\nintent: [broken\n")

    assert second.id == 13
    assert [(one.id, one.title) for one in list_intents(tmp_path)] == [
        (12, "by hand"),
        (13, "two"),
    ]
    assert not (tmp_path / ".new-left").exists()


def test_what_cannot_be_written_or_printed_does_no_harm(tmp_path: Path) -> None:
    """Bytes that are no UTF-8, and signs that would steer a terminal, do not come into names."""
    text = "bad \udcff \x1b[31m\u202ered\n\nbody \udcff\n"
    made = create_intent(tmp_path, text, author="a\udcff\nb", tags=["x\ny"], sources=["\udcff"])
    front = read_front(made.document.read_text("utf-8"))

    assert made.title == "bad ? [31m red"
    assert (front["author"], front["tags"], front["sources"]) == ("a? b", ["x y"], ["?"])
    assert "\x1b" not in (tmp_path / "INDEX.md").read_text("utf-8")


@pytest.mark.parametrize("text", ["", " \n\t", "# \n---\n"])
def test_an_intent_needs_words(tmp_path: Path, text: str) -> None:
    """Nothing is made of a text that says nothing."""
    with pytest.raises(UsageWrong):
        create_intent(tmp_path / "none", text, author="a")
    assert not (tmp_path / "none").exists()


def test_processes_that_make_intents_at_once_share_no_id(tmp_path: Path) -> None:
    """Each of forty intents that eight processes make has its own id, without a gap."""
    told = crowd(8, "create", tmp_path)
    made = list_intents(tmp_path)

    assert sorted(int(word) for line in told for word in line.split()) == list(range(1, 41))
    assert [one.id for one in made] == list(range(1, 41))
    assert all(one.document.is_file() for one in made)
