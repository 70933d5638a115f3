"""Triage: how large a mission looks, and whether it needs no plan."""

import pytest

from qloop.mission.sizing import LARGE_REPOSITORY, count_stories, size_up
from scout_trees import scout

CODE = scout({"main.py": ""})
LARGE = CODE.model_copy(
    update={"size": CODE.size.model_copy(update={"source_files": LARGE_REPOSITORY})}
)
STORY = "\n## US-{0:03}: Story {0}\n\nDo it.\n"


def document(count: int) -> str:
    """A document of so many stories."""
    return "# Tea\n" + "".join(STORY.format(number) for number in range(1, count + 1))


@pytest.mark.parametrize(
    ("text", "size", "reason"),
    [
        ("Add a --json flag to the list command", "SIMPLE", "8 words"),
        ("- a\n- b\n- c\n- d\n", "MEDIUM", "4 points"),
        ("Rename the option, then adapt the docs", "MEDIUM", "it has several steps: 'then'"),
        ("Add a column for the colour", "MEDIUM", "it changes data or its form: 'column'"),
        (
            "Build me a small web app for tea",
            "MEDIUM",
            "it asks for a whole program: 'Build me a small web app'",
        ),
        ("Rewrite the parser", "COMPLEX", "it is about all of something: 'Rewrite'"),
        ("word " * 1000, "MASSIVE", "1,000 words"),
        ("\n".join(f"{n}. thing" for n in range(25)), "MASSIVE", "25 points"),
    ],
)
def test_sizes_of_words(text: str, size: str, reason: str) -> None:
    """The largest size that a rule gives counts, and its reason is told."""
    triage = size_up(text, CODE)

    assert triage.complexity == size
    assert reason in triage.reasons


@pytest.mark.parametrize(
    ("count", "size"), [(1, "SIMPLE"), (3, "MEDIUM"), (7, "COMPLEX"), (16, "MASSIVE")]
)
def test_sizes_of_documents(count: int, size: str) -> None:
    """A document is as large as its stories are many, and never trivial."""
    triage = size_up(document(count), CODE, is_document=True)

    assert triage.complexity == size
    assert not triage.is_trivial
    assert count_stories(document(count)) == count
    assert count_stories("Just prose") == 0


def test_a_very_large_repository_makes_more_of_it() -> None:
    """What is not simple is one size larger there; what is simple or at the end of sizes is not."""
    assert size_up("Rewrite the parser", LARGE).complexity == "MASSIVE"
    assert size_up("Add a column", LARGE).complexity == "COMPLEX"
    assert size_up("Add a flag", LARGE).complexity == "SIMPLE"
    assert "the repository has 2,000 source files" in size_up("Add a column", LARGE).reasons


TRIVIAL = {
    "Fix the typo in README.md": None,
    "Rename the flag --colour to --color in cli.py and its test in tests/test_cli.py": None,
    "Correct the spelling of the greeting": None,
    "Fix it": "it names no file and no small change",
    "Typo": "too few words",
    "Add OAuth login": "it names no file and no small change",
    "Make a.py better": "it leaves open what exactly is wanted",
    "Should README.md say more?": "it leaves open what exactly is wanted",
    "Fix README.md and deploy it": "a person may have to look",
    "Fix README.md, then a.py": "it looks MEDIUM",
    "- Fix README.md": "it is a list",
    "Fix a.py b.py c.py d.py e.py f.py": "it looks MEDIUM",
    "Fix the typo " + "in this " * 20: "more than 40 words",
}


@pytest.mark.parametrize(("text", "why_not"), TRIVIAL.items(), ids=list(TRIVIAL))
def test_what_is_trivial(text: str, why_not: str | None) -> None:
    """Short, clear, small, one step and nothing that a person must see; else it says why not."""
    triage = size_up(text, CODE)

    assert triage.is_trivial is (why_not is None)
    assert triage.reasons[-1] == ("trivial" if why_not is None else f"not trivial: {why_not}")


def test_nothing_is_trivial_where_there_is_no_code() -> None:
    """A first file decides about all that follow."""
    assert not size_up("Fix the typo in README.md", scout({"README.md": ""})).is_trivial
