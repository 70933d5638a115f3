"""Events in words."""

from typing import Any

import pytest

from qloop.state.journal import Event, EventKind
from qloop.ui.progress import render_event


def ended(**data: Any) -> Event:
    """The end of an agent."""
    fields: dict[str, Any] = {"code": 0, "signal": "STORY_PASSED", "seconds": 12.0, **data}
    stamp = "2026-01-02T03:04:05.678Z"
    kind = EventKind.AGENT_ENDED
    return Event(seq=1, ts=stamp, run="r-1", event=kind, story="A-1", attempt=2, data=fields)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, "ended with 0 after 12s, STORY_PASSED"),
        ({"signal": None, "code": 3}, "ended with 3 after 12s, no signal"),
        ({"timed_out": True, "code": -9}, "out of time after 12s"),
        ({"stuck": True, "code": -15}, "stuck, ended after 12s"),
        (
            {"survivors": [11, 12]},
            "ended with 0 after 12s, STORY_PASSED; process 11, 12 could not be ended",
        ),
    ],
)
def test_an_agents_end(data: dict[str, Any], words: str) -> None:
    """Its code and its claim, or its time limit; what of it could not be ended is named."""
    assert render_event(ended(**data)) == f"A-1 attempt 2: {words}"


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        (EventKind.AGENT_STARTED, {"runner": "codex"}, "spec-reviewer, codex at work"),
        (EventKind.REVIEW_ENDED, {"passed": True}, "spec-reviewer: passed"),
        (EventKind.REVIEW_ENDED, {"passed": True, "issues": ["a"]}, "spec-reviewer: passed, 1"),
        (
            EventKind.REVIEW_ENDED,
            {"passed": False, "reason": "found it wanting:\n- x", "issues": ["major: x", "y"]},
            "found it wanting: major: x",
        ),
    ],
)
def test_a_review(kind: EventKind, data: dict[str, Any], words: str) -> None:
    """Who judges, and what came of it."""
    event = Event(
        seq=1,
        ts="2026-01-02T03:04:05.678Z",
        run="r-1",
        event=kind,
        story="A-1",
        attempt=2,
        data={"role": "spec-reviewer", **data},
    )

    assert render_event(event).startswith(f"A-1 attempt 2: {words}")


def test_what_a_reviewers_agent_came_to_is_told_by_its_review() -> None:
    """Its end alone says nothing."""
    assert render_event(ended(role="spec-reviewer")) == ""


def test_a_pause_and_its_end() -> None:
    """For how long, until when, of what, and why; or what a person must do."""
    limit = {"cause": "usage_limit", "why": "no more", "until": "2026-01-02T04:04:05.678Z"}
    locked = {"cause": "authentication", "why": "no key", "until": None}

    assert _told(EventKind.RUNNER_PAUSED, **limit).startswith("claude pauses for 1h00m, until ")
    assert _told(EventKind.RUNNER_PAUSED, **limit).endswith("(usage limit): no more")
    assert "log in or give its key: no key" in _told(EventKind.RUNNER_PAUSED, **locked)
    assert _told(EventKind.RUNNER_RESUMED) == "claude may work again"


def _told(kind: EventKind, **data: Any) -> str:
    stamp = "2026-01-02T03:04:05.678Z"
    facts = {"runner": "claude", **data}
    return render_event(Event(seq=1, ts=stamp, run="r-1", event=kind, data=facts))
