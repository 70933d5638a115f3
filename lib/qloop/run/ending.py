"""How a run ends where nothing can go on: its signal, its exit code, and why. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from qloop.plan.dag import blockers, next_wave, standing
from qloop.plan.likeness import AnyPlan, AnyStory
from qloop.system.errors import QloopError


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended: its signal, its exit code, and what a person should know."""

    signal: str
    exit_code: int
    reasons: tuple[str, ...] = ()
    error: QloopError | None = None
    """What a person must correct before a run can do anything."""


@dataclass(frozen=True, slots=True)
class Halt:
    """What a driver knows at the point where it starts nothing more."""

    interrupted: bool
    refused: QloopError | None
    """A model or an option that a runner does not take."""
    waiting: str | None
    """What a person must decide."""
    stuck: str | None
    """Why no wave can be started any more."""
    stopped: Mapping[str, str]
    """Stories that this run gave up, and why."""
    unpaid: Collection[str]
    """Those among them whose own budget has nothing left."""
    pauses: tuple[str, ...]
    """Why stories wait for their runners."""
    started: int
    """How many waves it ran."""
    may_start: bool
    """Whether it may start another, as far as waves are counted."""


def conclude(plan: AnyPlan[AnyStory], halt: Halt) -> Ending:
    """The end of a run whose plan stands so."""
    if halt.interrupted:
        return Ending("INTERRUPTED", 130, ("`qloop run` goes on from here",))
    if standing(plan) == "complete":
        return Ending("COMPLETE", 0)
    if halt.refused is not None:
        return Ending("BLOCKED", halt.refused.exit_code, (), halt.refused)
    if halt.waiting is not None:
        return Ending("WAITING", 3, (halt.waiting,))
    reasons = tuple(f"{story}: {why}" for story, why in halt.stopped.items())
    if halt.stuck is not None:
        return Ending("BLOCKED", 1, (halt.stuck, *reasons))
    if next_wave(plan, free_slots=1, running=(), excluded=halt.stopped):
        return _with_work_left(halt, reasons)
    reasons = (*reasons, *blockers(plan, halt.stopped).values())
    return Ending("WAITING", 3, reasons) if halt.unpaid else Ending("BLOCKED", 1, reasons)


def _with_work_left(halt: Halt, reasons: tuple[str, ...]) -> Ending:
    if halt.pauses and halt.may_start:
        return Ending("WAITING", 3, (*halt.pauses, *reasons))
    return Ending("MAX_ITERATIONS", 2, (f"waves run, as many as asked: {halt.started}",))
