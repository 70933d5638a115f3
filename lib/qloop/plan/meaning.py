"""What the schema cannot say of a plan: names that must be unique, known, safe, and in no circle.

Pure, and lenient: each check looks at what is well formed and leaves the rest to the schema, so
that all faults of a document can be told at once.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from qloop.plan.cycles import find_knots, shortest_circle
from qloop.plan.faults import Fault, show
from qloop.plan.names import find_branch_danger, is_story_id
from qloop.plan.paths import find_danger
from qloop.plan.values import Json
from qloop.system.clock import parse_duration_s
from qloop.system.errors import BadInput

_MOST_NAMED = 5


class _Place(NamedTuple):
    """A story as it stands in the file: where, under which id, depending on what."""

    path: str
    id: str | None
    depends_on: list[tuple[str, str]]
    """Paths and ids, those that are well formed."""
    fields: Json


def find_meaning_faults(document: Json) -> list[Fault]:
    """Every fault of meaning in a document without nulls."""
    places = [_place(path, story) for path, story in _objects(document, "stories")]
    return [
        *_branch_faults(document),
        *_file_faults(document, places),
        *_id_faults(places),
        *_task_faults(places),
        *_dependency_faults(places),
        *_circle_faults(places),
        *_timeout_faults(places),
    ]


def _branch_faults(document: Json) -> Iterator[Fault]:
    name = document.get("branchName")
    danger = find_branch_danger(name) if isinstance(name, str) else None
    if danger is not None:
        yield Fault("branchName", f"unsafe branch name {show(name)}: it {danger}", name)


def _file_faults(document: Json, places: list[_Place]) -> Iterator[Fault]:
    named = _strings(document, "copyFiles")
    for path, conflict in _objects(document, "fileConflicts"):
        if isinstance(conflict.get("file"), str):
            named.append((f"{path}.file", conflict["file"]))
    for place in places:
        for path, task in _objects(place.fields, "tasks", place.path):
            named += _strings(task, "filePaths", path)
    for path, file in named:
        danger = find_danger(file)
        if danger is not None:
            yield Fault(path, f"unsafe file path {show(file)}: it {danger}", file)


def _id_faults(places: list[_Place]) -> Iterator[Fault]:
    return _repeated("story id", [(place.path, place.id) for place in places])


def _task_faults(places: list[_Place]) -> Iterator[Fault]:
    for place in places:
        tasks = _objects(place.fields, "tasks", place.path)
        yield from _repeated("task id", [(path, task.get("id")) for path, task in tasks])


def _repeated(what: str, ids: list[tuple[str, Any]]) -> Iterator[Fault]:
    first: dict[str, str] = {}
    for path, name in ids:
        if not isinstance(name, str):
            continue
        if name in first:
            message = f"duplicate {what} {show(name)}, first at {first[name]}"
            yield Fault(f"{path}.id", message, name)
        else:
            first[name] = path


def _dependency_faults(places: list[_Place]) -> Iterator[Fault]:
    known = {place.id for place in places}
    for place in places:
        for path, wanted in place.depends_on:
            if wanted == place.id:
                yield Fault(path, f"story {show(wanted)} depends on itself", wanted)
            elif wanted not in known and is_story_id(wanted):
                yield Fault(path, f"unknown story {show(wanted)}", wanted)


def _circle_faults(places: list[_Place]) -> Iterator[Fault]:
    at = {place.id: place.path for place in reversed(places) if place.id is not None}
    graph: dict[str, list[str]] = {place.id: [] for place in places if place.id is not None}
    for place in places:
        if place.id is not None:
            graph[place.id] += [
                name for _, name in place.depends_on if name in graph and name != place.id
            ]
    for knot in find_knots(graph):
        circle = shortest_circle(graph, knot)
        yield Fault(
            f"{at[circle[0]]}.dependsOn",
            f"dependency cycle {' → '.join(circle)}{_others(knot, circle)}",
            circle,
        )


def _others(knot: list[str], circle: list[str]) -> str:
    """The stories that are caught in the same knot of cycles but not in the one shown."""
    shown = set(circle)
    names = [name for name in knot if name not in shown]
    if not names:
        return ""
    more = ["…"] if len(names) > _MOST_NAMED else []
    return f" (further cycles lead through {', '.join(names[:_MOST_NAMED] + more)})"


def _timeout_faults(places: list[_Place]) -> Iterator[Fault]:
    for place in places:
        value = place.fields.get("timeout")
        if isinstance(value, str | int | float):
            complaint = _find_complaint(value)
            if complaint is not None:
                yield Fault(f"{place.path}.timeout", complaint, value)


def _find_complaint(duration: str | float) -> str | None:
    try:
        seconds = parse_duration_s(duration) if isinstance(duration, str) else float(duration)
    except BadInput as exc:
        return f"{show(duration)} is no duration; {exc.fix}"
    except (OverflowError, ValueError):
        seconds = math.inf
    return f"no end is in sight: {show(duration)}" if math.isinf(seconds) else None


def _place(path: str, story: Json) -> _Place:
    name = story.get("id")
    own = name if isinstance(name, str) else None
    return _Place(path, own, _strings(story, "dependsOn", path), story)


def _objects(parent: Json, key: str, path: str = "") -> list[tuple[str, Json]]:
    return [(at, item) for at, item in _items(parent, key, path) if isinstance(item, dict)]


def _strings(parent: Json, key: str, path: str = "") -> list[tuple[str, str]]:
    return [(at, item) for at, item in _items(parent, key, path) if isinstance(item, str)]


def _items(parent: Json, key: str, path: str) -> list[tuple[str, Any]]:
    """The items of an array with their paths; nothing where there is no array."""
    value = parent.get(key)
    prefix = f"{path}.{key}" if path else key
    if not isinstance(value, list):
        return []
    return [(f"{prefix}[{index}]", item) for index, item in enumerate(value)]
