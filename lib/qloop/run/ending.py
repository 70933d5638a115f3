"""How a run ends where nothing can go on: its signal, its exit code, and why. Pure."""

from dataclasses import dataclass, replace

from qloop.plan.dag import blockers, next_wave, standing
from qloop.plan.likeness import AnyPlan, AnyStory
from qloop.run.given_up import GivenUp
from qloop.system.errors import QloopError


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended: its signal, its exit code, and what a person should know."""

    signal: str
    exit_code: int
    reasons: tuple[str, ...] = ()
    error: QloopError | None = None
    """What a person must correct before a run can do anything."""

    def noting(self, text: str | None) -> "Ending":
        """The same, with one thing more to know."""
        return self if text is None else replace(self, reasons=(*self.reasons, text))


@dataclass(frozen=True, slots=True)
class Halt:
    """What a driver knows at the point where it starts nothing more."""

    interrupted: bool
    refused: QloopError | None
    """A model or an option that a runner does not take."""
    waiting: str | None
    """What a person must decide."""
    red: str | None
    """What has landed and does not hold."""
    given_up: GivenUp
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
    if halt.red is not None:
        return Ending("WAITING", 3, tuple(filter(None, (halt.red, halt.waiting))))
    if standing(plan) == "complete":
        return Ending("COMPLETE", 0)
    if halt.refused is not None:
        return Ending("BLOCKED", halt.refused.exit_code, (), halt.refused)
    if halt.waiting is not None:
        return Ending("WAITING", 3, (halt.waiting,))
    reasons = tuple(f"{story}: {why}" for story, why in halt.given_up.stories.items())
    if halt.given_up.stuck is not None:
        return Ending("BLOCKED", 1, (halt.given_up.stuck, *reasons))
    if next_wave(plan, free_slots=1, running=(), excluded=halt.given_up.stories):
        return _with_work_left(halt, reasons)
    reasons = (*reasons, *blockers(plan, halt.given_up.stories).values())
    return Ending("WAITING", 3, reasons) if halt.given_up.unpaid else Ending("BLOCKED", 1, reasons)


def _with_work_left(halt: Halt, reasons: tuple[str, ...]) -> Ending:
    if halt.pauses and halt.may_start:
        return Ending("WAITING", 3, (*halt.pauses, *reasons))
    return Ending("MAX_ITERATIONS", 2, (f"waves run, as many as asked: {halt.started}",))
