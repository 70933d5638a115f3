"""The hook in Claude Code's settings: put beside all that stands there, once.

Errors: ValueError for settings that no hook can be put into.
"""

import json
import re
from typing import Any

from qloop.agents.gate.terms import HOOK_COMMAND

EVENT = "PreToolUse"
TIMEOUT_S = 30
_INDENT = re.compile(r"\{\r?\n([ \t]+)\S")


def merge_hook(data: bytes | None) -> bytes | None:
    """Settings with the hook; None where they have it. Raises ValueError."""
    settings: Any = {} if data is None or not data.strip() else _parse(data)
    hooks = _inner(settings, "the settings are", "hooks", {})
    groups = _inner(hooks, '"hooks" is', EVENT, [])
    if not isinstance(groups, list):
        raise ValueError(f'"{EVENT}" is no list')
    if any(HOOK_COMMAND in json_texts(group) for group in groups):
        return None
    hook = {
        "type": "command",
        "command": HOOK_COMMAND,
        "timeout": TIMEOUT_S,
        "onFailure": "block",
    }
    groups.append({"matcher": "*", "hooks": [hook]})
    return (json.dumps(settings, ensure_ascii=False, indent=_indent(data)) + "\n").encode()


def json_texts(value: Any) -> list[str]:
    """All texts in a JSON value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [text for one in value for text in json_texts(one)]
    return [value] if isinstance(value, str) else []


def _parse(data: bytes) -> Any:
    return json.loads(data.decode("utf-8-sig"), object_pairs_hook=_without_doubles)


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands there twice")
    return found


def _inner(value: Any, what: str, key: str, default: Any) -> Any:
    if not isinstance(value, dict):
        raise ValueError(f"{what} no JSON object")
    return value.setdefault(key, default)


def _indent(data: bytes | None) -> str | int:
    found = _INDENT.search((data or b"").decode("utf-8", "replace"))
    return found.group(1) if found else 2
