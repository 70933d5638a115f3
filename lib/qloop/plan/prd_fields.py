"""What the labels of a story say: dependencies, priority, runner, model, timeout."""

import re

from qloop.plan.prd_fault import LineFault, Lines
from qloop.plan.prd_labels import (
    DEPENDS,
    MODEL,
    PRIORITY,
    RUNNER,
    TIMEOUT,
    Line,
    single_value,
    split_values,
)
from qloop.system.clock import parse_duration_s
from qloop.system.errors import BadInput

_INTEGER = re.compile(r"[+-]?[0-9]{1,15}")
_WORDS = (RUNNER, MODEL, TIMEOUT)


class StoryFields:
    """Gathers labels; a label of one value may be repeated, but not with another value."""

    def __init__(self) -> None:
        self.depends: list[str] = []
        """Ids as they are written."""
        self.faults: list[LineFault] = []
        self.lines: Lines = {}
        """The lines of the fields, by the ends of their JSON paths."""
        self._given: dict[str, str] = {}

    @property
    def priority(self) -> int | None:
        """The priority, where a sound one is given."""
        value = self._given.get(PRIORITY)
        return int(value) if value is not None and _INTEGER.fullmatch(value) else None

    @property
    def words(self) -> dict[str, str]:
        """Runner, model and timeout, as far as they are given."""
        return {name: self._given[name] for name in _WORDS if name in self._given}

    def take(self, line: Line) -> None:
        """Take in a label."""
        if line.label == DEPENDS:
            for value in split_values(line.text):
                self._depend(value.strip("*"), line.number)
        elif line.label in (PRIORITY, *_WORDS):
            self._take_single(line.label, single_value(line.text), line.number)

    def _depend(self, story_id: str, line: int) -> None:
        if story_id not in self.depends:
            self.lines.setdefault(".dependsOn", line)
            self.lines[f".dependsOn[{len(self.depends)}]"] = line
            self.depends.append(story_id)

    def _take_single(self, label: str, value: str | None, line: int) -> None:
        if value is None:
            return
        self.lines.setdefault(f".{label}", line)
        if self._given.setdefault(label, value) != value:
            message = f"the {label} is given twice: {self._given[label]!r} and {value!r}"
        elif label == PRIORITY and not _INTEGER.fullmatch(value):
            message = f"the priority {value!r} is not an integer"
        elif label == TIMEOUT and not _is_duration(value):
            message = f"the timeout {value!r} is no duration such as 90s, 15m or 2h"
        else:
            return
        self.faults.append(LineFault(line, message))


def _is_duration(value: str) -> bool:
    try:
        parse_duration_s(value)
    except BadInput:
        return False
    return True
