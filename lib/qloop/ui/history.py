"""What the journal tells of a plan: which events are its own, and what they end. Pure.

Timestamps are UTC, RFC 3339.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from qloop.state.facts import EventKind
from qloop.system.clock import parse_utc

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from qloop.plan.likeness import AnyPlan, AnyStory
    from qloop.state.likeness import AnyEvent

E = TypeVar("E", bound="AnyEvent")


def events_of_plan(plan: AnyPlan[AnyStory], events: Iterable[E], now: datetime) -> list[E]:
    """The events that are about this plan, not about one that the state file held before.

    Left out are runs on another branch, and what happened before the plan was made.
    """
    listed = list(events)
    others = {
        event.run
        for event in listed
        if event.event is EventKind.RUN_STARTED
        and event.data.get("branch") not in (None, plan.branch_name)
    }
    made = parse_moment(plan.created_at)
    since = made if made is not None and made <= now else None
    return [
        event
        for event in listed
        if event.run not in others
        and (since is None or (at := parse_moment(event.ts)) is None or at >= since)
    ]


def is_over(events: Sequence[AnyEvent], story_id: str, number: int) -> bool:
    """Whether *events* tell that an attempt can gain nothing more: it, its wave or run ended."""
    own = [event for event in events if event.story == story_id and event.attempt == number]
    runs = {event.run for event in own}
    waves = {event.wave for event in own if event.wave is not None}
    return any(
        event.event is EventKind.STORY_SETTLED
        or (event.event is EventKind.WAVE_ENDED and event.wave in waves and event.run in runs)
        or (event.event is EventKind.RUN_ENDED and event.run in runs)
        for event in [*own, *(event for event in events if event.story is None)]
    )


def parse_moment(text: str | None) -> datetime | None:
    """A timestamp that another writer may have written; None where it is none."""
    try:
        return parse_utc(text) if text is not None else None
    except ValueError:
        return None


def in_one_line(text: str) -> str:
    """A text of several lines as one, the lines told apart by semicolons."""
    return "; ".join(line.strip() for line in text.splitlines() if line.strip())


def first_line(text: str | None) -> str:
    """The first line of a text that holds something; empty where none does.

    One that ends with a colon says nothing without the next one.
    """
    lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
    is_open = len(lines) > 1 and lines[0].endswith(":")
    return " ".join(lines[: 2 if is_open else 1])
