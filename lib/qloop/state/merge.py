"""Three-way merge of a person's edit of quantum.json with what was written meanwhile. Pure.

`base` is the generation that the person edited, `theirs` the file they saved, `ours` the last
generation. Fields of driver and coordinators stay as in ours; all others take the person's
change, also where ours changed too: the person's newest word counts. Objects are merged key by
key, stories and tasks by their ids; other lists are one value. The order is that of theirs.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from qloop.plan.model import Json, Status
from qloop.state.changes import (
    MISSING,
    Change,
    Path,
    by_label,
    is_keyed,
    is_same,
    list_changes,
    render_path,
)
from qloop.state.ownership import is_engine_owned
from qloop.state.snapshot import share_stories

_STATUSES_OF_NEW = (None, Status.PENDING, Status.FAILED, Status.BLOCKED, Status.STALE)


@dataclass(frozen=True, slots=True)
class Merged:
    """A merged document, and what became of the person's changes, as paths for people."""

    document: Json
    taken: tuple[str, ...]
    put_back: tuple[str, ...]


def merge_edit(base: Json, theirs: Json, ours: Json) -> Merged:
    """Merge the person's change, base to theirs, into ours; the arguments are not changed.

    All three must have stories that `find_unmergeable` finds nothing wrong with.
    """
    theirs, ours = share_stories(base, theirs), share_stories(base, ours)
    document = _merge((), base, theirs, ours)
    wanted = list_changes(base, theirs)
    put_back = _list_put_back(wanted, list_changes(theirs, document), ours)
    taken = (render_path(change.path) for change in wanted if change.path != ("updatedAt",))
    return Merged(
        document=document,
        taken=tuple(path for path in taken if path not in put_back),
        put_back=put_back,
    )


def find_unmergeable(document: Json) -> str | None:
    """Why a document cannot be merged story by story, or None where it can."""
    stories = document.get("stories")
    if not isinstance(stories, list):
        return "has no list of stories"
    ids = [story.get("id") if isinstance(story, dict) else None for story in stories]
    if not all(isinstance(name, str) for name in ids):
        return "has a story without an id"
    if len(set(ids)) < len(ids):
        return "has two stories of one id"
    return None


def _list_put_back(wanted: list[Change], undone: list[Change], ours: Json) -> tuple[str, ...]:
    """Which of the person's changes are not in the merged document."""
    own = {change.path for change in wanted}
    known = by_label(ours["stories"])
    added = {
        change.path
        for change in wanted
        if change.path[:-1] == ("stories",) and change.path[-1] not in known
    }
    return tuple(
        render_path(change.path)
        for change in undone
        if change.path != ("updatedAt",) and (change.path in own or change.path[:2] in added)
    )


def _merge(path: Path, base: Any, theirs: Any, ours: Any) -> Any:
    if theirs is base or is_engine_owned(path):
        return ours
    if is_keyed(path) and isinstance(theirs, list) and isinstance(ours, list):
        return _merge_keyed(path, base if isinstance(base, list) else [], theirs, ours)
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return _merge_objects(path, base if isinstance(base, dict) else {}, theirs, ours)
    return ours if is_same(theirs, base) else theirs


def _merge_objects(path: Path, base: Json, theirs: Json, ours: Json) -> Json:
    merged = {}
    for key in _in_order(theirs, ours):
        values = (side.get(key, MISSING) for side in (base, theirs, ours))
        value = _merge((*path, key), *values)
        if value is not MISSING:
            merged[key] = value
    return merged


def _merge_keyed(path: Path, base: list[Any], theirs: list[Any], ours: list[Any]) -> list[Any]:
    was, new, now = by_label(base), by_label(theirs), by_label(ours)
    merged = []
    for label in _in_order(new, now):
        values = (side.get(label, MISSING) for side in (was, new, now))
        item = _merge_element((*path, label), *values)
        if item is not MISSING:
            merged.append(item)
    return merged


def _merge_element(path: Path, base: Any, theirs: Any, ours: Any) -> Any:
    """One story or task, or MISSING where it goes."""
    if theirs is not MISSING and ours is not MISSING:
        return _merge(path, base, theirs, ours)
    if theirs is not MISSING:
        removed_before = base is not MISSING and is_same(theirs, base)
        return MISSING if removed_before else _as_new(path, theirs)
    added_meanwhile = base is MISSING
    return ours if added_meanwhile or _is_at_work(path, ours) else MISSING


def _as_new(path: Path, item: Json) -> Json:
    """A story that the person adds has not been worked on; a task comes with its story."""
    if len(path) > 2 or item.get("status") in _STATUSES_OF_NEW:
        return item
    return {**item, "status": str(Status.PENDING)}


def _is_at_work(path: Path, item: Json) -> bool:
    return len(path) == 2 and item.get("status") == Status.IN_PROGRESS


def _in_order(theirs: Iterable[str], ours: Iterable[str]) -> list[str]:
    """The names of theirs in their order, each that only ours has after the one before it there."""
    names = list(theirs)
    known = set(names)
    followers: dict[str | None, list[str]] = {}
    last = None
    for name in ours:
        if name in known:
            last = name
        else:
            followers.setdefault(last, []).append(name)
    order = followers.get(None, [])
    return [*order, *(item for name in names for item in (name, *followers.get(name, ())))]
