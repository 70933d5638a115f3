"""Who may write which field of quantum.json. Pure.

Source: contract, Who owns which field. Errors: NotOwner.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from qloop.plan.model import Json
from qloop.state.changes import (
    MISSING,
    Change,
    Path,
    is_same,
    label_of,
    list_changes,
    render_path,
)
from qloop.system.errors import InternalFailure

_ANY = "[*]"
_WAVES: Path = ("execution", "completedWaves")
_DRIVER: tuple[Path, ...] = (
    ("stories", _ANY, "status"),
    ("stories", _ANY, "startedAt"),
    ("stories", _ANY, "retries"),
    ("updatedAt",),
    ("execution",),
)
_COORDINATOR: tuple[Path, ...] = (
    ("stories", _ANY, "review"),
    ("stories", _ANY, "tasks", _ANY, "status"),
)
_APPENDED: tuple[Path, ...] = (("progress",), ("codebasePatterns",), _WAVES)


class WriterKind(StrEnum):
    """In whose name something is written."""

    DRIVER = "driver"
    COORDINATOR = "coordinator"
    PLAN = "plan"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class Writer:
    """In whose name a transaction writes; a coordinator with the stories of its wave."""

    kind: WriterKind
    stories: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The writer for people."""
        if self.kind is WriterKind.COORDINATOR:
            return f"the coordinator of {', '.join(sorted(self.stories)) or 'no story'}"
        return {
            WriterKind.DRIVER: "the driver",
            WriterKind.PLAN: "qloop plan",
            WriterKind.PERSON: "a person",
        }[self.kind]


DRIVER = Writer(WriterKind.DRIVER)
PLAN = Writer(WriterKind.PLAN)
PERSON = Writer(WriterKind.PERSON)


def coordinator_of(stories: Iterable[str]) -> Writer:
    """The coordinator whose wave has these stories."""
    return Writer(WriterKind.COORDINATOR, frozenset(stories))


class NotOwner(InternalFailure):
    """A writer changed a field that is not its own; nothing was written."""

    def __init__(self, writer: Writer, fields: tuple[str, ...]) -> None:
        super().__init__(
            f"{writer.name} may not write {', '.join(fields)}",
            where="quantum.json",
            fix="nothing was written; this is a bug of qloop",
        )
        self.writer = writer
        self.fields = fields


def check_ownership(before: Json, after: Json, writer: Writer) -> list[Change]:
    """What changed; raises NotOwner, every field named, where that is not the writer's to write."""
    changes = list_changes(before, after)
    foreign = [render_path(one.path) for one in changes if not may_write(writer, one)]
    if foreign:
        raise NotOwner(writer, tuple(foreign))
    return changes


def may_write(writer: Writer, change: Change) -> bool:
    """Whether *change* is within the writer's fields."""
    match writer.kind:
        case WriterKind.PLAN:
            return True
        case WriterKind.PERSON:
            return not is_engine_owned(change.path)
        case WriterKind.DRIVER:
            return _is_drivers(change)
        case WriterKind.COORDINATOR:
            return _is_coordinators(change, writer.stories)


def is_engine_owned(path: Path) -> bool:
    """Whether the driver or a coordinator owns the field at *path*, or what it lies in."""
    return any(_covers(pattern, path) for pattern in (*_DRIVER, *_COORDINATOR, *_APPENDED))


def _is_drivers(change: Change) -> bool:
    if change.path == _WAVES[:1]:
        return _is_empty_holder(change)
    if _covers(_WAVES, change.path):
        return False
    return any(_covers(pattern, change.path) for pattern in _DRIVER)


def _is_coordinators(change: Change, stories: frozenset[str]) -> bool:
    if change.path in _APPENDED:
        return _is_append(change) or (change.path == _WAVES and _is_found(change, stories))
    if change.path[0] == "stories" and not _is_within(change.path, stories):
        return False
    if any(_covers(pattern, change.path) for pattern in _COORDINATOR):
        return True
    return _is_empty_holder(change)


def _is_within(path: Path, stories: frozenset[str]) -> bool:
    return len(path) > 1 and path[1] in {label_of(story) for story in stories}


def _is_append(change: Change) -> bool:
    """Whether the list only grew at its end."""
    before = [] if change.before in (None, MISSING) else change.before
    after = change.after
    return (
        isinstance(before, list)
        and isinstance(after, list)
        and is_same(before, after[: len(before)])
    )


def _is_found(change: Change, stories: frozenset[str]) -> bool:
    """Whether findings alone were added, to entries of waves of these stories."""
    before, after = change.before, change.after
    if not (isinstance(before, list) and isinstance(after, list) and len(before) == len(after)):
        return False
    return all(
        is_same(old, new) or _has_more_findings(old, new, stories)
        for old, new in zip(before, after, strict=True)
    )


def _has_more_findings(old: Any, new: Any, stories: frozenset[str]) -> bool:
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return False
    found = Change(_WAVES, old.get("findings"), new.get("findings"))
    rest = ({**one, "findings": None} for one in (old, new))
    own = set(old.get("stories") or ())
    return bool(own) and own <= stories and is_same(*rest) and _is_append(found)


def _is_empty_holder(change: Change) -> bool:
    """Whether an `execution` that holds nothing comes or goes."""
    empty: tuple[Any, ...] = (None, MISSING, {})
    return change.path == _WAVES[:1] and change.before in empty and change.after in empty


def _covers(pattern: Path, path: Path) -> bool:
    """Whether *path* is the pattern's field, or lies in it."""
    return len(path) >= len(pattern) and all(
        step.startswith("[") if wanted == _ANY else step == wanted
        for wanted, step in zip(pattern, path, strict=False)
    )
