"""A runner's table as TOML, as it could stand in qloop.toml."""

import json
import re
from typing import Any

from qloop.agents.manifest import Manifest

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_OWN = {"name", "permissions", "reads_only", "notes"}


def render_table(manifest: Manifest) -> str:
    """The lines of `[runners.NAME]`: what differs from the defaults, its notes as a comment."""
    notes = [f"# {line}" for line in manifest.notes.strip().splitlines()]
    table = manifest.model_dump(exclude_defaults=True, exclude=_OWN)
    lines = [f"{_key(key)} = {render_value(value)}" for key, value in table.items()]
    return "\n".join([*notes, f"[runners.{_key(manifest.name)}]", *lines]) + "\n"


def render_value(value: Any) -> str:
    """A value in one line: strings, numbers, lists, and tables of these."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, dict):
        pairs = (f"{_key(key)} = {render_value(item)}" for key, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(render_value(item) for item in value)}]"
    return json.dumps(value)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else render_value(name)
