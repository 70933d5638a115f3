"""The tree that a scout looks at: names of all tracked files, and the texts of some. Pure."""

import ast
import json
import re
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, TypeVar, get_args

from qloop.repo.tracked import TrackedFile
from qloop.state.codebase import (
    Basis,
    Command,
    Convention,
    Dependency,
    EntryPoint,
    Purpose,
    Source,
    Unread,
)

T = TypeVar("T")
Json = dict[str, Any]

_APART_NAMES = (
    "node_modules vendor vendored third_party third-party thirdparty external bower_components "
    "dist site-packages __pycache__ .venv venv Pods .yarn .terraform"
)
_APART = frozenset(_APART_NAMES.split())
_MADE = re.compile(
    r"(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?|"
    r"uv\.lock|poetry\.lock|pdm\.lock|Pipfile\.lock|Cargo\.lock|go\.sum|composer\.lock|"
    r"Gemfile\.lock|mix\.lock|pubspec\.lock|flake\.lock)$|\.min\.(?:js|css)$|\.(?:map|snap|pb\.go)$"
)
_BESIDE_NAMES = (
    "test tests __tests__ spec specs testdata fixtures fixture examples example samples demo demos "
    "docs doc documentation benchmarks bench coverage htmlcov"
)
_BESIDE = frozenset(_BESIDE_NAMES.split())
DEEPEST_MANIFEST = 4
"""Folders above a manifest, at most."""
MOST_MANIFESTS = 60
"""Manifests of one name that are read."""


def is_apart(path: str) -> bool:
    """Whether a file is vendored or generated, by its name."""
    return _MADE.search(path) is not None or not _APART.isdisjoint(path.split("/")[:-1])


def is_beside(path: str) -> bool:
    """Whether a file serves tests, examples or documents, and not the program itself."""
    return not _BESIDE.isdisjoint(part.lower() for part in path.split("/")[:-1])


def folder_of(path: str) -> str:
    """The folder that a file lies in; `.` for the root."""
    return path.rpartition("/")[0] or "."


@dataclass(frozen=True, slots=True)
class Tree:
    """Files that are not vendored or generated, and the texts of those that were read."""

    files: tuple[TrackedFile, ...]
    texts: Mapping[str, str]
    subjects: tuple[str, ...]
    """Of the newest commits, newest first."""
    paths: frozenset[str]
    """Of all tracked files, vendored and generated ones too: lock files are among them."""
    by_name: Mapping[str, tuple[str, ...]]
    """The files that were read, by what stands behind the last slash."""

    def named(self, *names: str) -> list[str]:
        """Files of these names that were read, the outermost first."""
        found = [path for name in names for path in self.by_name.get(name, ())]
        return sorted(found, key=_outermost)

    def like(self, pattern: str) -> list[str]:
        """Files that were read whose whole path is like a pattern, the outermost first."""
        wanted = re.compile(pattern)
        return sorted((path for path in self.texts if wanted.fullmatch(path)), key=_outermost)

    def has(self, folder: str, *names: str) -> str | None:
        """The first of *names* that is tracked in *folder*, as a path."""
        places = (name if folder == "." else f"{folder}/{name}" for name in names)
        return next((place for place in places if place in self.paths), None)

    def nearest(self, folder: str, *names: str) -> str | None:
        """The first of *names* in a folder or in one above it."""
        here = PurePosixPath(folder)
        for place in (here, *here.parents):
            found = self.has(str(place), *names)
            if found is not None:
                return found
        return None


@dataclass(frozen=True, slots=True)
class Found:
    """What one look at a tree tells."""

    entry_points: tuple[EntryPoint, ...] = ()
    commands: tuple[Command, ...] = ()
    conventions: tuple[Convention, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    unread: tuple[Unread, ...] = ()

    def __add__(self, other: "Found") -> "Found":
        return replace(
            self,
            entry_points=self.entry_points + other.entry_points,
            commands=self.commands + other.commands,
            conventions=self.conventions + other.conventions,
            dependencies=self.dependencies + other.dependencies,
            unread=self.unread + other.unread,
        )


def together(parts: Iterator[Found]) -> Found:
    """All that several looks tell."""
    found = Found()
    for part in parts:
        found += part
    return found


def parsed(tree: Tree, path: str, parse: Callable[[str], T]) -> T | Found:
    """A file's value; or what says that it has none."""
    try:
        return parse(tree.texts[path])
    except (ValueError, RecursionError, MemoryError) as exc:
        reason = " ".join(f"{exc}".split())[:200] or type(exc).__name__
        return Found(unread=(Unread(reason=reason, source=Source(path=path)),))


def parse_toml(text: str) -> Json:
    """Raises ValueError."""
    return tomllib.loads(text.removeprefix("\ufeff"))


def parse_json(text: str) -> Json:
    """A JSON object. Raises ValueError."""
    value = json.loads(text.removeprefix("\ufeff"))
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def parse_python(text: str) -> ast.Module:
    """Raises ValueError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about code that is not ours
            return ast.parse(text)
    except SyntaxError as exc:
        raise ValueError(f"{exc.msg}, line {exc.lineno}") from exc


def at(value: object, *keys: str) -> Any:
    """What stands under keys in nested objects; None where something on the way is none."""
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def table(value: object, *keys: str) -> Json:
    """The same, where only an object will do."""
    found = at(value, *keys)
    return found if isinstance(found, dict) else {}


def listed(value: object, *keys: str) -> list[Any]:
    """The same, where only a list will do."""
    found = at(value, *keys)
    return found if isinstance(found, list) else []


def words(value: object, *keys: str) -> dict[str, str]:
    """The texts of an object, by key."""
    return {key: text for key, text in table(value, *keys).items() if isinstance(text, str)}


def line_of(text: str, *needles: str) -> int | None:
    """The line of the last needle, each looked for behind the one before it."""
    place = 0
    for needle in needles:
        place = text.find(needle, place)
        if place < 0:
            return None
    return text.count("\n", 0, place) + 1


def command(
    purpose: Purpose,
    text: str,
    source: Source,
    basis: Basis = "declared",
    folder: str | None = None,
) -> Command:
    """A command of the folder that its source lies in."""
    where = folder_of(source.path) if folder is None else folder
    return Command(purpose=purpose, command=text, folder=where, basis=basis, source=source)


def purpose_of(name: str) -> Purpose:
    """What a script, target or session of such a name is for."""
    parts = re.split(r"[^a-z0-9]+", name.lower())
    for purpose, known in _PURPOSES:
        if not known.isdisjoint(parts):
            return purpose
    return "other"


_NAMES = """
other: watch debug update clean publish deploy release
format: format fmt formatting prettier black fix
lint: lint linter linting eslint ruff flake8 clippy vet style
types: types typecheck typing mypy pyright tsc typescript typechecking
test: test tests testing check unit integration e2e spec specs coverage
build: build compile bundle dist package all
run: run start serve dev server preview up
setup: install setup bootstrap deps init develop
"""
"""Words for each purpose, the first purpose that meets one wins; what is not over by itself, or
is seen outside of the repository, is for none."""
_PURPOSES: tuple[tuple[Purpose, frozenset[str]], ...] = tuple(
    (purpose, frozenset(names.split()))
    for line in _NAMES.strip().splitlines()
    for known, _, names in [line.partition(":")]
    for purpose in get_args(Purpose)
    if purpose == known
)


def _outermost(path: str) -> tuple[int, str]:
    return path.count("/"), path
