"""Which mission is the active one: a small file in `.qloop`, light to read."""

import json
from pathlib import Path

from qloop.system.files import read_optional, write_atomic

ACTIVE = "active.json"


def activate(private: Path, folder: Path) -> None:
    """Make the mission of an intent's folder the active one."""
    data = json.dumps({"folder": str(folder)}, indent=2) + "\n"
    write_atomic(private / ACTIVE, data.encode())


def find_active(private: Path) -> Path | None:
    """The folder of the active mission; None where there is none."""
    data = read_optional(private / ACTIVE)
    try:
        folder = Path(json.loads(data or b"null")["folder"])
    except (ValueError, TypeError, KeyError):
        return None
    return folder if folder.is_dir() else None
