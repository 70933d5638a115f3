"""What was learnt on the way: the lines under `## Insights` of an intent's document, newest last.

A line is `- {UTC time} · {stage} · {author}: text`; one that nobody was asked about bears
`(autonomous)` after its author. Errors: InputMissing without a document, UsageWrong for no words.
"""

import re
from pathlib import Path

from qloop.state.intent import encodable, one_line
from qloop.state.lifecycle import Stage, document_of
from qloop.state.savepoints import folder_locked
from qloop.state.sections import section_text, with_lines
from qloop.system.clock import utc_now
from qloop.system.errors import InputMissing, UsageWrong
from qloop.system.files import write_atomic

AUTONOMOUS = "(autonomous)"
SECTION = "Insights"

_LINE = re.compile(r"- \S+ · .+")


def add_insight(
    folder: Path, text: str, *, stage: Stage, author: str, is_autonomous: bool = False
) -> str:
    """Write an insight down, with the present time, and return its line.

    Whatever its text, it stays one entry: further lines stand below the first, indented so far
    that none is a heading.
    """
    words = [line.strip() for line in encodable(text).splitlines() if line.strip()]
    if not words:
        raise UsageWrong("an insight needs words", fix="say what was learnt")
    mark = f" {AUTONOMOUS}" if is_autonomous else ""
    head = f"- {utc_now()} · {stage} · {one_line(encodable(author))}{mark}: "
    entry = [head + words[0], *(f"    {line}" for line in words[1:])]
    with folder_locked(folder):
        path = document_of(folder)
        if path is None:
            raise InputMissing(
                "the intent has no document", where=str(folder), fix="put it back first"
            )
        before = path.read_bytes().decode("utf-8", "surrogateescape")
        after = with_lines(before, SECTION, entry)
        write_atomic(path, after.encode("utf-8", "surrogateescape"))
    return entry[0]


def read_insights(text: str) -> tuple[str, ...]:
    """The first lines of the insights in a document, oldest first, without the hyphen."""
    body = section_text(text, SECTION) or ""
    return tuple(line[2:].strip() for line in body.splitlines() if _LINE.fullmatch(line))
