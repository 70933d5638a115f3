"""The attempts at a story, from the journal and its failure log. Pure.

Units: seconds; United States dollars (`_usd`); timestamps are UTC, RFC 3339.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from qloop.plan.values import Status
from qloop.state.facts import EventKind
from qloop.state.report import costs_of
from qloop.system.clock import parse_utc
from qloop.ui.delegates import DelegateRun
from qloop.ui.stages import is_makers
from qloop.ui.views import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from qloop.plan.model import Failure, Story
    from qloop.state.likeness import AnyEvent

_JUDGING = (EventKind.GATE_ENDED, EventKind.REVIEW_ENDED, EventKind.DELEGATE_ENDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEnd(View):
    """How an attempt's agent ended."""

    code: int | None
    signal: str | None
    timed_out: bool
    stuck: bool
    seconds: float
    model: str | None = None
    session: str | None = None
    """Its own name for the conversation, by which it can be gone on with."""
    turns: int | None = None
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRun(View):
    """One command that judged an attempt."""

    name: str
    command: str
    green: bool
    code: int | None
    seconds: float
    log: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRun(View):
    """One call of a reviewer."""

    role: str
    runner: str | None
    model: str | None
    passed: bool
    issues: tuple[str, ...]
    reason: str | None
    log: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt(View):
    """One dispatch of a story, as far as it came."""

    number: int | None
    """None for a failure that another writer noted without its number."""
    run: str | None = None
    wave: str | None = None
    runner: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    seconds: float | None = None
    """From its dispatch to its end; None while there is none."""
    worktree: str | None = None
    agent: AgentEnd | None = None
    gates: tuple[GateRun, ...] = ()
    reviews: tuple[ReviewRun, ...] = ()
    delegates: tuple[DelegateRun, ...] = ()
    status: str | None = None
    """What it left the story as; None where it was never settled."""
    phase: str | None = None
    reason: str | None = None
    charged: bool | None = None
    log: str | None = None
    landed: str | None = None
    """The commit on the line."""
    cost_usd: float | None = None
    """What its agents cost; None where none was paid for."""
    estimated_usd: float = 0.0
    """The part of *cost_usd* that is a guess."""
    salvage_ref: str | None = None
    salvage_commit: str | None = None


def attempts_of(
    story: Story, events: Iterable[AnyEvent], salvaged: Mapping[int, tuple[str, str]]
) -> tuple[Attempt, ...]:
    """All attempts at a story, oldest first, from the journal and the story's failure log.

    *salvaged* gives the ref and commit of what was kept, by the attempt's number.
    """
    by_number: dict[int, list[AnyEvent]] = {}
    for event in events:
        if event.story == story.id and event.attempt is not None:
            by_number.setdefault(event.attempt, []).append(event)
    failures = {one.attempt: one for one in story.retries.failure_log if one.attempt is not None}
    known = {
        number: _attempt(number, by_number.get(number, []), failures.get(number), salvaged)
        for number in sorted({*by_number, *failures})
    }
    unnumbered = [one for one in story.retries.failure_log if one.attempt is None]
    return (*(_from_failure(None, one) for one in unnumbered), *known.values())


def _attempt(
    number: int,
    events: Sequence[AnyEvent],
    failure: Failure | None,
    salvaged: Mapping[int, tuple[str, str]],
) -> Attempt:
    made = _from_failure(number, failure) if failure is not None else Attempt(number=number)
    changes: dict[str, Any] = {}
    for event in events:
        changes |= _told(event)
    data = {kind: [one.data for one in events if one.event is kind] for kind in _JUDGING}
    changes["gates"] = tuple(_gate(one) for one in data[EventKind.GATE_ENDED])
    reviews = (one for one in data[EventKind.REVIEW_ENDED] if "role" in one)
    changes["reviews"] = tuple(_review(one) for one in reviews)
    changes["delegates"] = tuple(map(DelegateRun.of, data[EventKind.DELEGATE_ENDED]))
    ref, commit = salvaged.get(number, (None, None))
    changes |= {"salvage_ref": ref, "salvage_commit": commit}
    changes |= costs_of(events)
    changes["seconds"] = _seconds(changes.get("started_at"), changes.get("ended_at"))
    return replace(made, **changes)


def _told(event: AnyEvent) -> dict[str, Any]:
    """What one event says of its attempt."""
    data = event.data
    match event.event:
        case EventKind.ATTEMPT_STARTED:
            start = {"run": event.run, "wave": event.wave, "started_at": event.ts}
            return {**start, "runner": _text(data.get("runner"))}
        case EventKind.AGENT_STARTED if is_makers(data):
            return {"worktree": _text(data.get("worktree"))}
        case EventKind.AGENT_ENDED if is_makers(data):
            return {"agent": _agent_end(data)}
        case EventKind.STORY_LANDED:
            return {"landed": _text(data.get("commit"))}
        case EventKind.STORY_SETTLED:
            return _settled(event)
        case _:
            return {}


def _settled(event: AnyEvent) -> dict[str, Any]:
    data = event.data
    told: dict[str, Any] = {"status": _text(data.get("status")), "ended_at": event.ts}
    for name in ("phase", "reason", "log"):
        if _text(data.get(name)) is not None:
            told[name] = data[name]
    if isinstance(data.get("charged"), bool):
        told["charged"] = data["charged"]
    if _text(data.get("commit")) is not None:
        told["landed"] = data["commit"]
    return told


def _from_failure(number: int | None, failure: Failure) -> Attempt:
    return Attempt(
        number=number,
        status=str(Status.FAILED),
        phase=failure.phase,
        reason=failure.reason,
        log=failure.log,
        ended_at=failure.timestamp,
    )


def _agent_end(data: Mapping[str, Any]) -> AgentEnd:
    return AgentEnd(
        code=_whole(data.get("code")),
        signal=_text(data.get("signal")),
        timed_out=bool(data.get("timed_out")),
        stuck=bool(data.get("stuck")),
        seconds=_number(data.get("seconds")),
        model=_text(data.get("model")),
        session=_text(data.get("session")),
        turns=_whole(data.get("turns")),
        input_tokens=_whole(data.get("input_tokens")) or 0,
        cached_tokens=_whole(data.get("cached_tokens")) or 0,
        output_tokens=_whole(data.get("output_tokens")) or 0,
    )


def _gate(data: Mapping[str, Any]) -> GateRun:
    return GateRun(
        name=_text(data.get("gate")) or "gate",
        command=_text(data.get("command")) or "",
        green=bool(data.get("green")),
        code=_whole(data.get("code")),
        seconds=_number(data.get("seconds")),
        log=_text(data.get("log")),
    )


def _review(data: Mapping[str, Any]) -> ReviewRun:
    issues = data.get("issues")
    return ReviewRun(
        role=_text(data.get("role")) or "reviewer",
        runner=_text(data.get("runner")),
        model=_text(data.get("model")),
        passed=data.get("passed") is True,
        issues=tuple(map(str, issues)) if isinstance(issues, list) else (),
        reason=_text(data.get("reason")),
        log=_text(data.get("log")),
    )


def _seconds(started: str | None, ended: str | None) -> float | None:
    if started is None or ended is None:
        return None
    # A wall clock may be set back.
    return round(max(0.0, (parse_utc(ended) - parse_utc(started)).total_seconds()), 3)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
