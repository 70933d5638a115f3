"""What differs between two documents of quantum.json, as paths that people can read. Pure.

Stories are matched by their ids, and so are a story's tasks that have one, not by position. Other
lists count as one value. A path is a tuple of keys and bracketed labels, such as
`("stories", "[US-1]", "status")`, which reads `stories[US-1].status`.
"""

from collections.abc import Iterator
from enum import Enum
from typing import Any, Final, NamedTuple

from qloop.plan.model import Json

Path = tuple[str, ...]


class Missing(Enum):
    """The type of the value that stands for "there is no such key"."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING


class Change(NamedTuple):
    """One place that differs, with its value before and after (MISSING where there is none)."""

    path: Path
    before: Any
    after: Any


def list_changes(before: Json, after: Json) -> list[Change]:
    """Every place in which two documents differ, the deepest that can be named."""
    return list(_diff((), before, after))


def render_path(path: Path) -> str:
    """`("stories", "[US-1]", "status")` as `stories[US-1].status`."""
    text = ""
    for step in path:
        text += step if not text or step.startswith("[") else f".{step}"
    return text


def is_same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal; unlike `==`, 1, 1.0 and true are three values.

    Identical parts are not looked into, which makes comparing relatives cheap.
    """
    if one is other:
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return len(one) == len(other) and all(
            key in other and is_same(value, other[key]) for key, value in one.items()
        )
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, str) and isinstance(other, str):
        return one == other  # an enum's member is its text
    return type(one) is type(other) and bool(one == other)


def is_keyed(path: Path) -> bool:
    """Whether the list at *path* is one whose elements are known by their ids."""
    return path == ("stories",) or (len(path) == 3 and path[0] == "stories" and path[2] == "tasks")


def by_label(items: list[Any]) -> dict[str, Any]:
    """A list's elements by `[id]`; by `[#position]` what has no id, or one that came before."""
    labelled: dict[str, Any] = {}
    for position, item in enumerate(items):
        name = item.get("id") if isinstance(item, dict) else None
        label = label_of(name) if isinstance(name, str) else ""
        labelled[label if label and label not in labelled else f"[#{position}]"] = item
    return labelled


def label_of(item_id: str) -> str:
    """An id as a step of a path."""
    return f"[{item_id}]"


def _diff(path: Path, before: Any, after: Any) -> Iterator[Change]:
    if is_same(before, after):
        return
    old, new = _as_object(path, before), _as_object(path, after)
    if old is not None and new is not None and (old or new):
        yield from _diff_objects(path, old, new)
    elif is_keyed(path) and isinstance(before, list) and isinstance(after, list):
        yield from _diff_keyed(path, before, after)
    else:
        yield Change(path, before, after)


def _diff_objects(path: Path, old: Json, new: Json) -> Iterator[Change]:
    for key in {**old, **new}:
        yield from _diff((*path, key), old.get(key, MISSING), new.get(key, MISSING))


def _diff_keyed(path: Path, before: list[Any], after: list[Any]) -> Iterator[Change]:
    old, new = by_label(before), by_label(after)
    for label in {**old, **new}:
        yield from _diff((*path, label), old.get(label, MISSING), new.get(label, MISSING))
    common = [label for label in old if label in new], [label for label in new if label in old]
    if common[0] != common[1]:
        yield Change(path, *common)


def _as_object(path: Path, value: Any) -> Json | None:
    """The value as an object; what is null or missing is an empty one.

    A whole story or task is not: one that comes or goes is one change.
    """
    if isinstance(value, dict):
        return value
    return {} if value in (None, MISSING) and not is_keyed(path[:-1]) else None
