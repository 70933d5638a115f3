"""What recipes and scripts tell: Makefile, justfile, Taskfile, executables in bin. Pure.

Source: the manuals of GNU make, just and Task.
"""

import re
from collections.abc import Iterator

from qloop.mission.scout_tree import Found, Tree, command, is_beside, purpose_of
from qloop.state.codebase import Command, EntryPoint, Source

_MAKE_TARGET = re.compile(r"^([A-Za-z][\w.-]*)(?:[ \t]+[\w.-]+)*[ \t]*::?(?![=:])", re.MULTILINE)
_JUST_RECIPE = re.compile(r"^@?([a-zA-Z][\w-]*)(?:[ \t]+[^:=\n]*)?:(?!=)", re.MULTILINE)
_TASK_NAME = re.compile(r"^  ([a-zA-Z][\w:-]*):", re.MULTILINE)
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_RECIPES = {
    **dict.fromkeys(_MAKEFILES, ("make", _MAKE_TARGET)),
    **dict.fromkeys(("justfile", "Justfile", ".justfile"), ("just", _JUST_RECIPE)),
    **dict.fromkeys(("Taskfile.yml", "Taskfile.yaml"), ("task", _TASK_NAME)),
}
_SCRIPT = re.compile(
    r"(?:(?:bin|scripts?|tools?|\.?ci|build)/)?"
    r"(?:run[-_]?)?(tests?|check|lint|format|fmt|build|setup|bootstrap|install|typecheck|ci|run)"
    r"(?:\.(?:sh|bash|py))?"
)
_PROGRAM_FOLDERS = frozenset(("bin", "exe", "sbin"))
_SYSTEM = frozenset(("install", "uninstall", "init"))
"""Targets that change what is outside of the repository, by custom."""


def look_at_recipes(tree: Tree) -> Found:
    """Targets of recipe files, scripts that name their purpose, and programs in bin folders."""
    commands = [
        one for path in tree.named(*_RECIPES) if not is_beside(path) for one in _targets(tree, path)
    ]
    return Found(tuple(_programs(tree)), (*commands, *_scripts(tree)))


def _targets(tree: Tree, path: str) -> Iterator[Command]:
    start, pattern = _RECIPES[path.rpartition("/")[2]]
    text, seen = tree.texts[path], set()
    for match in pattern.finditer(text):
        name = match.group(1)
        purpose = purpose_of(name)
        if name in seen or name in _SYSTEM or "." in name or purpose == "other":
            continue
        seen.add(name)
        line = text.count("\n", 0, match.start()) + 1
        yield command(purpose, f"{start} {name}", Source(path=path, line=line, key=name))


def _scripts(tree: Tree) -> Iterator[Command]:
    for file in tree.files:
        found = _SCRIPT.fullmatch(file.path) if file.is_executable else None
        if found is not None:
            name = found.group(1)
            is_gate = name == "ci" or file.path.startswith(("ci/", ".ci/"))
            purpose = "test" if is_gate else purpose_of(name)
            text = file.path if "/" in file.path else f"./{file.path}"
            yield command(purpose, text, Source(path=file.path), "declared", ".")


def _programs(tree: Tree) -> Iterator[EntryPoint]:
    for file in tree.files:
        parts = file.path.split("/")
        is_program = file.is_executable and len(parts) > 1 and parts[-2] in _PROGRAM_FOLDERS
        if is_program and not is_beside(file.path) and _SCRIPT.fullmatch(file.path) is None:
            source = Source(path=file.path)
            yield EntryPoint(kind="command", name=parts[-1], target=file.path, source=source)
