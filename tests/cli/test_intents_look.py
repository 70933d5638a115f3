"""`qloop intent`: intents made, looked at, grouped and ended, as a person does it."""

import json
from pathlib import Path

import pytest

from qloop.cli.main import main
from qloop.state.delivery_lock import claim, make_lock
from repository import Repo

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def root(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository to stand in, and where its intents lie."""
    monkeypatch.chdir(repo.path)
    return repo.path / ".qloop" / "intents"


def test_an_intent_from_its_beginning_to_its_end(root: Path, capsys: Captured) -> None:
    """It is made, listed, shown, grouped with another, and ended."""
    assert main(["intent", "new", "Export as CSV", "--tag", "shop"]) == 0
    folder = root / "1--export-as-csv"
    made_so = capsys.readouterr()
    assert (made_so.out, made_so.err) == (f"{folder}\n", "next: qloop auto 1\n")
    (root.parent.parent / "wish.md").write_text("# Import\n\nThe other way.\n")
    words = ["--from", "wish.md", "--after", "export", "--later", "--json"]
    assert main(["intent", "new", *words]) == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["id"], made["group"], made["after"]) == (2, "Future", ["1"])
    assert made["sources"] == ["wish.md"]

    assert main(["intent", "group", "Data", "1", "import"]) == 0
    (folder / "checklist.md").write_text("- [x] a\n- [ ] b\n")
    capsys.readouterr()
    assert main(["intent", "list"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert rows == [
        ["1", "Active", "Why", "1/2", "Export", "as", "CSV", "Data"],
        ["2", "Future", "Why", "Import", "Data"],
    ]
    assert main(["intent", "end", "1", "--disposition", "delivered"]) == 65
    assert "[ ] b" in capsys.readouterr().err
    (folder / "checklist.md").write_text("- [x] a\n- [x] b\n")
    assert main(["intent", "end", "export", "--disposition", "delivered", "--note", "Done."]) == 0
    assert "INDEX.md: Completed" in capsys.readouterr().err
    assert main(["intent", "show", "1"]) == 0
    told = capsys.readouterr().out
    assert "Completed, in Data" in told
    assert "Done  delivered" in told
    assert "checklist.md, outcome.md" in told


def test_show_tells_who_delivers_it(root: Path, capsys: Captured) -> None:
    """A living owner, and one of which no sign came for long."""
    main(["intent", "new", "Export"])
    claim(root / "1--export", make_lock("team-7", is_process=True))
    capsys.readouterr()
    assert main(["intent", "show", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["owner"], told["owner_is"]) == ("team-7", "held")

    (root / "1--export" / "delivery.lock").write_text("{")
    assert main(["intent", "show", "1"]) == 0
    assert "the next owner repairs it" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["new"], 64),
        (["new", "text", "--from", "x.md"], 64),
        (["new", " "], 64),
        (["new", "--from", "none.md"], 66),
        (["new", "text", "--after", "9"], 66),
        (["show", "9"], 66),
        (["group", " # ", "1"], 64),
        (["group", "Data"], 64),
        (["end", "1"], 64),
        (["end", "9", "--disposition", "delivered"], 66),
    ],
)
def test_what_cannot_be_is_refused(root: Path, words: list[str], code: int) -> None:
    """With the exit code of its kind, and nothing made."""
    assert main(["intent", *words]) == code
    assert not root.exists()


def test_intents_lie_where_the_settings_say(root: Path, repo: Repo, capsys: Captured) -> None:
    """Also outside of `.qloop`, where only documents are git's; without any the list is empty."""
    (root.parent.parent / "qloop.toml").write_text('intents_root = "doc/my intents"\n')
    assert main(["intent", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    main(["intent", "new", "Export"])

    folder = root.parent.parent / "doc/my intents/1--export"
    assert (folder / "1--export.md").is_file()
    assert not root.exists()
    main(["mission", "new", "--intent", "1"])
    repo.git("add", "doc")
    assert repo.git("ls-files", "doc").splitlines() == sorted(
        f"doc/my intents/{name}"
        for name in (
            "1--export/1--export.md",
            "1--export/CHECKPOINT.md",
            "1--export/STATE.md",
            "1--export/savepoint.md",
            "INDEX.md",
        )
    )


def test_insights_and_savepoints_by_hand(root: Path, capsys: Captured) -> None:
    """An insight is written by name or by path; what the ledger lacks comes back."""
    main(["intent", "new", "Export"])
    folder = root / "1--export"
    assert main(["intent", "insight", "1", "Quotes matter", "--autonomous"]) == 0
    assert main(["intent", "insight", str(folder), "So do tabs", "--author", "executor"]) == 0
    (folder / "spec.md").write_text("words")
    before = (folder / "savepoint.md").read_bytes()
    assert main(["intent", "rebuild", "1"]) == 0
    assert "2 more lines" in capsys.readouterr().err
    assert (folder / "savepoint.md").read_bytes().startswith(before)
    main(["intent", "show", "1"])
    told = capsys.readouterr().out
    assert " · Why · you (autonomous): Quotes matter\n" in told
    assert " · Why · executor: So do tabs\n" in told
    assert main(["intent", "rebuild", "1"]) == 0
    assert "lacks nothing" in capsys.readouterr().err
    assert main(["intent", "insight", "1", " "]) == 64
    assert main(["intent", "insight", "9", "words"]) == 66
