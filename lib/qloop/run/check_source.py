"""Source text as the checks see it: which kind of file it is, and what Python defines and uses.

Pure. What does not parse defines nothing, and uses every word that it holds.
"""

import ast
import re
import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Literal

_FAMILIES = {
    "python": ("py", "pyi"),
    "script": ("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"),
    "c": ("c", "h", "cc", "cpp", "cxx", "hh", "hpp", "hxx"),
    "jvm": ("java", "kt", "kts", "scala"),
    "csharp": ("cs",),
    "go": ("go",),
    "php": ("php",),
    "ruby": ("rb",),
    "rust": ("rs",),
}
_FAMILY = {suffix: family for family, suffixes in _FAMILIES.items() for suffix in suffixes}
_TEST_FOLDERS = {"test", "tests", "testing", "__tests__", "spec", "specs", "testdata", "fixtures"}
_TEST_NAME = re.compile(r"^(?:test_.*|.*_test|.*[.]test|.*[.]spec|.*_spec|.*Tests?|conftest)$")
_PROSE = {".md", ".markdown", ".rst", ".txt", ".adoc"}
_WORD = re.compile(r"[^\W\d]\w*")
_HARMLESS = {
    "attrs", "cache", "cached", "contextmanager", "asynccontextmanager", "dataclass", "define",
    "deprecated", "final", "frozen", "lru_cache", "mutable", "overload", "override",
    "runtime_checkable", "total_ordering", "unique", "wraps",
}  # fmt: skip
_PLAIN_BASES = {
    "ABC", "BaseException", "BaseModel", "Enum", "Exception", "Flag", "Generic", "IntEnum",
    "IntFlag", "NamedTuple", "Protocol", "StrEnum", "TypedDict", "dict", "float", "frozenset",
    "int", "list", "object", "set", "str", "tuple",
}  # fmt: skip

Def = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Definition:
    """A type or function that stands by itself in a file, not within another."""

    name: str
    kind: Literal["type", "function"]
    line: int
    hooked: bool = False
    """Something beside its name may bring it to its user: a decorator, a framework's base."""


def family_of(path: str) -> str | None:
    """The languages that share names with this file's; None for what is no known code."""
    return _FAMILY.get(PurePosixPath(path).suffix.lstrip(".").lower())


def is_python(path: str) -> bool:
    """Whether the file is Python source."""
    return family_of(path) == "python"


def is_test(path: str) -> bool:
    """Whether the file belongs to tests, by its folder or name."""
    pure = PurePosixPath(path)
    in_folder = any(part.lower() in _TEST_FOLDERS for part in pure.parts[:-1])
    return in_folder or _TEST_NAME.match(pure.name.rpartition(".")[0]) is not None


def is_prose(path: str) -> bool:
    """Whether the file is for people to read."""
    return PurePosixPath(path).suffix.lower() in _PROSE


def parse_python(text: str) -> ast.Module | None:
    """The syntax tree; None where this Python cannot read it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def python_definitions(text: str) -> tuple[Definition, ...]:
    """The functions and classes of a module, in order."""
    tree = parse_python(text)
    if tree is None:
        return ()
    return tuple(
        Definition(
            node.name,
            "type" if isinstance(node, ast.ClassDef) else "function",
            node.lineno,
            _is_hooked(node),
        )
        for node in module_statements(tree.body)
        if isinstance(node, Def)
    )


def module_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a module's own level, those under `if`, `try` and `with` included."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            for field in ("body", "orelse", "finalbody"):
                yield from module_statements(getattr(node, field, []))
            for handler in getattr(node, "handlers", []):
                yield from module_statements(handler.body)


def uses(path: str, text: str, name: str) -> bool:
    """Whether a file makes use of *name* elsewhere than in its definition and in comments."""
    return any(name in words for owner, words in _used(path, text).items() if owner != name)


@lru_cache(maxsize=1_000)
def _used(path: str, text: str) -> dict[str, set[str]]:
    """The words that code uses, by the definition it stands in; empty for the module's own."""
    tree = parse_python(text) if is_python(path) else None
    if tree is None:
        return {"": set(_WORD.findall(text))}
    owners = {id(one): one.name for one in module_statements(tree.body) if isinstance(one, Def)}
    told = docstrings(tree)
    found: defaultdict[str, set[str]] = defaultdict(set)
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, owner = waiting.pop()
        owner = owners.get(id(node), owner)
        if id(node) not in told:
            found[owner].update(_words(node))
            waiting.extend((child, owner) for child in ast.iter_child_nodes(node))
    return dict(found)


def docstrings(tree: ast.Module) -> set[int]:
    """The identities of all nodes that are documentation: a text by itself, whose value is lost."""
    return {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def last_name(node: ast.expr) -> str:
    """The last part of a dotted name, of what is called or subscripted; empty for other things."""
    if isinstance(node, ast.Call):
        return last_name(node.func)
    if isinstance(node, ast.Subscript):
        return last_name(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _words(node: ast.AST) -> list[str]:
    """The words that one node uses, without its children."""
    match node:
        case ast.Name(id=name, ctx=ast.Load() | ast.Del()) | ast.Attribute(attr=name):
            return [name]
        case ast.alias(name=name):
            return name.split(".")
        case ast.Constant(value=str(text)):
            return _WORD.findall(text)
        case _:
            return []


def _is_hooked(node: Def) -> bool:
    if any(last_name(one) not in _HARMLESS for one in node.decorator_list):
        return True
    if not isinstance(node, ast.ClassDef):
        return False
    bases = [last_name(base) for base in node.bases]
    plain = all(base in _PLAIN_BASES or base.endswith(("Error", "Exception")) for base in bases)
    return not plain or any(word.arg == "metaclass" for word in node.keywords)
