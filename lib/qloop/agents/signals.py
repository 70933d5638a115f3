"""What an agent said last: `<quantum>X</quantum>`, alone on a line. A claim, never a proof.

Blanks around the line and inside the tags, carriage returns and terminal codes do not matter;
case does. Quoted lines, prose and closed code fences carry no signal; the last signal wins.
"""

import re
from dataclasses import dataclass

SIGNALS = ("STORY_PASSED", "STORY_FAILED", "BLOCKED", "COMPLETE", "WAVE_PASSED", "WAVE_FAILED")

_TERMINAL_CODES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_ALONE = re.compile(rf"<quantum>\s*({'|'.join(SIGNALS)})\s*</quantum>")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)")


@dataclass(frozen=True, slots=True)
class Said:
    """A signal as it was found: its name, the line number from 1, or why there is none."""

    signal: str | None
    line: int | None
    why: str


def parse_signal(text: str, exit_code: int = 0) -> Said:
    """The signal of an agent's final answer; a failed process cannot claim to have passed."""
    found = _signals(_plain_lines(text))
    if not found:
        return Said(None, None, "no signal stands alone on a line")
    number, name = found[-1]
    if name == "STORY_PASSED" and exit_code != 0:
        return Said(None, number, f"said STORY_PASSED, but ended with exit code {exit_code}")
    return Said(name, number, "the last signal alone on a line")


def hide_signals(text: str) -> str:
    """*text* with every line that would count as a signal quoted, so that an echo counts not.

    Carriage returns become line ends: what stands alone between two of them counts as well.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(
        f"> {line}" if _ALONE.fullmatch(strip_codes(line).strip()) else line for line in lines
    )


def strip_codes(text: str) -> str:
    """*text* without the codes that steer a terminal."""
    return _TERMINAL_CODES.sub("", text)


def render_signal(name: str) -> str:
    """The line that says a signal."""
    return f"<quantum>{name}</quantum>"


def _plain_lines(text: str) -> list[str]:
    """Lines as a terminal would show them: what a carriage return overwrites stands alone."""
    return [strip_codes(line).replace("\r", "\n") for line in text.split("\n")]


def _signals(lines: list[str]) -> list[tuple[int, str]]:
    fenced = _fenced(lines)
    found: list[tuple[int, str]] = []
    for number, line in enumerate(lines):
        if number in fenced:
            continue
        for piece in line.split("\n"):
            match = _ALONE.fullmatch(piece.strip())
            if match:
                found.append((number + 1, match.group(1)))
    return found


def _fenced(lines: list[str]) -> set[int]:
    """Numbers of the lines that stand in a closed code fence; an open one hides nothing."""
    hidden: set[int] = set()
    last = _last_closings(lines)
    number = 0
    while number < len(lines):
        end = _closing(lines, number, last)
        if end is None:
            number += 1
        else:
            hidden.update(range(number, end + 1))
            number = end + 1
    return hidden


def _last_closings(lines: list[str]) -> dict[str, list[int]]:
    """For both kinds of fence, by length: the last line that closes one of that length.

    With it no opening is looked for an end that never comes, which would take a long output
    the square of its length.
    """
    last: dict[str, list[int]] = {"`": [], "~": []}
    for number, line in enumerate(lines):
        mark = _closing_mark(line)
        if mark:
            of_kind = last[mark[0]]
            of_kind += [-1] * (len(mark) + 1 - len(of_kind))
            of_kind[len(mark)] = number
    for of_kind in last.values():
        for length in reversed(range(len(of_kind) - 1)):
            of_kind[length] = max(of_kind[length], of_kind[length + 1])
    return last


def _closing(lines: list[str], start: int, last: dict[str, list[int]]) -> int | None:
    opening = _FENCE.fullmatch(lines[start].rstrip("\n"))
    if opening is None or ("`" in opening.group(1) and "`" in opening.group(2)):
        return None
    mark = opening.group(1)
    of_kind = last[mark[0]]
    if len(mark) >= len(of_kind) or of_kind[len(mark)] <= start:
        return None
    later = range(start + 1, len(lines))
    return next(number for number in later if _closing_mark(lines[number]).startswith(mark))


def _closing_mark(line: str) -> str:
    """The mark of a line that closes fences of its kind and length or less; else nothing."""
    match = _FENCE.fullmatch(line.strip("\n"))
    return match.group(1) if match and not match.group(2).strip() else ""
