"""What a report tells of a plan and its runs, as values that pages are written from. Pure.

Units: seconds; timestamps are UTC, RFC 3339.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qloop.plan.model import Plan, Story
from qloop.state.facts import is_beside
from qloop.state.journal import Event, EventKind
from qloop.ui.attempts import Attempt, attempts_of
from qloop.ui.findings import finding_text
from qloop.ui.history import parse_moment
from qloop.ui.status import StatusView, StoryView
from qloop.ui.timeline import Timeline, build_timeline
from qloop.ui.views import View


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow(View):
    """A file that a landed commit changed; None for lines of what is no text."""

    path: str
    added: int | None
    deleted: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryPart(View):
    """One story in the report."""

    story: Story
    standing: StoryView
    attempts: tuple[Attempt, ...]
    changed: tuple[FileRow, ...] | None
    """What its landed commit changed; None where none is known."""
    outputs: dict[int, str]
    """The end of what its agent printed, by the number of an attempt that did not land."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPart(View):
    """One run in the report."""

    id: str
    started_at: str
    ended_at: str | None
    """None where it has not ended, or was cut short."""
    seconds: float
    signal: str | None
    reasons: tuple[str, ...]
    timeline: Timeline | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(View):
    """Something that a person should know of, beside the stories."""

    at: str | None
    where: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(View):
    """All of it."""

    plan: Plan
    status: StatusView
    made_at: str
    runs: tuple[RunPart, ...]
    """Oldest first."""
    stories: tuple[StoryPart, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Sources:
    """What is known beside the plan and its status."""

    events: Sequence[Event]
    """Of this plan, in order; those of one run only, where the report is about that one."""
    only_run: str | None
    salvaged: Mapping[str, Mapping[int, tuple[str, str]]]
    """By story id and number of the attempt: the ref and the commit that keep its work."""
    changed: Mapping[str, tuple[FileRow, ...]]
    """By commit."""
    outputs: Mapping[str, Mapping[int, str]]
    """By story id and number of the attempt."""


def build_report_view(plan: Plan, status: StatusView, known: Sources, made_at: str) -> Report:
    """The report of a plan's runs, or of one of them."""
    by_story: dict[str, list[Event]] = {}
    by_run: dict[str, list[Event]] = {}
    for event in known.events:
        if is_beside(event.run):
            continue
        by_run.setdefault(event.run, []).append(event)
        if event.story is not None:
            by_story.setdefault(event.story, []).append(event)
    standings = {row.id: row for row in status.stories}
    return Report(
        plan=plan,
        status=status,
        made_at=made_at,
        runs=tuple(_run(events) for events in by_run.values()),
        stories=tuple(
            _story(story, standings[story.id], by_story.get(story.id, []), known)
            for story in plan.stories
        ),
        findings=tuple(_findings(plan, known)),
    )


def failed_attempts(plan: Plan, events: Iterable[Event]) -> list[tuple[str, int]]:
    """The attempts that were settled as failed: story ids and numbers."""
    ids = {story.id for story in plan.stories}
    return [
        (event.story, event.attempt)
        for event in events
        if event.event is EventKind.STORY_SETTLED
        and event.story in ids
        and event.attempt is not None
        and event.data.get("status") != "passed"
    ]


def landed_commits(events: Iterable[Event]) -> list[str]:
    """The commits that the journal says have landed."""
    kinds = (EventKind.STORY_LANDED, EventKind.STORY_SETTLED)
    told = (event.data.get("commit") for event in events if event.event in kinds)
    return [commit for commit in told if isinstance(commit, str)]


def _story(story: Story, standing: StoryView, events: Sequence[Event], known: Sources) -> StoryPart:
    attempts = attempts_of(story, events, known.salvaged.get(story.id, {}))
    if known.only_run is not None:
        attempts = tuple(one for one in attempts if one.run == known.only_run)
    return StoryPart(
        story=story,
        standing=standing,
        attempts=attempts,
        changed=known.changed.get(standing.landed) if standing.landed else None,
        outputs=dict(known.outputs.get(story.id, {})),
    )


def _run(events: Sequence[Event]) -> RunPart:
    end = next((one for one in reversed(events) if one.event is EventKind.RUN_ENDED), None)
    data: Mapping[str, Any] = end.data if end is not None else {}
    signal, reasons = data.get("signal"), data.get("reasons")
    first, last = parse_moment(events[0].ts), parse_moment(events[-1].ts)
    took = (last - first).total_seconds() if first is not None and last is not None else 0.0
    return RunPart(
        id=events[0].run,
        started_at=events[0].ts,
        ended_at=end.ts if end is not None else None,
        seconds=max(0.0, took),
        signal=signal if isinstance(signal, str) else None,
        reasons=tuple(map(str, reasons)) if isinstance(reasons, list) else (),
        timeline=build_timeline(events),
    )


def _findings(plan: Plan, known: Sources) -> Iterable[Finding]:
    told = [one for event in known.events if (one := _told(event)) is not None]
    yield from told
    if known.only_run is None:
        texts = {one.text for one in told}
        yield from (one for one in _at_waves_ends(plan) if one.text not in texts)
    for story in plan.stories:
        review = story.review
        for name, part in (("spec", review.spec_compliance), ("quality", review.code_quality)):
            where = f"{story.id}, {name}"
            for issue in part.issues:
                yield Finding(at=part.reviewed_at, where=where, text=str(issue))


def _at_waves_ends(plan: Plan) -> Iterable[Finding]:
    for wave in plan.execution.completed_waves:
        for one in wave.findings:
            yield Finding(at=wave.completed_at, where=str(wave.id), text=finding_text(one))


def _told(event: Event) -> Finding | None:
    text = _finding(event)
    if not text:
        return None
    number = f"attempt {event.attempt}" if event.attempt else None
    named = [part for part in (event.story, number, event.wave) if part]
    return Finding(at=event.ts, where=", ".join(named) or event.run, text=text)


def _finding(event: Event) -> str:
    """What an event means to a person, beside the way of its story; empty for most."""
    data = event.data
    match event.event:
        case EventKind.GUARD_BREACHED:
            return f"the guard tripped: {data.get('reason', '')}"
        case EventKind.PERSON_CHANGED:
            return _person_changed(data)
        case EventKind.STATE_REPAIRED:
            return _repaired(data)
        case EventKind.WAVE_ENDED:
            return _text(data.get("disagreement"))
        case EventKind.WAVE_RECOGNIZED:
            return _text(data.get("text"))
        case EventKind.RUN_STARTED:
            return _text(data.get("notes"))
        case EventKind.GATE_ENDED if event.story is None and data.get("green") is False:
            return f"{data.get('gate', 'a gate')} was red: {data.get('command', '')}"
        case _:
            return ""


def _person_changed(data: Mapping[str, Any]) -> str:
    if data.get("taken_in"):
        return (
            f"commits made on {data.get('branch', 'the branch')} were taken in: {data['taken_in']}"
        )
    return f"changed meanwhile, not by an agent: {_text(data.get('changes'))}"


def _repaired(data: Mapping[str, Any]) -> str:
    if data.get("restored"):
        return f"landed work that the agent had dropped was put back: {_text(data['restored'])}"
    if data.get("blocked"):
        return _text(data["blocked"])
    return _text(data.get("text"))


def _text(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return str(value) if value else ""
