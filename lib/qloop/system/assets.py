"""Files that come with qloop: role prompts, runners, schemas, examples.

From a wheel they lie in the package, in a checkout (also when it is installed editable) in the
folders at its root. Errors: InternalFailure when a file is in neither.
"""

import importlib.resources
from pathlib import Path
from typing import Literal

from qloop.system.errors import InternalFailure

Kind = Literal["agents", "runners", "schemas", "examples"]

_CHECKOUT = Path(__file__).resolve().parents[3]


def read_asset(kind: Kind, name: str) -> str:
    """The text of a file. Raises InternalFailure when it is missing."""
    return asset_path(kind, name).read_text("utf-8")


def asset_path(kind: Kind, name: str) -> Path:
    """Where a file, or with an empty name the folder of a kind, is. Raises InternalFailure."""
    packed = Path(str(importlib.resources.files("qloop"))) / "_assets"
    for root in (packed, _CHECKOUT):
        path = root / kind / name
        if path.exists():
            return path
    raise InternalFailure(
        f"qloop's own file {kind}/{name} is missing",
        where=str(packed),
        fix="install qloop again",
    )
