"""JSON in an agent's output, whatever else stands between: a line each, or over many lines.

Errors go to the same log as output, so that any line may be text, and a line of JSON may have
text before it.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Protocol

from qloop.agents.readers.fields import Json
from qloop.agents.readers.lines import Lines
from qloop.agents.readers.shown import shorten
from qloop.agents.readers.text import End
from qloop.agents.reading import Line, Reading
from qloop.agents.signals import strip_codes

STRAY_BYTES = 64_000
LONGEST_OBJECT = 16_000_000
MOST_BEGINNINGS = 8
MOST_ENDS = 8

_DECODER = json.JSONDecoder(strict=False)


class Tale(Protocol):
    """What one form's JSON means."""

    def take(self, value: Json) -> list[Line]:
        """Take the next object; what it tells to people."""
        ...

    def take_stray(self, text: str) -> None:
        """Take a line that is no JSON."""
        ...

    def reading(self) -> Reading:
        """What all of it came to."""
        ...


class JsonReader:
    """Reads objects out of bytes and has a tale made of them."""

    def __init__(self, tale: Tale) -> None:
        self._tale = tale
        self._lines = Lines()
        self._open = _OpenObject()
        self._stray = End(STRAY_BYTES)

    def feed(self, data: bytes) -> list[Line]:
        """Take the next piece; the readable lines that became whole."""
        return [told for line in self._lines.feed(data) for told in self._take(line)]

    def finish(self) -> Reading:
        """What it all came to."""
        for line in self._lines.rest():
            self._take(line)
        self._take_stray(self._open.close())
        return replace(self._tale.reading(), stray=self._stray.text())

    def _take(self, line: bytes) -> list[Line]:
        text = strip_codes(line.decode("utf-8", "replace")).rstrip("\r")
        told: list[Line] = []
        if text.startswith("{"):
            told += self._take_stray(self._open.close())
        elif self._open.lines:
            return self._go_on(text)
        for part in parts_of(text):
            if isinstance(part, dict):
                told += self._tale.take(part)
            elif part.startswith("{"):
                self._open.add(part)
            else:
                told += self._take_stray([part])
        return told

    def _go_on(self, text: str) -> list[Line]:
        """A line inside of an object that was begun before."""
        value = self._open.add(text)
        if value is not None:
            return self._tale.take(value)
        return self._take_stray(self._open.close()) if self._open.is_hopeless else []

    def _take_stray(self, lines: list[str]) -> list[Line]:
        told = []
        for text in lines:
            self._stray.feed(f"{text}\n".encode("utf-8", "replace"))
            self._tale.take_stray(text)
            if text.strip():
                told.append(Line("note", shorten(text)))
        return told


class _OpenObject:
    """An object that was begun on one line and ends on a later one, which begins with `}`."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._size = 0
        self._ends = 0

    def add(self, line: str) -> Json | None:
        """Take a line; the object where it is whole now."""
        self.lines.append(line)
        self._size += len(line)
        if not line.startswith("}"):
            return None
        self._ends += 1
        value = parse("\n".join(self.lines))
        if not isinstance(value, dict):
            return None
        self.close()
        return value

    @property
    def is_hopeless(self) -> bool:
        """It is too long, or seemed to end too often, to be what somebody reads."""
        return self._size > LONGEST_OBJECT or self._ends > MOST_ENDS

    def close(self) -> list[str]:
        """Begin anew; returns the lines that were no object."""
        lines = self.lines
        self.lines, self._size, self._ends = [], 0, 0
        return lines


def parts_of(line: str) -> Iterator[Json | str]:
    """The objects in a line, and the text around them.

    What stands behind other text is an object only with a `type`: a message may quote anything.
    """
    value = parse(line) if "{" in line else None
    if isinstance(value, dict):
        yield value
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        yield from (item for item in value if isinstance(item, dict))
    else:
        yield from _mixed(line)


def parse(text: str) -> Any:
    """A JSON value; None for what is none."""
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def _mixed(line: str) -> Iterator[Json | str]:
    begin = 0
    for _ in range(MOST_BEGINNINGS):
        begin = line.find("{", begin)
        if begin < 0:
            break
        try:
            value, end = _DECODER.raw_decode(line, begin)
        except (ValueError, RecursionError):
            if begin == 0:
                break  # it is cut short, and what it holds are parts of it
            begin += 1
            continue
        if isinstance(value, dict) and (begin == 0 or isinstance(value.get("type"), str)):
            if begin:
                yield line[:begin]
            yield value
            line, begin = line[end:], 0
        else:
            begin = end
    if line:
        yield line
