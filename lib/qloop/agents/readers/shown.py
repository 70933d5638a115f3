"""Readable lines: what an agent said, the tools it used, what it cost."""

import json
from typing import Any

from qloop.agents.readers.fields import clean
from qloop.agents.reading import Line
from qloop.agents.usage import Usage, render_usage

LONGEST_TEXT = 300
_TELLING = ("command", "cmd", "file_path", "filePath", "path", "pattern", "query", "url", "prompt")


def said(text: str, kind: str = "said") -> list[Line]:
    """A text, line by line."""
    return [Line(kind, line.rstrip()) for line in text.splitlines() if line.strip()]


def used(name: str, given: Any) -> Line:
    """A tool, and of what it was given the part that tells most."""
    name = name.strip() or "a tool"
    return Line("tool", shorten(f"{name}: {_telling(given)}" if given else name))


def failed_tool(output: str) -> list[Line]:
    """The end of what a tool said that failed."""
    lines = [line for line in output.splitlines() if line.strip()]
    return [Line("result", shorten(lines[-1]))] if lines else []


def spent(usage: Usage, turns: int | None) -> list[Line]:
    """What a call cost, where that is known."""
    text = render_usage(usage, turns)
    return [Line("cost", text)] if text else []


def shorten(text: str) -> str:
    """A text on one line that is not too long."""
    line = clean(" ".join(text.split()))
    return line if len(line) <= LONGEST_TEXT else f"{line[: LONGEST_TEXT - 1]}…"


def _telling(given: Any) -> str:
    if isinstance(given, dict):
        for name in _TELLING:
            if isinstance(given.get(name), str):
                return str(given[name])
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
