"""One thing wrong in a document: where it stands, what is wrong, with which value."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from qloop.system.counting import counted
from qloop.system.errors import Faults

_LONGEST_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault at a JSON path such as `stories[2].dependsOn[0]`."""

    path: str
    message: str
    """What is wrong, the offending value in it."""
    value: Any = None
    """The offending value itself; None where something is missing."""

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def render_path(parts: Iterable[str | int]) -> str:
    """Keys and indices as one JSON path; keys that are no plain word are quoted."""
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part.isidentifier():
            text += f".{part}" if text else part
        else:
            text += f"[{json.dumps(part, ensure_ascii=not part.isprintable())}]"
    return text


def show(value: Any) -> str:
    """A value for people: on one line, printable, and cut where it is long."""
    text = repr(value) if isinstance(value, str) else _show_json(value)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"


def faults_error(faults: Iterable[Fault], where: str) -> Faults:
    """All faults of one input as one error, a line for each."""
    lines = tuple(str(fault) for fault in faults)
    return Faults(
        f"{counted(len(lines), 'fault')} in the plan", lines, where=where, fix="correct the file"
    )


def _show_json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if text.isprintable() else json.dumps(value, default=repr)
