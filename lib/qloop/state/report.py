"""What became of each story in a run: the value that summary, `status` and `show` draw. Pure.

Units: seconds; United States dollars (`_usd`).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from qloop.plan.values import Status
from qloop.state.facts import EventKind
from qloop.system.clock import parse_utc

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qloop.plan.likeness import AnyPlan, AnyStory
    from qloop.state.likeness import AnyEvent

_LANDINGS = (EventKind.STORY_LANDED, EventKind.STORY_SETTLED)


class StoryReport(NamedTuple):
    """One story: where it stands, and what this run did about it."""

    id: str
    title: str | None
    status: Status
    waves: tuple[str, ...] = ()
    """The waves that dispatched it, in order."""
    attempts: int = 0
    """Its dispatches in this run."""
    charged: int = 0
    """The attempts charged to it, over all runs."""
    seconds: float = 0.0
    """What its attempts took; one still at work counts up to the run's newest event."""
    reason: str | None = None
    """Why it has not passed, where that is known."""
    unverified: bool = False
    """It passed, but at least one of its reviews rests on no command."""
    landed: str | None = None
    """The commit that landed in this run."""
    cost_usd: float | None = None
    """What its agents cost; None where none was paid for."""
    estimated_usd: float = 0.0
    """The part of *cost_usd* that is a guess."""


class RunReport(NamedTuple):
    """All stories of a plan, in the file's order, and what they come to."""

    run: str | None
    stories: tuple[StoryReport, ...]
    totals: dict[Status, int]
    """How many stories stand where; a status that no story has is left out."""
    seconds: float
    """From the run's first event to its newest."""
    cost_usd: float | None = None
    """What all its agents cost, those of no story included; None where none was paid for."""
    estimated_usd: float = 0.0
    """The part of *cost_usd* that is a guess."""


def build_report(plan: AnyPlan[AnyStory], events: Sequence[AnyEvent]) -> RunReport:
    """The report of one run: *events* are that run's, in order."""
    by_story: dict[str, list[AnyEvent]] = {}
    for event in events:
        if event.story is not None:
            by_story.setdefault(event.story, []).append(event)
    newest = events[-1].ts if events else ""
    stories = tuple(
        _report_story(story, by_story.get(story.id, []), newest) for story in plan.stories
    )
    return RunReport(
        run=events[0].run if events else None,
        stories=stories,
        totals=dict(Counter(story.status for story in stories)),
        seconds=_seconds_between(events[0].ts, newest) if events else 0.0,
        **costs_of(events),
    )


def _report_story(story: AnyStory, events: Sequence[AnyEvent], newest: str) -> StoryReport:
    passed = story.status is Status.PASSED
    reason = None if passed else _last_reason(story, events)
    unverified = passed and story.is_unverified
    if not events:  # of most stories of a large plan nothing is known yet
        told = (story.id, story.title, story.status)
        return StoryReport(*told, charged=story.attempts, reason=reason, unverified=unverified)
    started = [event for event in events if event.event is EventKind.ATTEMPT_STARTED]
    return StoryReport(
        id=story.id,
        title=story.title,
        status=story.status,
        waves=tuple(dict.fromkeys(event.wave for event in started if event.wave is not None)),
        attempts=len(started),
        charged=story.attempts,
        seconds=_seconds_at_work(events, newest),
        reason=reason,
        unverified=unverified,
        landed=_last_landed(events),
        **costs_of(events),
    )


def costs_of(events: Iterable[AnyEvent]) -> dict[str, float]:
    """`cost_usd` and `estimated_usd` of the agents in *events*; empty where none was paid for."""
    from qloop.state.spending import ESTIMATED, UNUSED, Book, total_usd

    book = Book()
    book.take(events)
    paid = [one for one in book.calls.values() if one.cost_micros and one.source != UNUSED]
    if not paid:
        return {}
    guessed = (one for one in paid if one.source == ESTIMATED)
    return {"cost_usd": total_usd(paid), "estimated_usd": total_usd(guessed)}


def _seconds_at_work(events: Iterable[AnyEvent], newest: str) -> float:
    total = 0.0
    since: str | None = None
    for event in events:
        if event.event is EventKind.ATTEMPT_STARTED:
            since = event.ts
        elif event.event is EventKind.STORY_SETTLED and since is not None:
            total += _seconds_between(since, event.ts)
            since = None
    return round(total if since is None else total + _seconds_between(since, newest), 3)


def _last_reason(story: AnyStory, events: Sequence[AnyEvent]) -> str | None:
    """The newest failure's reason: of this run, else of the file's failure log."""
    for event in reversed(events):
        if event.event is EventKind.STORY_SETTLED and event.data.get("reason"):
            return str(event.data["reason"])
    return story.last_reason


def _last_landed(events: Sequence[AnyEvent]) -> str | None:
    commits = [event.data.get("commit") for event in events if event.event in _LANDINGS]
    return next((commit for commit in reversed(commits) if isinstance(commit, str)), None)


def _seconds_between(earlier: str, later: str) -> float:
    """Never negative: a wall clock may be set back."""
    return max(0.0, (parse_utc(later) - parse_utc(earlier)).total_seconds())
