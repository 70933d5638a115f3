"""The wave that is red: what landed, seen again as a whole, did not hold. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from qloop.state.facts import EventKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qloop.state.likeness import AnyEvent


class RedWave(NamedTuple):
    """A wave after which the line did not hold, and was not seen to hold since."""

    wave: str | None
    at: str
    text: str
    """What is red, whose it is, and what landed since it was last green."""


def holds_words(event: AnyEvent) -> str:
    """What a wave that was seen green comes to."""
    if event.data.get("landed", True):
        return "all that landed holds"
    return "nothing new landed, and what had landed before holds"


def find_red_wave(events: Iterable[AnyEvent]) -> RedWave | None:
    """The newest red wave of *events*; one that could not be looked at changes nothing."""
    found = None
    for event in events:
        if event.event is EventKind.WAVE_RECOGNIZED and event.data.get("green") is not None:
            is_red = event.data["green"] is False
            found = (
                RedWave(event.wave, event.ts, str(event.data.get("text", ""))) if is_red else None
            )
    return found
