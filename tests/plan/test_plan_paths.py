"""File paths of stories: comparing, judging, looking up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plan.plans import overlap, unhurried
from qloop.plan.paths import PathIndex, find_danger, normalise

PATHS = st.lists(st.sampled_from(["a", "b", "ab", ".", "", "A"]), max_size=4).map("/".join)


@pytest.mark.parametrize(
    ("path", "normal"),
    [("a//b/./c", "a/b/c"), ("src/", "src"), ("./x", "x"), (".", ""), ("./", ""), ("A/b", "A/b")],
)
def test_paths_are_normalised(path: str, normal: str) -> None:
    """Doubled slashes, single dots and a final slash do not count; case does."""
    assert normalise(path) == normal


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("a/b.py", "a//b.py", True),
        ("a/", "a/b.py", True),
        ("a", "a/b/c.py", True),
        (".", "x", True),
        ("a", "ab", False),
        ("a/b", "a/c", False),
        ("a.py", "A.py", False),
    ],
)
def test_paths_overlap_by_what_they_cover(one: str, other: str, expected: bool) -> None:
    """A folder covers what is in it, whichever side it stands on."""
    assert PathIndex([one]).overlaps(other) is expected
    assert PathIndex([other]).overlaps(one) is expected


@unhurried
@given(st.lists(PATHS), PATHS)
def test_the_index_agrees_with_comparing_one_by_one(taken: list[str], path: str) -> None:
    """The index finds an overlap where one of its paths has one, and nowhere else."""
    assert PathIndex(taken).overlaps(path) is any(overlap(path, other) for other in taken)


@pytest.mark.parametrize(
    "path",
    ["/etc", "..", "a/../b", "a/..", "..\\b", "\\x", "\\\\srv\\x", "C:\\x", "c:/x", "C:", "", " ",
     "a\0b", "a\ud800"],
)  # fmt: skip
def test_paths_that_leave_the_repository_are_dangerous(path: str) -> None:
    """Absolute paths of any system, `..`, the empty path and NUL are refused."""
    assert find_danger(path) is not None


@pytest.mark.parametrize("path", ["a", "a/b/", "..a", "a..b/c...", ".env", ".", "x:y", "a b", "ü"])
def test_ordinary_paths_are_safe(path: str) -> None:
    """Dots within a name, blanks and letters of any script are no danger."""
    assert find_danger(path) is None
