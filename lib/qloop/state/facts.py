"""The journal's events as light values, for who only looks at them; the same lines count."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path


PLANNING = "p-"
"""How an id begins under which a plan is made; that of a run begins with `r-`."""
DELEGATION = "d-"
"""How an id begins under which a person asks a delegate."""
MISSION = "m-"
"""How an id begins under which a mission's own events stand."""


class EventKind(StrEnum):
    """What can happen."""

    RUN_STARTED = "run.started"
    RUN_ENDED = "run.ended"
    RUN_HANDED_OVER = "run.handed_over"
    WAVE_STARTED = "wave.started"
    WAVE_ENDED = "wave.ended"
    WAVE_RECOGNIZED = "wave.recognized"
    ATTEMPT_STARTED = "attempt.started"
    AGENT_STARTED = "agent.started"
    AGENT_ENDED = "agent.ended"
    GUARD_BREACHED = "guard.breached"
    GATE_ENDED = "gate.ended"
    REVIEW_ENDED = "review.ended"
    MERGE_ENDED = "merge.ended"
    DELEGATE_ENDED = "delegate.ended"
    STORY_LANDED = "story.landed"
    STORY_SETTLED = "story.settled"
    STATE_REPAIRED = "state.repaired"
    PERSON_CHANGED = "person.changed"
    RUNNER_PAUSED = "runner.paused"
    RUNNER_RESUMED = "runner.resumed"
    PHASE_STARTED = "phase.started"
    PHASE_ENDED = "phase.ended"
    CHECKPOINT_OPENED = "checkpoint.opened"
    CHECKPOINT_ANSWERED = "checkpoint.answered"
    BUDGET_RESERVED = "budget.reserved"
    BUDGET_SETTLED = "budget.settled"


class Fact(NamedTuple):
    """One line of the journal, as far as looking needs it."""

    ts: str
    run: str
    event: EventKind
    wave: str | None
    story: str | None
    attempt: int | None
    data: dict[str, Any]


def is_planning(run: str) -> bool:
    """Whether an id is not of a run but of a plan's making."""
    return run.startswith(PLANNING)


def is_beside(run: str) -> bool:
    """Whether an id is of no run, but of what was done beside them."""
    return run.startswith((PLANNING, DELEGATION, MISSION))


_KINDS = {str(kind): kind for kind in EventKind}


def read_facts(path: Path) -> list[Fact]:
    """All events of a journal; lines that are no events are skipped. Raises OSError."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    import orjson

    found = []
    for line in data[: data.rfind(b"\n") + 1].split(b"\n"):
        try:
            fact = _parse(orjson.loads(line))
        except orjson.JSONDecodeError:
            continue
        if fact is not None:
            found.append(fact)
    return found


def _parse(line: Any) -> Fact | None:
    if not isinstance(line, dict) or not _is_number(line.get("seq")):
        return None
    ts, run, kind = line.get("ts"), line.get("run"), _KINDS.get(str(line.get("event")))
    wave, story, attempt = line.get("wave"), line.get("story"), line.get("attempt")
    data = line.get("data")
    if kind is None or not isinstance(data, dict) or not (isinstance(run, str) and run):
        return None
    if not isinstance(ts, str) or not all(isinstance(name, str | None) for name in (wave, story)):
        return None
    if attempt is not None and not _is_number(attempt):
        return None
    return Fact(ts, run, kind, wave, story, attempt, data)


def _is_number(value: Any) -> bool:
    return type(value) is int and value > 0
