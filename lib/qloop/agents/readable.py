"""What an agent did, for people: a log of readable lines beside that of what it printed.

It is there for forms of output that are not readable by themselves. It is made before the other
one, so that once that is there nobody need wait for it; of output in a file of its own it is made
when the agent has ended, and what is printed meanwhile is what there is.
"""

from collections.abc import Iterable
from pathlib import Path

from qloop.agents.reading import Line

BEFORE = {
    "said": "",
    "tool": "> ",
    "result": "  failed: ",
    "error": "error: ",
    "cost": "cost: ",
    "note": "# ",
}
"""What a line of each kind begins with."""


def render_lines(lines: Iterable[Line]) -> str:
    """Lines as they stand in the log."""
    return "".join(f"{BEFORE.get(line.kind, '')}{line.text}\n" for line in lines)


def readable_name(log_name: str) -> str:
    """The name of the readable log beside one of that name."""
    return f"{Path(log_name).stem}.readable.log"


def readable_log(log: Path) -> Path:
    """The readable log beside *log* where there is one, else *log* itself."""
    if not log.exists():
        return log
    readable = log.with_name(readable_name(log.name))
    return readable if readable.exists() else log
