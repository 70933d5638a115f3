"""The agent command lines that qloop knows by itself: one file for each in `runners/`.

Errors: InternalFailure for a file that is missing.
"""

import tomllib
from functools import cache

from qloop.agents.manifest import Manifest
from qloop.system.assets import read_asset

SHIPPED = (
    "claude",
    "codex",
    "gemini",
    "opencode",
    "qwen",
    "copilot",
    "cursor",
    "amp",
    "aider",
    "mini",
)
"""Their names; of those that are installed, `auto` takes the first."""


@cache
def load_shipped(name: str) -> Manifest | None:
    """The manifest of that name, or None where qloop has none."""
    if name not in SHIPPED:
        return None
    table = tomllib.loads(read_asset("runners", f"{name}.toml"))
    return Manifest.model_validate({**table, "name": name})
