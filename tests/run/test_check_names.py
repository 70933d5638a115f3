"""One name, defined by two stories: what counts, and what is custom."""

import pytest

from qloop.run.check_names import check_names, is_convention
from qloop.run.check_tags import define
from qloop.run.check_values import Finding, Work
from works import work

PRICE = "class Price:\n    pass\n"


def check(*works: Work) -> list[Finding]:
    """The findings between some stories."""
    files = [file for one in works for file in one.files]
    texts = [(file.path, file.text) for file in files]
    texts += [(file.path, file.before) for file in files if file.before is not None]
    return check_names(works, define(texts))


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        (PRICE, PRICE, "Price"),
        ("def total():\n    pass\n", "def total(items):\n    return 1\n", "total"),
        ("async def fetch():\n    pass\n", "def fetch():\n    pass\n", "fetch"),
        ("import x\n@x.dataclass\nclass Price:\n    pass\n", PRICE, "Price"),
        ("class Price(Model):\n    pass\n", PRICE, "Price"),
        ("if True:\n    class Price:\n        pass\n", PRICE, "Price"),
        ("try:\n    x\nexcept E:\n    def total(): ...\n", "def total(): ...\n", "total"),
        ("import functools\n@functools.cache\ndef total(): ...\n", "def total(): ...\n", "total"),
    ],
)  # fmt: skip
def test_a_name_of_two_stories(first: str, second: str, name: str) -> None:
    """Types and functions of a module's own level are found, whatever stands around them."""
    found = check(work("A", {"a.py": first}), work("B", {"b.py": second}))

    assert [(one.check, one.subject, one.stories) for one in found] == [("names", name, ("A", "B"))]
    assert [place.path for place in found[0].places] == ["a.py", "b.py"]
    assert all(name in found[0].text for name in ("A (a.py:", "B (b.py:"))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("def _total(): ...\n", "def _total(): ...\n"),
        ("def main(): ...\n", "def main(): ...\n"),
        ("class Migration(Base): ...\n", "class Migration(Base): ...\n"),
        ("@app.get('/')\ndef index(): ...\n", "@app.get('/x')\ndef index(): ...\n"),
        ("class A:\n    def total(self): ...\n", "class B:\n    def total(self): ...\n"),
        ("def a():\n    def total(): ...\n", "def b():\n    def total(): ...\n"),
        ("total = 1\n", "total = 2\n"),
        ("def total(: ...\n", "def total(): ...\n"),
        ("def total(): ...\n", "def sum_up(): ...\n"),
    ],
)
def test_names_that_may_be_equal(first: str, second: str) -> None:
    """Private, nested, registered and customary names, and what does not parse, are left alone."""
    assert check(work("A", {"a.py": first}), work("B", {"b.py": second})) == []


@pytest.mark.parametrize("path", ["tests/b.py", "test_b.py", "b_test.py", "pkg/conftest.py"])
def test_tests_may_repeat_names(path: str) -> None:
    """A test's stand-in may bear the name of the real thing."""
    assert check(work("A", {"a.py": PRICE}), work("B", {path: PRICE})) == []


def test_one_story_may_define_a_name_twice() -> None:
    """A story knows its own names: alone, or in several files of its own, it means them."""
    two_files = {"a.py": PRICE, "aa.py": PRICE}

    assert check(work("A", two_files)) == []
    assert check(work("A", two_files), work("B", {"b.py": PRICE})) == []


def test_only_what_a_story_added_counts() -> None:
    """A changed signature, a changed body, a move to another file define nothing new."""
    other = work("B", {"b.py": PRICE})
    changed = work("A", {"a.py": "class Price(Base):\n    x = 1\n"}, {"a.py": PRICE})
    moved = work("A", {"a.py": "", "aa.py": PRICE}, {"a.py": PRICE})

    assert check(changed, other) == []
    assert check(moved, other) == []


def test_a_second_definition_in_the_same_file_counts() -> None:
    """Of two definitions in one file the second one hides the first."""
    found = check(
        work("A", {"a.py": PRICE}),
        work("B", {"a.py": f"{PRICE}\n\n{PRICE}"}, {"a.py": PRICE}),
    )

    assert [place.label for place in found[0].places] == ["a.py:1", "a.py:5"]


def test_three_stories_are_one_finding() -> None:
    """All who define a name stand in one finding, in the order in which they landed."""
    found = check(*(work(name, {f"{name}.py": PRICE}) for name in ("C", "A", "B")))

    assert [one.stories for one in found] == [("C", "A", "B")]


def test_a_name_that_further_files_define_is_custom() -> None:
    """Where two other files of the same language have it already, it is meant to be many."""
    (found,) = check(work("A", {"a.py": PRICE}), work("B", {"b.py": PRICE}))
    own = {"a.py": PRICE, "b.py": PRICE}

    assert not is_convention(found, {**own, "c.py": PRICE})
    assert not is_convention(found, {**own, "c.py": PRICE, "d.py": "x = Price()\n"})
    assert not is_convention(found, {**own, "c.py": PRICE, "d.ts": "class Price {}"})
    assert is_convention(found, {**own, "c.py": PRICE, "d.py": PRICE})
