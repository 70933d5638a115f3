"""Sections and boxes of a Markdown document. Pure functions of its text.

Code is no document: what stands within a fence is neither heading nor box.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_BYTE_ORDER_MARK = "\ufeff"
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*")
_BOX = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+\[([ xX])\]\s+(.*?)\s*")


@dataclass(frozen=True, slots=True)
class Box:
    """One line of a list that can be ticked."""

    is_ticked: bool
    text: str


def outside_code(lines: list[str]) -> Iterator[tuple[int, str]]:
    """The lines that stand in no code block, with their places, from 0."""
    fence = ""
    for at, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark:
            fence = mark[1]
        else:
            yield at, line


def find_section(lines: list[str], name: str) -> tuple[int, int] | None:
    """From which line to which the body of the section `## name` goes, or None without one."""
    start = None
    for at, line in outside_code(lines):
        heading = _HEADING.fullmatch(line)
        if heading is None or len(heading[1]) > 2:
            continue
        if start is not None:
            return start, at
        if len(heading[1]) == 2 and heading[2].casefold() == name.casefold():
            start = at + 1
    return None if start is None else (start, len(lines))


def section_text(text: str, name: str) -> str | None:
    """The body of a section without blank lines around it; None without the section."""
    lines = text.splitlines()
    found = find_section(lines, name)
    return None if found is None else "\n".join(lines[slice(*found)]).strip()


def with_lines(text: str, name: str, new: list[str]) -> str:
    """A document with lines at the end of a section, which is made where it is missing.

    Its line ends, and the mark before it, stay as they are.
    """
    end = "\r\n" if "\r\n" in text else "\n"
    mark = _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else ""
    lines = text.removeprefix(_BYTE_ORDER_MARK).replace("\r\n", "\n").split("\n")
    found = find_section(lines, name)
    if found is None:
        while lines and not lines[-1].strip():
            lines.pop()
        return mark + end.join([*lines, "", f"## {name}", "", *new, ""])
    start, stop = found
    body = lines[start:stop]
    while body and not body[-1].strip():
        body.pop()
    return mark + end.join([*lines[:start], *(body or [""]), *new, "", *lines[stop:]])


def tick_boxes(text: str, is_done: Callable[[str], bool]) -> str:
    """A document with those open boxes ticked whose texts are done; all else as it is."""
    return _marked(text, "x", lambda box: not box.is_ticked and is_done(box.text))


def untick_boxes(text: str, is_meant: Callable[[str], bool]) -> str:
    """A document with those ticked boxes open again whose texts are meant; all else as it is."""
    return _marked(text, " ", lambda box: box.is_ticked and is_meant(box.text))


def _marked(text: str, sign: str, is_meant: Callable[[Box], bool]) -> str:
    lines = text.splitlines(keepends=True)
    for at, line in outside_code([line.rstrip("\r\n") for line in lines]):
        box = _BOX.fullmatch(line)
        if box is not None and is_meant(Box(box[1] != " ", box[2])):
            lines[at] = f"{lines[at][: box.start(1)]}{sign}{lines[at][box.end(1) :]}"
    return "".join(lines)


def read_boxes(text: str) -> tuple[Box, ...]:
    """All boxes, ticked or not, in their order."""
    found = (_BOX.fullmatch(line) for _, line in outside_code(text.splitlines()))
    return tuple(Box(box[1] != " ", box[2]) for box in found if box is not None)
