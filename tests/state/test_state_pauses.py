"""Pauses as the journal tells them."""

from typing import Any

from qloop.state.journal import Event, EventKind
from qloop.state.pauses import Pause, find_pauses

LIMIT = Pause("claude", "usage_limit", "no", 1_796_054_030.5)
LOCKED = Pause("codex", "authentication", "no", None)


def event(kind: EventKind, run: str = "r-1", **data: Any) -> Event:
    """One line of a journal."""
    return Event(seq=1, ts="2026-01-02T03:04:05.678Z", run=run, event=kind, data=data)


def paused(pause: Pause) -> Event:
    """The event that tells of a pause."""
    return event(EventKind.RUNNER_PAUSED, **pause.to_json())


def test_a_pause_is_told_and_read_the_same() -> None:
    """Its end to the millisecond; one that only a person ends has none."""
    assert LIMIT.until == "2026-11-30T15:53:50.500Z"
    assert Pause.of_event(paused(LIMIT)) == LIMIT
    assert Pause.of_event(paused(LOCKED)) == LOCKED


def test_the_pauses_that_are_on() -> None:
    """Those begun and not ended; the newest word counts, and a run's end ends them."""
    resumed = event(EventKind.RUNNER_RESUMED, runner="claude")
    later = Pause("claude", "usage_limit", "no", 1_796_060_000.0)
    ended = event(EventKind.RUN_ENDED)

    assert find_pauses([paused(LIMIT), paused(LOCKED)]) == {"claude": LIMIT, "codex": LOCKED}
    assert find_pauses([paused(LIMIT), resumed]) == {}
    assert find_pauses([paused(LIMIT), paused(later)]) == {"claude": later}
    assert find_pauses([paused(LIMIT), ended]) == {}
    assert find_pauses([paused(LIMIT), ended, paused(LOCKED)]) == {"codex": LOCKED}


def test_what_is_no_pause_is_passed_over() -> None:
    """A journal may hold lines of another program's version."""
    odd = [
        event(EventKind.RUNNER_PAUSED),
        event(EventKind.RUNNER_PAUSED, runner=1),
        event(EventKind.RUNNER_PAUSED, runner="claude", until="soon"),
        event(EventKind.RUNNER_RESUMED),
    ]

    assert find_pauses(odd) == {}
