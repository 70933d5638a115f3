"""JSON objects in what an agent said, with prose and code fences around them.

Only one counts that begins at the start of a line: what stands behind a mark is a quotation. One
that says a thing twice is none.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from qloop.agents.readers.fields import clean
from qloop.agents.signals import strip_codes

LONGEST_ANSWER = 500_000
"""How many characters from the end are looked at."""


def find_objects(answer: str) -> list[dict[str, Any]]:
    """The JSON objects of an answer that begin at the start of a line, none within another."""
    return [one for one in _parts(_lines_of(answer)) if isinstance(one, dict)]


def find_break(answer: str) -> str:
    """Why what looks most like an object in an answer is none; empty where nothing does."""
    text = _lines_of(answer)
    breaks = [one for one in _parts(text) if isinstance(one, _Break)]
    if not breaks:
        return ""
    worst = max(breaks, key=lambda one: one.end - one.start)
    line, column = _position(text, worst.start, worst.end)
    return f"its JSON breaks at line {line}, column {column}: {worst.why}"


@dataclass(frozen=True, slots=True)
class _Break:
    """What begins like an object at one place of a text, and is none from another place on."""

    start: int
    end: int
    why: str


def _parts(text: str) -> Iterator[dict[str, Any] | _Break]:
    decoder = json.JSONDecoder(object_pairs_hook=_without_doubles)
    at = 0
    while (at := _next_start(text, at)) >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
            value = _written(value)
        except json.JSONDecodeError as exc:
            yield _Break(at, exc.pos, exc.msg)
        except _DoubledKey as exc:
            yield _Break(at, len(text), f"{exc} stands twice in one object")
        except RecursionError:
            yield _Break(at, len(text), "it is nested too deeply")
        else:
            yield value
            at = end
            continue
        at += 1


def _written(value: Any) -> Any:
    """A value in whose texts nothing is that could not be written."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_written(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): _written(item) for key, item in value.items()}
    return value


def _position(text: str, start: int, end: int) -> tuple[int, int]:
    """Line and column of a place, counted from 1 at the start of the object that it is in."""
    before = text[start:end]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def _lines_of(answer: str) -> str:
    """The last lines of an answer, without what steers a terminal."""
    if len(answer) > LONGEST_ANSWER:
        answer = answer[-LONGEST_ANSWER:].partition("\n")[2]
    return strip_codes(answer).replace("\r\n", "\n").replace("\r", "\n").strip()


def _next_start(text: str, at: int) -> int:
    """Where the next line begins with a brace, from *at* on; -1 where none does."""
    if text[at : at + 1] == "{" and (at == 0 or text[at - 1] == "\n"):
        return at
    following = text.find("\n{", max(at - 1, 0))
    return following + 1 if following >= 0 else -1


class _DoubledKey(ValueError):
    """An object says the same thing twice."""


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _DoubledKey(repr(next(key for key in keys if keys.count(key) > 1)))
    return made
