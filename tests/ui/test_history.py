"""Attempts from journal and failure log, whatever stands in them."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from qloop.plan.model import Story, parse_plan
from qloop.state.journal import Event, EventKind
from qloop.ui.attempts import attempts_of
from qloop.ui.history import events_of_plan, first_line, is_over, parse_moment

NOW = datetime(2026, 2, 1, tzinfo=UTC)


def event(kind: EventKind, seq: int = 1, **fields: Any) -> Event:
    """An event of run r."""
    made = {"run": "r", "ts": f"2026-01-02T03:04:{seq:02d}.000Z", "data": {}, **fields}
    return Event(seq=seq, event=kind, **made)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
FIELDS = ("runner", "worktree", "code", "signal", "seconds", "gate", "command", "green", "log",
          "status", "phase", "reason", "charged", "commit", "timed_out", "stuck")  # fmt: skip
EVENTS = st.lists(
    st.builds(
        event,
        st.sampled_from(EventKind),
        attempt=st.integers(1, 3),
        story=st.just("A"),
        data=st.dictionaries(st.sampled_from(FIELDS), JSON),
    ),
    max_size=8,
)


@given(EVENTS)
def test_any_journal_can_be_read(events: list[Event]) -> None:
    """Fields of an unexpected kind are passed over, and the attempts stay in order."""
    found = attempts_of(Story(id="A"), events, {})
    numbers = [one.number for one in found]

    assert numbers == sorted({event.attempt for event in events if event.attempt is not None})
    assert [one.to_json()["number"] for one in found] == numbers


def test_time_never_runs_backwards() -> None:
    """A clock that was set back makes no attempt shorter than nothing."""
    events = [
        event(EventKind.ATTEMPT_STARTED, 9, story="A", attempt=1),
        event(EventKind.STORY_SETTLED, 3, story="A", attempt=1),
    ]

    assert attempts_of(Story(id="A"), events, {})[0].seconds == 0.0


def test_over_is_only_what_is_this_attempts() -> None:
    """The end of another attempt, story, wave or run is not this one's."""
    start = event(EventKind.ATTEMPT_STARTED, story="A", attempt=2, wave="wave-2")
    others = [
        event(EventKind.STORY_SETTLED, story="A", attempt=1, wave="wave-2"),
        event(EventKind.STORY_SETTLED, story="B", attempt=2, wave="wave-2"),
        event(EventKind.WAVE_ENDED, wave="wave-1"),
        event(EventKind.WAVE_ENDED, wave="wave-2", run="q"),
        event(EventKind.RUN_ENDED, run="q"),
    ]

    assert not is_over([start, *others], "A", 2)
    assert is_over([start, event(EventKind.WAVE_ENDED, wave="wave-2")], "A", 2)
    assert is_over([start, event(EventKind.RUN_ENDED)], "A", 2)


def test_events_whose_time_says_nothing_count() -> None:
    """A time that is none cannot put an event before the plan."""
    plan = parse_plan({"branchName": "b", "stories": [], "createdAt": "2026-01-03T00:00:00Z"})
    odd = event(EventKind.RUN_STARTED, ts="one day")

    assert events_of_plan(plan, [odd, event(EventKind.RUN_STARTED)], NOW) == [odd]


def test_small_readings() -> None:
    """First lines and moments of what others wrote."""
    assert first_line("\n  a \nb") == "a"
    assert first_line("it failed:\n\n  disk full\nmore") == "it failed: disk full"
    assert first_line(None) == first_line(" \n") == ""
    assert parse_moment("yesterday") is None
    assert parse_moment(None) is None
