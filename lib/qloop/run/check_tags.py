"""Definitions of a file: Python is read here, other languages by Universal Ctags, if it is there.

The texts are written to a scratch folder under names of our own, so that nothing in a path or
in a project's options reaches ctags. Another ctags than the universal one counts as none.
Source: ctags(1), ctags-client-tools(7).
"""

import json
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from qloop.run.check_source import Definition, family_of, is_python, python_definitions
from qloop.system import process

LONGEST_RUN_S = 120.0

_TYPES = {
    "alias", "class", "enum", "interface", "object", "protocol", "record", "struct", "trait",
    "typedef", "union",
}  # fmt: skip
_FUNCTIONS = {"func", "function", "method"}
_OUTER = {"module", "namespace", "package"}
_OF_TESTS = {"test", "tests"}

Definitions = Mapping[tuple[str, str], tuple[Definition, ...]]
"""By path and text, what stands defined there."""


def define(files: Iterable[tuple[str, str]]) -> Definitions:
    """The definitions of each (path, text); none for a language that nothing here can read."""
    known = list(dict.fromkeys(file for file in files if family_of(file[0]) is not None))
    found = {file: python_definitions(file[1]) for file in known if is_python(file[0])}
    others = [file for file in known if file not in found]
    return {**found, **(_tagged(others) if others else {})}


def _tagged(files: list[tuple[str, str]]) -> dict[tuple[str, str], tuple[Definition, ...]]:
    program = shutil.which("ctags")
    if program is None:
        return {}
    with tempfile.TemporaryDirectory(prefix="qloop-tags-") as name:
        names: dict[str, tuple[str, str]] = {}
        for number, (path, text) in enumerate(files):
            own = f"{number}{PurePosixPath(path).suffix}"
            (Path(name) / own).write_text(text, encoding="utf-8", errors="replace")
            names[own] = (path, text)
        done = process.run(
            [program, *_OPTIONS],
            cwd=Path(name),
            stdin="".join(f"{own}\n" for own in names).encode(),
            timeout_s=LONGEST_RUN_S,
        )
    if done.code != 0:
        return {}
    return {names[own]: found for own, found in parse_tags(done.out.decode("utf-8", "replace"))}


_OPTIONS = (
    *("--options=NONE", "--quiet", "--output-format=json", "--fields=+nKszE", "--sort=no"),
    *("-f", "-", "-L", "-"),
)


def parse_tags(output: str) -> list[tuple[str, tuple[Definition, ...]]]:
    """What ctags told as JSON lines: for each file the definitions that stand by themselves."""
    found: defaultdict[str, list[Definition]] = defaultdict(list)
    for line in output.splitlines():
        try:
            tag = json.loads(line)
        except ValueError:
            continue
        if isinstance(tag, dict) and tag.get("_type") == "tag" and _stands_alone(tag):
            kind = tag.get("kind")
            if kind in _TYPES:
                found[tag["path"]].append(Definition(tag["name"], "type", tag["line"]))
            elif kind in _FUNCTIONS:
                found[tag["path"]].append(Definition(tag["name"], "function", tag["line"]))
    return [(path, tuple(definitions)) for path, definitions in found.items()]


def _stands_alone(tag: dict[str, object]) -> bool:
    """Whether other files see it, and it is no part of a type or of a module of tests."""
    if tag.get("file") or str(tag.get("name", "")).startswith(("__anon", "operator")):
        return False
    scope = str(tag.get("scope", "")).lower()
    if scope and tag.get("scopeKind") not in _OUTER:
        return False
    return _OF_TESTS.isdisjoint(scope.replace("::", ".").replace("\\", ".").split("."))
