"""Where a plan stands: every story, the run at work, the branch and its line; text or JSON.

Units: seconds; United States dollars (`_usd`); timestamps are UTC, RFC 3339.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from qloop.plan.dag import Standing, blockers, standing
from qloop.plan.values import Status
from qloop.state.facts import EventKind
from qloop.state.report import StoryReport, build_report
from qloop.system.clock import render_duration
from qloop.system.counting import counted
from qloop.ui import console
from qloop.ui.amounts import render_cost
from qloop.ui.history import events_of_plan, first_line, parse_moment
from qloop.ui.pauses import PauseView, render_view, view_pauses
from qloop.ui.red_waves import RedWave, find_red_wave

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from qloop.plan.likeness import AnyPlan, AnyStory
    from qloop.state.likeness import AnyEvent

COLUMNS = ("story", "title", "status", "wave", "failures", "time", "cost", "why")
LONGEST_WHY = 120
COUNTED = (Status.PASSED, Status.IN_PROGRESS, Status.PENDING, Status.FAILED, Status.BLOCKED)


class RunView(NamedTuple):
    """The run that run.json names."""

    id: str
    pid: int | None
    since: str
    mode: str


class EndedView(NamedTuple):
    """How the newest run ended."""

    id: str
    at: str
    signal: str | None
    reasons: tuple[str, ...]


class LineView(NamedTuple):
    """The line's newest commit, and how far branch and line are apart."""

    commit: str
    ahead: int
    behind: int


class StoryView(NamedTuple):
    """One story as it stands."""

    id: str
    title: str | None
    status: Status
    attempts: int
    """Those charged to it."""
    max_attempts: int
    started_at: str | None
    wave: str | None
    """The newest wave that dispatched it."""
    seconds: float
    """What its attempts took."""
    reason: str | None
    """Why its last attempt failed, where it has not passed."""
    waits_for: tuple[str, ...]
    """The stories that must pass before it may start."""
    blocked_by: str | None
    """Why it can never run as things stand."""
    unverified: bool
    landed: str | None
    cost_usd: float | None
    """What its agents cost; None where none was paid for."""
    estimated_usd: float
    """The part of *cost_usd* that is a guess."""


class StatusView(NamedTuple):
    """A whole plan as it stands."""

    run: RunView | None
    """The run that holds the repository."""
    interrupted: RunView | None
    """A run that is gone without having ended."""
    last_run: EndedView | None
    pauses: tuple[PauseView, ...]
    """Of the run that is on, or of one that is gone without an end."""
    red_wave: RedWave | None
    branch: str
    line: LineView | None
    state: Standing
    counts: dict[str, int]
    stories: tuple[StoryView, ...]


def build_status(
    plan: AnyPlan[AnyStory],
    events: Sequence[AnyEvent],
    line: LineView | None,
    holder: RunView | None,
    now: datetime,
    *,
    alive: bool,
) -> StatusView:
    """The status of a plan; *alive* tells whether *holder* is still there."""
    told = events_of_plan(plan, events, now)
    report = {row.id: row for row in build_report(plan, told).stories}
    blocked = blockers(plan)
    passed = {story.id for story in plan.stories if story.status is Status.PASSED}
    return StatusView(
        run=holder if alive else None,
        interrupted=None if alive else holder,
        last_run=_last_end(told),
        pauses=view_pauses(told, now.timestamp()),
        red_wave=find_red_wave(told),
        branch=plan.branch_name,
        line=line,
        state=standing(plan),
        counts=_count(plan),
        stories=tuple(
            _view(story, report[story.id], passed, blocked.get(story.id)) for story in plan.stories
        ),
    )


def show_status(view: StatusView, now: datetime) -> None:
    """The status for people, on standard output."""
    for line in headlines(view, now):
        console.result(console.printable(line))
    if view.stories:
        console.result("")
        console.table(COLUMNS, [_row(story, view, now) for story in view.stories])


def headlines(view: StatusView, now: datetime) -> list[str]:
    """The whole in a few lines: plan, run, line, and what the last run left to a person."""
    lines = [f"{view.branch}: {view.state}, {count_words(view.counts)}"]
    if view.run is not None:
        took = _since(view.run.since, now)
        pid = f"pid {view.run.pid}" if view.run.pid is not None else "pid unknown"
        lines.append(f"run {view.run.id} is on ({pid}, {view.run.mode}, for {took})")
    elif view.interrupted is not None:
        lines.append(f"run {view.interrupted.id} is gone without an end; the next run takes it up")
    else:
        lines.append("no run is on")
    if view.line is not None and view.line.ahead:
        lines.append(f"the line is {counted(view.line.ahead, 'commit')} ahead of {view.branch}")
    if view.line is not None and view.line.behind:
        lines.append(
            f"{view.branch} has {counted(view.line.behind, 'commit')} that the line has not"
        )
    lines += [render_view(one, now.timestamp()) for one in view.pauses]
    left = _left_to_person(view)
    red = view.red_wave.text if view.red_wave is not None else ""
    told = red and not any(red in line for line in left)
    return [*lines, *([red] if told else []), *left]


def count_words(counts: Mapping[str, int]) -> str:
    """Counts for people, without those that are zero."""
    words = [f"{count} {name.replace('_', ' ')}" for name, count in counts.items() if count]
    return ", ".join(words) or "no stories"


def _left_to_person(view: StatusView) -> list[str]:
    """Why the last run could not go on, unless one is on or all is done since."""
    last = view.last_run
    if last is None or view.run or view.interrupted or view.state == "complete":
        return []
    if last.signal not in ("BLOCKED", "WAITING"):
        return []
    return [f"the last run ended {last.signal}: {first_line(why)}" for why in last.reasons]


def _view(story: AnyStory, report: StoryReport, passed: set[str], blocked: str | None) -> StoryView:
    waiting = story.status in (Status.PENDING, Status.FAILED)
    needs = dict.fromkeys(story.depends_on) if waiting else {}
    return StoryView(
        id=story.id,
        title=story.title,
        status=story.status,
        attempts=story.attempts,
        max_attempts=story.max_attempts,
        started_at=story.started_at,
        wave=report.waves[-1] if report.waves else None,
        seconds=report.seconds,
        reason=report.reason,
        waits_for=tuple(name for name in needs if name not in passed),
        blocked_by=blocked,
        unverified=report.unverified,
        landed=report.landed,
        cost_usd=report.cost_usd,
        estimated_usd=report.estimated_usd,
    )


def _row(story: StoryView, view: StatusView, now: datetime) -> tuple[str, ...]:
    why = explain(story, view)
    return (
        story.id,
        story.title or "",
        str(story.status),
        story.wave or "",
        f"{story.attempts}/{story.max_attempts}",
        _time(story, now),
        render_cost(story.cost_usd, story.estimated_usd),
        why if len(why) <= LONGEST_WHY else why[: LONGEST_WHY - 1] + "…",
    )


def _time(story: StoryView, now: datetime) -> str:
    if story.status is Status.IN_PROGRESS and story.started_at is not None:
        return f"for {_since(story.started_at, now)}"
    ended = story.status in (Status.PASSED, Status.FAILED) and story.seconds > 0
    return render_duration(story.seconds) if ended else ""


def explain(story: StoryView, view: StatusView) -> str:
    """What a person wants to know of a story beside its status."""
    reason = first_line(story.reason)
    match story.status:
        case Status.PASSED:
            return _why_passed(story)
        case Status.IN_PROGRESS:
            return "" if view.run is not None else "its run is gone; the next one takes it up"
        case Status.FAILED if story.blocked_by is not None:
            return f"{reason or 'failed'}; no attempt is left"
        case Status.BLOCKED | Status.STALE:
            return f"until `qloop story unblock {story.id}`"
        case _:
            return _why_waiting(story, reason)


def _why_passed(story: StoryView) -> str:
    landed = f"landed as {story.landed[:10]}" if story.landed else ""
    unverified = "unverified: no command judged all of it" if story.unverified else ""
    return "; ".join(filter(None, (landed, unverified)))


def _why_waiting(story: StoryView, reason: str) -> str:
    if story.blocked_by is not None:
        return story.blocked_by.removeprefix(f"{story.id} ")
    if story.waits_for:
        return f"waits for {', '.join(story.waits_for)}"
    return f"ready again; {reason}" if reason else "ready"


def _count(plan: AnyPlan[AnyStory]) -> dict[str, int]:
    counts = {str(status): 0 for status in COUNTED}
    for story in plan.stories:
        stale = story.status is Status.STALE
        counts[str(Status.BLOCKED if stale else story.status)] += 1
    return counts


def _last_end(events: Sequence[AnyEvent]) -> EndedView | None:
    for event in reversed(events):
        if event.event is EventKind.RUN_ENDED:
            signal, reasons = event.data.get("signal"), event.data.get("reasons")
            return EndedView(
                id=event.run,
                at=event.ts,
                signal=signal if isinstance(signal, str) else None,
                reasons=tuple(map(str, reasons)) if isinstance(reasons, list) else (),
            )
    return None


def _since(moment: str, now: datetime) -> str:
    at = parse_moment(moment)
    return "?" if at is None else render_duration(max(0.0, (now - at).total_seconds()))
