"""A new public name that nothing uses."""

from collections.abc import Mapping

import pytest

from qloop.run.check_tags import define
from qloop.run.check_unused import MOST_NAMES, SURELY_USED, candidates, check_unused, worth_reading
from qloop.run.check_values import Finding
from works import work

TOTAL = "def total(prices):\n    return sum(prices)\n"


def check(text: str, others: Mapping[str, str] = {}, path: str = "shop/a.py") -> list[Finding]:
    """The findings about a story's one new file in a tree with *others*."""
    brought = work("A", {path: text})
    news = candidates([brought], define([(path, text)]))
    tree = {**others, path: text}
    names = {one.definition.name for one in news}
    holders = {name: {one for one, content in tree.items() if name in content} for name in names}
    return check_unused(news, holders, {one: tree[one] for one in worth_reading(holders)})


@pytest.mark.parametrize(
    "others",
    [
        {},
        {"README.md": "Call `total` for the sum."},
        {"b.py": "# total is not used here\n"},
        {"b.py": '"""Beside total."""\n'},
        {"b.py": "def total():\n    return total()\n"},
        {"b.py": "total = 1\n"},
        {"b.py": "totals()\n"},
    ],
)
def test_a_name_that_nothing_uses(others: dict[str, str]) -> None:
    """Documentation, comments, other definitions and itself are no users."""
    (found,) = check(f'"""A module with total."""\n\n\n{TOTAL}    total([])\n', others)

    assert (found.check, found.stories, found.places[0].label) == ("unused", ("A",), "shop/a.py:4")
    assert "total by A (shop/a.py:4) is new and public, but nothing uses it" in found.text


@pytest.mark.parametrize(
    "others",
    [
        {"b.py": "from shop.a import total\n"},
        {"b.py": "import shop.a\nprint(shop.a.total([]))\n"},
        {"b.py": "x = getattr(a, 'total')\n"},
        {"b.py": "HOOK = 'shop.a:total'\n"},
        {"tests/test_a.py": "from shop.a import total\n"},
        {"pyproject.toml": '[project.scripts]\ntotal = "shop.a:total"\n'},
        {"b.py": "not Python ( total\n"},
        {f"{n}.py": "total\n" for n in range(SURELY_USED + 1)},
    ],
)
def test_a_name_that_something_uses(others: dict[str, str]) -> None:
    """Imports, calls, text values, tests and files of other kinds use a name."""
    assert check(TOTAL, others) == []


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (f"{TOTAL}\n\nprint(total([]))\n", "a.py"),
        (f'__all__ = ["total"]\n\n\n{TOTAL}', "a.py"),
        (f"@app.get\n{TOTAL}", "a.py"),
        (f"def _{TOTAL[4:]}", "a.py"),
        ("def main(): ...\n", "a.py"),
        ("def pytest_configure(): ...\n", "a.py"),
        ("class Total(AppConfig): ...\n", "a.py"),
        ("class Total(metaclass=Registry): ...\n", "a.py"),
        (TOTAL, "shop/__init__.py"),
        (TOTAL, "tests/helpers.py"),
        (TOTAL, "noxfile.py"),
        (TOTAL, "shop/migrations/one.py"),
        ("class Shop:\n    def total(self): ...\nShop()\n", "a.py"),
        ("function total() {}\n", "a.js"),
    ],
)
def test_names_that_are_reached_in_other_ways(text: str, path: str) -> None:
    """Used at home, exported, registered, hooks, a package's top, tests, what tools load."""
    assert check(text, path=path) == []


@pytest.mark.parametrize(
    "text",
    [
        "@dataclass(frozen=True)\nclass Total: ...\n",
        "class Total(Protocol): ...\n",
        "class Total(Generic[T], ValueError): ...\n",
        "@functools.cache\ndef total(): ...\n",
    ],
)
def test_decorators_and_bases_that_change_nothing(text: str) -> None:
    """A data class, an exception, a cached function still need a user."""
    assert len(check(text)) == 1


def test_a_name_that_is_defined_twice_is_told_once() -> None:
    """Two ways to define one name, for two systems, are one finding."""
    assert len(check("if x:\n    def total(): ...\nelse:\n    def total(): ...\n")) == 1


def test_a_library_that_was_taken_in_is_not_judged_name_by_name() -> None:
    """Of very many new names only the first are looked up."""
    text = "".join(f"def part_{n}(): ...\n" for n in range(MOST_NAMES + 1))

    assert len(check(text)) == MOST_NAMES


def test_what_cannot_be_read_counts_as_a_user() -> None:
    """A name in a file that is too large to be read may be used there."""
    news = candidates([work("A", {"a.py": TOTAL})], define([("a.py", TOTAL)]))
    holders = {"total": {"a.py", "huge.py"}}

    assert check_unused(news, holders, {"a.py": TOTAL}) == []
    assert check_unused(news, {"total": set()}, {}) == []
