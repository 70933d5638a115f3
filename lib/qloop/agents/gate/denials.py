"""What the gate denied in one call of an agent: a line for each, and whether it is stuck there.

Secrets in this process's environment are masked, since the file is kept.

Any number of hooks append at once; a call that reaches the file twice counts once.
Errors: OSError.
"""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qloop.agents.gate.decision import Decision
from qloop.system.files import locked, read_blocks
from qloop.system.masking import mask_text

LIMIT = 3
"""So many equal denials in a row end an agent."""
LONGEST_LOG_BYTES = 4_000_000
_LONGEST_TEXT = 2000
_EQUAL = ("rule", "tool", "subject")


@dataclass(frozen=True, slots=True)
class Denial:
    """A denial that came again and again."""

    rule: str
    tool: str
    subject: str
    """The path, command or agent that it was about."""
    reason: str
    count: int

    @property
    def text(self) -> str:
        """It in one line."""
        about = " ".join(self.subject.split())
        return f"{self.tool} was denied {self.count} times by {self.rule}: {about}: {self.reason}"


def note_decision(log: Path, tool: str, decision: Decision, call: str) -> int:
    """Note a decision on the tool call of that id; how many equal denials stand in a row now."""
    if decision.allow and not log.exists():
        return 0  # nothing to break a row of
    with locked(log) as handle:
        lines = list(_lines(log))
        if not any(one.get("call") == call for one in lines if call):
            line = _line(tool, decision, call)
            os.lseek(handle, 0, os.SEEK_END)
            os.write(handle, json.dumps(line, ensure_ascii=False).encode(errors="replace") + b"\n")
            lines.append(line)
    return len(_row(lines))


def find_stuck(log: Path) -> Denial | None:
    """The denial at which an agent was stuck in the end; None where it was not."""
    row = _row(list(_lines(log)))
    if len(row) < LIMIT:
        return None
    last = row[-1]
    return Denial(last["rule"], last["tool"], last["subject"], last["reason"], len(row))


def _line(tool: str, decision: Decision, call: str) -> dict[str, Any]:
    if decision.allow:
        return {"call": call, "allow": True}
    return {
        "call": call,
        "allow": False,
        "rule": decision.rule,
        "tool": tool[:_LONGEST_TEXT],
        "subject": mask_text(decision.subject)[:_LONGEST_TEXT],
        "reason": mask_text(decision.reason)[:_LONGEST_TEXT],
    }


def _row(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The equal denials at the end."""
    row: list[dict[str, Any]] = []
    for line in reversed(lines):
        if line["allow"] or (row and any(line[key] != row[0][key] for key in _EQUAL)):
            break
        row.append(line)
    return row[::-1]


def _lines(log: Path) -> Iterator[dict[str, Any]]:
    """The lines of the log that are of its form; an agent may have written there too."""
    for text in b"".join(read_blocks(log, LONGEST_LOG_BYTES)).splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if isinstance(line, dict) and _is_whole(line):
            yield line


def _is_whole(line: dict[str, Any]) -> bool:
    if line.get("allow") is True:
        return True
    texts = [line.get(key) for key in (*_EQUAL, "reason")]
    return line.get("allow") is False and all(isinstance(text, str) for text in texts)
