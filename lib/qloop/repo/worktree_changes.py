"""Files of the person's main checkout: what git status tells, and which command could do it.

A file that was merely edited bears no mark: whoever did it, it is reported and left. What a git
command of the agent did there quietly (staged, restored, cleaned) is told by the trace.
Source: git-status(1), porcelain version 2.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from qloop.repo.changes import Change, Changes
from qloop.repo.moves import Case
from qloop.repo.person import SYMBOLIC
from qloop.repo.trace import TracedCommand

_CLEAN = ".."
_UNTRACKED = ".?"
_STAGED, _CLEANED, _DIRTIED = "staged", "cleaned", "dirtied"
_BY_REF = frozenset((_STAGED, _CLEANED))
_EVERY = frozenset((_STAGED, _CLEANED, _DIRTIED))
_EFFECTS: Mapping[str, frozenset[str]] = {
    "add": _BY_REF,
    "apply": frozenset((_STAGED, _DIRTIED)),
    "checkout": _BY_REF,
    "checkout-index": frozenset((_CLEANED,)),
    "clean": frozenset((_CLEANED,)),
    "mv": _BY_REF,
    "read-tree": _EVERY,
    "reset": frozenset((_CLEANED, _DIRTIED)),
    "restore": _BY_REF,
    "rm": _EVERY,
    "stage": _BY_REF,
    "stash": _EVERY,
    "update-index": _EVERY,
}
_WHOLE = ("apply", "read-tree", "stash")
_EVERYTHING = (".", ":/", "*")


def worktree_changes(case: Case, marked: tuple[Change, ...]) -> Changes:
    """Paths whose status differs, less what the *marked* moves of HEAD or its branch explain."""
    moved = _moved_head(case, marked)
    mine: list[Change] = []
    others: list[Change] = []
    before, after = case.before.status, case.after.status
    for path in sorted(before.keys() | after.keys()):
        was, now = before.get(path), after.get(path)
        effects = _effects(was, now)
        if was == now or (moved and effects <= _BY_REF):
            continue
        how = case.traced(partial(_writes, root=case.repository.root, path=path, effects=effects))
        change = Change("worktree_files", path, was, now, how or "no trace")
        (mine if how else others).append(change)
    return Changes(tuple(mine), tuple(others))


def _moved_head(case: Case, marked: tuple[Change, ...]) -> bool:
    branch = case.before.heads.get("HEAD", "").removeprefix(SYMBOLIC)
    return any(change.name in ("HEAD", branch) for change in marked)


def _effects(was: str | None, now: str | None) -> frozenset[str]:
    """What happened to a path: its index side was set, a side became clean, or it got dirty."""
    before, after = _sides(was), _sides(now)
    found = set()
    if after[0] != "." and (before[0] != after[0] or before[1] == after[1]):
        found.add(_STAGED)
    if after[1] != "." and before[1] != after[1]:
        found.add(_DIRTIED)
    if any(new == "." != old for old, new in zip(before, after, strict=True)):
        found.add(_CLEANED)
    return frozenset(found)


def _sides(entry: str | None) -> str:
    if entry is None:
        return _CLEAN
    return _UNTRACKED if entry == "?" else entry.split(" ")[1]


def _writes(command: TracedCommand, root: Path, path: str, effects: frozenset[str]) -> bool:
    able = _EFFECTS.get(command.name, frozenset())
    if command.failed or command.worktree is None or not effects <= able or not effects:
        return False
    return Path(command.worktree).resolve() == root and _covers(command, path)


def _covers(command: TracedCommand, path: str) -> bool:
    """Whether a command's words lead to *path*, or to everything."""
    names = [word.rstrip("/") for word in command.args if not word.startswith("-")]
    plain = path.rstrip("/")
    return (
        not names
        or command.name in _WHOLE
        or any(name in _EVERYTHING or _leads_to(name, plain) for name in names)
    )


def _leads_to(name: str, path: str) -> bool:
    """A word may be the path, a folder above it, absolute, or relative to a folder within."""
    return (
        name == path
        or path.startswith(f"{name}/")
        or name.endswith(f"/{path}")
        or path.endswith(f"/{name}")
    )
