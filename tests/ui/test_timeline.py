"""Timelines: which attempt was at work when, in which slot, and how that is drawn."""

import xml.etree.ElementTree as ET
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from qloop.state.journal import Event, EventKind
from qloop.ui.timeline import UNSETTLED, Timeline, build_timeline
from qloop.ui.timeline_drawing import draw_timeline

SVG = "{http://www.w3.org/2000/svg}"
ZERO = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def event(at_s: float, kind: EventKind, story: str | None = None, **facts: Any) -> Event:
    """An event so many seconds after the first one."""
    ts = (ZERO + timedelta(seconds=at_s)).isoformat(timespec="milliseconds")
    named = {name: facts.pop(name) for name in ("wave", "attempt") if name in facts}
    return Event(seq=1, ts=ts, run="r-1", event=kind, story=story, **named, data=facts)


def start(at_s: float, story: str, attempt: int = 1, **facts: Any) -> Event:
    """An attempt's start."""
    where = {"wave": "wave-1", "attempt": attempt}
    return event(at_s, EventKind.ATTEMPT_STARTED, story, **where, **facts)


def settle(at_s: float, story: str, attempt: int = 1, **facts: Any) -> Event:
    """An attempt's end."""
    where = {"wave": "wave-1", "attempt": attempt}
    return event(at_s, EventKind.STORY_SETTLED, story, **where, **facts)


def built(*events: Event) -> Timeline:
    """The timeline of events that hold an attempt."""
    made = build_timeline(events)
    assert made is not None
    return made


def test_slots_are_those_of_the_journal() -> None:
    """Each slot that was used is a row; bars tell from when to when, and how it ended."""
    made = built(
        event(0, EventKind.RUN_STARTED),
        start(1, "A", slot=0),
        start(1, "B", slot=5),
        settle(4, "B", status="failed", phase="timeout"),
        start(5, "B", 2, slot=5),
        settle(9, "A", status="passed"),
        settle(11, "B", 2, status="passed"),
    )

    assert made.slots == (0, 5)
    assert made.seconds == 11
    assert [(bar.story, bar.row, bar.start_s, bar.end_s, bar.status) for bar in made.bars] == [
        ("A", 0, 1, 9, "passed"),
        ("B", 1, 1, 4, "failed"),
        ("B", 1, 5, 11, "passed"),
    ]
    assert made.bars[1].phase == "timeout"


def test_older_journals_get_the_lowest_free_slot() -> None:
    """Without slots in the journal no two bars of a row are at work together."""
    made = built(
        start(0, "A"),
        start(0, "B"),
        settle(3, "A", status="passed"),
        start(4, "C"),
        start(5, "D"),
        settle(9, "C", status="passed"),
    )

    assert {bar.story: bar.row for bar in made.bars} == {"A": 0, "B": 1, "C": 0, "D": 2}


def test_what_was_never_settled() -> None:
    """An attempt ends with its wave, or with the newest event, without a verdict."""
    made = built(
        start(0, "A"),
        start(0, "B"),
        event(6, EventKind.WAVE_ENDED, wave="wave-1"),
        event(7, EventKind.ATTEMPT_STARTED, "C", wave="wave-2", attempt=1),
        event(8, EventKind.WAVE_ENDED, wave="wave-1"),
        event(9, EventKind.RUN_ENDED),
    )

    assert [bar.end_s for bar in made.bars] == [6, 6, 9]
    assert {bar.status for bar in made.bars} == {UNSETTLED}


def test_a_clock_that_was_set_back() -> None:
    """Time never runs backwards in the drawing."""
    made = built(start(5, "A"), settle(2, "A", status="passed"))

    assert (made.bars[0].start_s, made.bars[0].end_s) == (0, 0)


@pytest.mark.parametrize("events", [[], [event(0, EventKind.RUN_STARTED)]])
def test_no_attempt_no_timeline(events: list[Event]) -> None:
    """Where nothing was tried there is nothing to draw."""
    assert build_timeline(events) is None


def drawn(timeline: Timeline, **titles: str) -> ET.Element:
    """The drawing, read by a parser of XML."""
    return ET.fromstring(draw_timeline(timeline, titles).markup.encode("utf-8"))


def test_a_drawing() -> None:
    """A bar has a colour, a sign, a pattern where it failed, words, and all of it as a tooltip."""
    made = built(
        start(0, "A", slot=0),
        settle(50, "A", status="failed", phase="merge_conflict"),
        start(51, "A", 2, slot=0),
        settle(100, "A", 2, status="passed"),
    )
    root = drawn(made, A='A <b>"title"</b>')
    groups = [one for one in root.iter(f"{SVG}g") if one.find(f"{SVG}title") is not None]
    words = ["".join(one.itertext()) for one in root.iter(f"{SVG}text")]
    fills = [rect.get("fill") for rect in groups[0].iter(f"{SVG}rect")]

    assert [one.get("class") for one in groups] == ["failed", "passed"]
    assert groups[0].findtext(f"{SVG}title") == (
        'A: A <b>"title"</b>\nattempt 1, wave-1, failed: merge_conflict\n50s, from 0:00 on'
    )
    assert {"A merge conflict", 'A #2 A <b>"title"</b>'} <= set(words)
    assert {"slot 1", "1 landed", "1 failed", "0:00", "1:00"} <= set(words)
    assert fills[1] == f"url(#{next(root.iter(f'{SVG}pattern')).get('id')})"
    assert len([*groups[1].iter(f"{SVG}rect")]) == 1


def test_a_bar_without_room_shows_no_half_of_an_id() -> None:
    """Where an id does not fit, only the tooltip names it."""
    made = built(
        start(0, "US-001"),
        settle(1, "US-001", status="passed"),
        start(1, "US-002"),
        settle(100_000, "US-002", status="passed"),
    )
    words = ["".join(one.itertext()) for one in drawn(made).iter(f"{SVG}text")]

    assert "US-001" not in words
    assert "US-002" in words
    assert any(word.count(":") == 2 for word in words)
