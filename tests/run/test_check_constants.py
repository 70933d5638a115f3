"""One constant, written two ways: what counts, and what is meant."""

from collections.abc import Iterator

import pytest

from qloop.run.check_constants import check_constants, is_convention
from qloop.run.check_values import Finding
from works import work


def check(first: str, second: str, paths: tuple[str, str] = ("a.py", "b.py")) -> list[Finding]:
    """The findings between two stories, one file each."""
    return check_constants([work("A", {paths[0]: first}), work("B", {paths[1]: second})])


def cases() -> Iterator[tuple[str, str, tuple[str, str]]]:
    """Two texts that write one constant two ways, and their paths."""
    python, script = ("a.py", "b.py"), ("a.ts", "b.ts")
    yield "MAX_TRIES = 3\n", "MAX_TRIES = 5\n", python
    yield "TIMEOUT: float = 1.5\n", "TIMEOUT = 1\n", python
    yield 'API_ROOT = "/v1"\n', 'API_ROOT = "/v2"\n', python
    yield "if True:\n    MAX_TRIES = 3\n", "MAX_TRIES = 5\n", python
    yield "export const MAX_TRIES = 3;\n", "const MAX_TRIES: number = 5 // five\n", script
    yield "MAX_TRIES = 3\n", "const MAX_TRIES = 5;\n", ("a.py", "b.ts")
    yield "#define MAX_TRIES 3\n", "#define MAX_TRIES 5\n", ("a.h", "b.h")
    yield "pub const MAX_TRIES: u32 = 3;\n", "pub const MAX_TRIES: u32 = 5;\n", ("a.rs", "b.rs")
    yield 'send("order_paid")\n', 'if kind == "order-paid":\n    pass\n', python
    yield 'send("order_paid")\n', 'on("orderPaid")\n', python
    yield 'STATE = {"in_progress": 1}\n', 'x = ["IN_PROGRESS"]\n', python
    yield 'emit("order_paid")\n', "on('orderPaid', f)\n", ("a.py", "b.ts")


@pytest.mark.parametrize(("first", "second", "paths"), list(cases()))
def test_a_constant_written_two_ways(first: str, second: str, paths: tuple[str, str]) -> None:
    """Two values of a name, or two spellings of a word, by two stories in two files."""
    found = check(first, second, paths)

    assert [(one.check, one.stories) for one in found] == [("constants", ("A", "B"))]
    assert [place.path for place in found[0].places] == list(paths)
    assert f"A ({paths[0]}:" in found[0].text


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("MAX_TRIES = 3\n", "MAX_TRIES = 3\n"),
        ("MAX_TRIES = 1_000\n", "MAX_TRIES = 1000\n"),
        ("_MAX_TRIES = 3\n", "_MAX_TRIES = 5\n"),
        ('NAME = "go"\n', 'NAME = "rust"\n'),
        ("COLUMN_NAMES = ('a',)\n", "COLUMN_NAMES = ('b',)\n"),
        ("DEBUG_ALL = True\n", "DEBUG_ALL = False\n"),
        ("max_tries = 3\n", "max_tries = 5\n"),
        ("def f():\n    MAX_TRIES = 3\n", "MAX_TRIES = 5\n"),
        ('f("save")\n', 'f("Save")\n'),
        ('f("order_paid")\n', 'f("order_paid")\n'),
        ('f("order paid")\n', 'f("order_paid")\n'),
        ('f("OrderPaid")\n', 'f("order_paid")\n'),
        ('f("Content-Type")\n', 'f("content-type")\n'),
        ('os.environ["API_KEY"]\n', 'f(config["api_key"])\n'),
        ('os.environ.get("API_KEY")\n', 'f(config["api_key"])\n'),
        ('option(envvar="API_KEY")\n', 'f(config["api_key"])\n'),
        ('"""order_paid"""\n', 'f("order-paid")\n'),
        ('__all__ = ["order_paid"]\n', 'f("order-paid")\n'),
        ('def f(x: "order_paid") -> "order_paid": ...\n', 'f("order-paid")\n'),
        ('f(f"order_paid{x}")\n', 'f("order-paid")\n'),
        ('f("order_paid", "orderPaid")\n', 'f("order-paid")\n'),
        ("no Python (\n", 'f("order-paid")\n'),
    ],
)
def test_constants_that_are_meant(first: str, second: str) -> None:
    """Equal values, private and everyday names, and words that are no program's own are let be."""
    assert check(first, second) == []


@pytest.mark.parametrize(
    ("first", "paths"),
    [
        ("import x from 'order_paid';\n", ("a.ts", "b.py")),
        ("// 'order_paid'\n", ("a.ts", "b.py")),
        ('f("order_paid")\n', ("tests/a.py", "b.py")),
        ('{"order_paid": 1}\n', ("a.json", "b.py")),
    ],
)
def test_places_that_do_not_count(first: str, paths: tuple[str, str]) -> None:
    """Modules' names, comments, tests and data write words for reasons of their own."""
    assert check(first, 'f("order-paid")\n', paths) == []


def test_only_new_lines_count() -> None:
    """What stood there before is not this wave's doing."""
    old = {"a.py": "MAX_TRIES = 3\n"}
    touched = work("A", {"a.py": "MAX_TRIES = 3\nx = 1\n"}, old)

    assert check_constants([touched, work("B", {"b.py": "MAX_TRIES = 5\n"})]) == []


def test_one_story_may_write_both_ways() -> None:
    """A story that maps one spelling to the other knows both."""
    assert check_constants([work("A", {"a.py": 'f("a_b_c")\n', "b.py": 'f("aBC")\n'})]) == []


def test_ways_that_the_tree_has_already_are_custom() -> None:
    """Values of many files' own, and two spellings that were there before, are meant."""
    (value,) = check("MAX_TRIES = 3\n", "MAX_TRIES = 5\n")
    (spelling,) = check('f("order_paid")\n', 'f("order-paid")\n')
    one, other = {"c.py": "MAX_TRIES = 7\n"}, {"d.py": "MAX_TRIES = 8\n"}

    assert not is_convention(value, {**one, "d.py": "if MAX_TRIES == 3: ...\n"})
    assert is_convention(value, {**one, **other})
    assert not is_convention(spelling, {"c.py": 'f("order_paid")\n'})
    assert is_convention(spelling, {"c.py": 'f("order_paid")\n', "d.py": "f('order-paid')\n"})
