"""What is wrong in a requirements document, with the line where it stands.

Lines count from 1 in the file as it is, front matter included.
"""

from collections.abc import Iterable
from typing import NamedTuple

from qloop.system.counting import counted
from qloop.system.errors import Faults

Lines = dict[str, int]
"""JSON paths of the plan, or the ends of such paths, and the lines that they come from."""


class LineFault(NamedTuple):
    """One thing to put right."""

    line: int
    message: str


def faults_error(faults: Iterable[LineFault], path: str) -> Faults:
    """All faults of a document as one error, a line for each, in the order of the document."""
    lines = tuple(f"line {line}: {message}" for line, message in sorted(set(faults)))
    return Faults(
        f"{counted(len(lines), 'fault')} in the PRD",
        lines,
        where=path,
        fix="correct the lines named",
    )
