"""What a long trace comes to in a few tokens: a model's words, held to that, or an extract. Pure.

The first `file:line` of the trace is kept in either.
"""

from dataclasses import dataclass
from typing import Literal

from qloop.agents.error_trace import find_place, telling_line
from qloop.agents.signals import strip_codes
from qloop.agents.tokens import count_tokens, cut_tokens, last_tokens

Source = Literal["model", "extract"]


@dataclass(frozen=True, slots=True)
class Compressed:
    """A trace in few tokens."""

    text: str
    tokens: int
    source: Source
    """Whether a model said it, or qloop took it out of the trace."""
    truncated: bool = False
    """Whether something of it was cut off."""


def compress(answer: str, trace: str, most: int) -> Compressed:
    """What *answer* says of *trace*, in at most *most* tokens; an extract where it says nothing.

    An answer that is short enough and names the trace's first place stays as it is.
    """
    said = strip_codes(answer).strip()
    if not count_tokens(cut_tokens(said, most)):
        return extract(trace, most)
    return _held(said, find_place(trace), most, "model")


def extract(trace: str, most: int) -> Compressed:
    """The trace's first place and its most telling line, in at most *most* tokens."""
    return _held(telling_line(trace), find_place(trace), most, "extract")


def _held(said: str, place: str | None, most: int, source: Source) -> Compressed:
    text = cut_tokens(said, most)
    if place is not None and not _names(text, place):
        head = cut_tokens(last_tokens(place, most), most)
        text = cut_tokens(f"{head}: {said}" if said else head, most)
    is_cut = not text.endswith(said)
    return Compressed(text, count_tokens(text), source, is_cut)


def _names(text: str, place: str) -> bool:
    """Whether the place stands in a text, and not only the beginning of another line number."""
    at = text.find(place)
    while at >= 0:
        if not text[at + len(place) : at + len(place) + 1].isdigit():
            return True
        at = text.find(place, at + 1)
    return False
