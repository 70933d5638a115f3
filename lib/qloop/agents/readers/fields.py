"""Reading fields of JSON that somebody else wrote: what is of another type is taken as missing."""

import math
import re
from typing import Any

Json = dict[str, Any]

_STATUS = re.compile(r"(?:\bstatus:? |\berror:? |\"code\": ?|\()(\d{3})\b", re.IGNORECASE)


def at(value: Any, *keys: str) -> Any:
    """What stands below these keys; None where one is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def text_at(value: Any, *keys: str) -> str:
    """A text, in which nothing is that could not be written; empty where there is none."""
    found = at(value, *keys)
    return clean(found) if isinstance(found, str) else ""


def clean(text: str) -> str:
    """A text without halves of characters, which JSON may hold and nothing can write."""
    return text.encode("utf-8", "replace").decode()


def count_at(value: Any, *keys: str) -> int:
    """A count, from 0."""
    found = amount_at(value, *keys)
    return max(0, int(found)) if found is not None else 0


def amount_at(value: Any, *keys: str) -> float | None:
    """A finite number; None where there is none."""
    found = at(value, *keys)
    if not isinstance(found, int | float) or isinstance(found, bool):
        return None
    try:
        number = float(found)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def dict_at(value: Any, *keys: str) -> Json:
    """An object; empty where there is none."""
    found = at(value, *keys)
    return found if isinstance(found, dict) else {}


def dicts_at(value: Any, *keys: str) -> list[Json]:
    """The objects in a list."""
    found = at(value, *keys)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def texts_at(value: Any, *keys: str) -> list[str]:
    """The texts in a list."""
    found = at(value, *keys)
    return [text for item in found if (text := text_at(item))] if isinstance(found, list) else []


def status_at(value: Any, *keys: str) -> int | None:
    """An HTTP status that tells of an error."""
    found = amount_at(value, *keys)
    return int(found) if found is not None and 400 <= found < 600 else None


def status_in(text: str) -> int | None:
    """The HTTP status that an error's text names, where it names one."""
    found = (int(match.group(1)) for match in _STATUS.finditer(text))
    return next((status for status in found if 400 <= status < 600), None)
