"""Values for people and scripts: snake_case here, camelCase in JSON, like quantum.json."""

from collections.abc import Iterable
from dataclasses import fields
from enum import Enum
from typing import Any


class View:
    """A frozen dataclass that JSON is made from."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """The value as plain JSON values."""
        return _object((field.name for field in fields(self)), self)  # type: ignore[arg-type]


def to_json(value: Any) -> Any:
    """Views, tuples of named values, and what they hold, as plain JSON values."""
    if isinstance(value, View):
        return value.to_json()
    if hasattr(value, "_fields"):
        return _object(value._fields, value)
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    return value.value if isinstance(value, Enum) else value


def _object(names: Iterable[str], holder: Any) -> dict[str, Any]:
    return {_to_camel(name): to_json(getattr(holder, name)) for name in names}


def _to_camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
