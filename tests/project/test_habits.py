"""Habits that hold everywhere: sizes, docstrings, and words that do not belong into the source."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIB = sorted((ROOT / "lib").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))
SCRIPTS = [ROOT / "bin" / "qloop", ROOT / "bin" / "test"]

LONGEST_MODULE = 300
LONGEST_FUNCTION = 40
LONGER_MODULES: frozenset[str] = frozenset()
"""Modules that a reader is better served by in one piece, as paths from the root."""

OUTSIDE = {".git", ".venv", ".hypothesis", "dist", "build"}
PLACES = re.compile(r"/(?:work/(?:main|shared)|tmp/brief|root/)")
LEFT_OVER = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|\(#\d+\)|\b[Ii]ssue #\d+")
DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def label(path: Path) -> str:
    """A file's path within the checkout, as a test's id."""
    return str(path.relative_to(ROOT))


def text_files() -> Iterator[Path]:
    """The checkout's own text files."""
    for top in sorted(ROOT.iterdir()):
        if top.name not in OUTSIDE and not top.name.endswith("_cache"):
            for path in [top, *sorted(top.rglob("*"))]:
                if path.is_file() and path.suffix != ".pyc":
                    yield path


@functools.cache
def tree(path: Path) -> ast.Module:
    """A module's source, parsed."""
    return ast.parse(path.read_text("utf-8"))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """A module's functions and methods."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def public(path: Path) -> Iterator[DEFINITIONS]:
    """What other modules use: classes, functions and methods without an underscore."""
    for node in tree(path).body:
        if isinstance(node, DEFINITIONS) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                methods = (inner for inner in node.body if isinstance(inner, DEFINITIONS))
                yield from (inner for inner in methods if not inner.name.startswith("_"))


def test_no_place_of_a_workshop_is_named() -> None:
    """No file names a folder of the machine that it was written on."""
    named = {
        label(path): found.group()
        for path in text_files()
        if (found := PLACES.search(path.read_text("utf-8", "replace")))
    }

    assert named == {}


def test_modules_are_short_and_finished() -> None:
    """A module fits a reader's patience, says what it is, and leaves nothing for later."""
    texts = {path: path.read_text("utf-8") for path in [*LIB, *SCRIPTS]}
    long = {label(path) for path, text in texts.items() if text.count("\n") > LONGEST_MODULE}

    assert long - LONGER_MODULES == set()
    assert [label(path) for path in texts if not ast.get_docstring(tree(path))] == []
    assert [label(path) for path, text in texts.items() if LEFT_OVER.search(text)] == []


def test_functions_are_short() -> None:
    """A function fits a screen."""
    longer = {
        f"{label(path)}: {node.name}": lines
        for path in [*LIB, *SCRIPTS]
        for node in functions(path)
        if (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > LONGEST_FUNCTION
    }

    assert longer == {}


def test_what_is_public_is_documented() -> None:
    """Each public class and function has a docstring."""
    silent = [
        f"{label(path)}: {node.name}"
        for path in [*LIB, *SCRIPTS]
        for node in public(path)
        if not ast.get_docstring(node)
    ]

    assert silent == []


def test_tests_state_the_behaviour() -> None:
    """Each test has a docstring."""
    silent = [
        f"{label(path)}: {node.name}"
        for path in TESTS
        for node in functions(path)
        if node.name.startswith("test_") and not ast.get_docstring(node)
    ]

    assert silent == []
