"""Two new files that are nearly the same."""

import pytest

from qloop.run.check_twins import check_twins
from qloop.run.check_values import Finding
from works import work

LINES = [
    line
    for n in range(10)
    for line in (f"def step_{n}(value, factor):", f"    return value * factor + {n}", "")
]
TEXT = "\n".join(LINES)
RENAMED = TEXT.replace("value", "amount").replace("factor", "rate").replace("step", "stage")
OTHER = "\n".join(f"class Item{n}(Base, kind={n}):\n    price: int = {n * 7}" for n in range(12))


def check(first: str, second: str, paths: tuple[str, str] = ("a.py", "b.py")) -> list[Finding]:
    """The findings between two stories with a new file each."""
    return check_twins([work("A", {paths[0]: first}), work("B", {paths[1]: second})])


@pytest.mark.parametrize(
    ("second", "how"),
    [
        (TEXT, "are the same:"),
        (f"# Another header.\n\n{TEXT}", "are the same:"),
        (TEXT.replace("    ", "\t"), "are the same:"),
        (TEXT.replace("step_3", "stage_3"), "are the same to 9"),
        ("\n".join(LINES[3:]), "are the same to 9"),
        (RENAMED, "are the same but for names:"),
    ],
)
def test_new_files_that_are_alike(second: str, how: str) -> None:
    """Equal, nearly equal, and equal but for names: each is one finding that says which."""
    found = check(TEXT, second)

    assert [(one.check, one.stories) for one in found] == [("twins", ("A", "B"))]
    assert [place.label for place in found[0].places] == ["a.py:1", "b.py:1"]
    assert how in found[0].text


@pytest.mark.parametrize(
    ("first", "second", "paths"),
    [
        (TEXT, OTHER, ("a.py", "b.py")),
        (TEXT, "\n".join(LINES[:9]), ("a.py", "b.py")),
        ("\n".join(LINES[:4]), "\n".join(LINES[:4]), ("a.py", "b.py")),
        (TEXT, TEXT, ("a.py", "b.txt")),
        (TEXT, RENAMED, ("a.txt", "b.txt")),
        (TEXT, TEXT, ("x/package-lock.json", "y/package-lock.json")),
        (TEXT, TEXT, ("x/migrations/1.py", "y/migrations/1.py")),
        (TEXT, TEXT, ("x/uv.lock", "y/uv.lock")),
    ],
)
def test_new_files_that_may_be_alike(first: str, second: str, paths: tuple[str, str]) -> None:
    """Different, small, of different kinds, or written by tools: no finding."""
    assert check(first, second, paths) == []


def test_many_twins_are_one_finding() -> None:
    """Files that are all alike stand in one finding, however each is like the first."""
    texts = {"A": TEXT, "B": TEXT, "C": RENAMED, "D": OTHER}
    found = check_twins([work(name, {f"{name}.py": text}) for name, text in texts.items()])

    assert [one.stories for one in found] == [("A", "B", "C")]
    assert "are nearly the same" in found[0].text


def test_only_new_files_of_two_stories_count() -> None:
    """A file that was there, and two files of one story, are no twins."""
    changed = work("B", {"b.py": TEXT}, {"b.py": OTHER})

    assert check_twins([work("A", {"a.py": TEXT}), changed]) == []
    assert check_twins([work("A", {"a.py": TEXT, "aa.py": TEXT})]) == []
