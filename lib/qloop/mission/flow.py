"""What a mission does next, and what an event or an answer makes of it. Pure.

A phase needs those before it to be complete or skipped. An answer counts until the coordinator
that was given it has said its event, so that a crash in between loses none.
"""

from dataclasses import dataclass
from typing import Any

from qloop.mission.phase_order import answer_for
from qloop.mission.phases import after
from qloop.state.mission import Answer, Checkpoint, Mission, MissionStatus, PhaseRun
from qloop.state.phase_events import (
    Option,
    PhaseCheckpoint,
    PhaseComplete,
    PhaseEvent,
    PhaseFailure,
)
from qloop.state.phases import Autonomy, PhaseName, PhaseStatus

ABANDON = Option(id="abandon", description="end the mission; what has landed stays")
RETRY = Option(id="retry", description="a fresh coordinator tries the phase again")
GO_ON = Option(id="go-on", description="go on with the next phase")
REDO = Option(id="redo", description="do this phase again from its beginning")
PHASE_END = "phase_end"
BUDGET = "budget"
PHASE_FAILURE = "phase_failure"
ASKED_AT_ITS_END = (PhaseName.RECON, PhaseName.EXECUTION)
"""PLANNING asks for approval of its plan, and after REFINEMENT nothing follows."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A person must answer first."""

    checkpoint: Checkpoint


@dataclass(frozen=True, slots=True)
class Start:
    """A fresh coordinator of a phase is due."""

    phase: PhaseName


@dataclass(frozen=True, slots=True)
class Finish:
    """All phases are over."""


Step = Ask | Start | Finish


def next_step(mission: Mission) -> Step:
    """What is due in a mission that is not over."""
    waiting = mission.open_checkpoint
    if waiting is not None:
        return Ask(waiting)
    current = mission.current
    return Finish() if current is None else Start(current.phase)


def begin_phase(mission: Mission, run: PhaseRun) -> Mission:
    """A coordinator was started."""
    return mission.with_phase(run).model_copy(update={"status": MissionStatus.ACTIVE})


def skip_phase(mission: Mission, phase: PhaseName, reason: str) -> Mission:
    """A phase that is not needed."""
    update = {"status": PhaseStatus.SKIPPED, "note": reason}
    return mission.with_phase(mission.phase(phase).model_copy(update=update))


def take_event(mission: Mission, event: PhaseEvent, seconds: float, at: str) -> Mission:
    """The mission after its coordinator's event; a question is opened where one is due."""
    mission = _use_answers(mission, event.phase_id)
    before = mission.phase(event.phase_id)
    run = before.model_copy(
        update={"seconds": before.seconds + seconds, "process": None, "failure_type": None}
    )
    match event:
        case PhaseComplete():
            return _complete(mission, run, event, at)
        case PhaseCheckpoint():
            run = run.model_copy(update={"status": PhaseStatus.CHECKPOINT, "note": event.question})
            asked = (event.checkpoint_type, event.question, event.options, event.context)
            return open_checkpoint(mission.with_phase(run), event.phase_id, *asked, at)
        case PhaseFailure():
            return _fail(mission, run, event, at)


def _complete(mission: Mission, run: PhaseRun, event: PhaseComplete, at: str) -> Mission:
    run = run.model_copy(
        update={
            "status": PhaseStatus.COMPLETE,
            "note": event.summary,
            "outputs": event.outputs,
            "metrics": event.metrics,
        }
    )
    warmth = mission.warmth.merged(event.warmth)
    mission = mission.with_phase(run).model_copy(update={"warmth": warmth})
    if _goes_back(run, event):
        return _reopen(_reopen(mission, PhaseName.EXECUTION), PhaseName.REFINEMENT)
    if mission.autonomy is Autonomy.AUTOPILOT or run.phase not in ASKED_AT_ITS_END:
        return mission
    follows = after(run.phase)
    question = f"{run.phase} is complete: {event.summary}. Go on with {follows}?"
    return open_checkpoint(mission, run.phase, PHASE_END, question, (GO_ON, REDO, ABANDON), {}, at)


def _goes_back(run: PhaseRun, event: PhaseComplete) -> bool:
    """Whether what was refined is to be carried out: once, so that a mission comes to an end."""
    is_refined = run.phase is PhaseName.REFINEMENT and event.next_phase is PhaseName.EXECUTION
    return is_refined and run.rounds == 0


def _reopen(mission: Mission, phase: PhaseName) -> Mission:
    """The mission in which a phase is to be done again from its beginning."""
    run = mission.phase(phase)
    update = {"status": PhaseStatus.PENDING, "rounds": run.rounds + 1}
    return mission.with_phase(run.model_copy(update=update))


def _fail(mission: Mission, run: PhaseRun, event: PhaseFailure, at: str) -> Mission:
    run = run.model_copy(
        update={
            "status": PhaseStatus.FAILED,
            "note": event.reason,
            "failure_type": event.failure_type,
        }
    )
    usual = {option.id: option for option in (RETRY, ABANDON)}
    known = {option.id: option for option in event.recovery_options}
    context: dict[str, Any] = {
        "reason": PHASE_FAILURE,
        "failed_phase": run.phase,
        "failure_type": event.failure_type,
        "partial_work": event.partial_work.model_dump(mode="json"),
    }
    question = asking(f"{run.phase} failed: {event.reason}", "How to go on?")
    options = (*known.values(), *(one for name, one in usual.items() if name not in known))
    failed = mission.with_phase(run)
    return open_checkpoint(failed, run.phase, PHASE_FAILURE, question, options, context, at)


def asking(told: str, question: str) -> str:
    """A question after what is told; it follows the first line, the others stand below it."""
    first, *more = told.splitlines() or [""]
    return "\n".join((f"{first.rstrip('.')}. {question}", *more))


def open_checkpoint(
    mission: Mission,
    phase: PhaseName,
    kind: str,
    question: str,
    options: tuple[Option, ...],
    context: dict[str, Any],
    at: str,
) -> Mission:
    """The mission with a question that waits for a person."""
    if not any(option.id == ABANDON.id for option in options):
        options = (*options, ABANDON)
    made = Checkpoint(
        id=f"cp-{mission.id}-{len(mission.checkpoints) + 1}",
        phase=phase,
        type=kind,
        question=question,
        options=options,
        context=context,
        opened_at=at,
    )
    known = (*mission.checkpoints, made)
    return mission.model_copy(update={"checkpoints": known, "status": MissionStatus.CHECKPOINT})


def take_answer(mission: Mission, checkpoint: Checkpoint, answer: Answer) -> Mission:
    """The mission after a person's answer; what only the mission acts on is acted on here."""
    answered = checkpoint.model_copy(update={"answer": answer})
    mission = mission.with_checkpoint(answered)
    if answer.option == ABANDON.id:
        used = mission.with_checkpoint(answered.model_copy(update={"is_used": True}))
        return used.model_copy(update={"status": MissionStatus.ABANDONED})
    mission = mission.model_copy(update={"status": MissionStatus.INTERRUPTED})
    if checkpoint.type not in (PHASE_END, BUDGET):
        return mission
    mission = mission.with_checkpoint(answered.model_copy(update={"is_used": True}))
    if answer.option != REDO.id:
        return mission
    return _reopen(mission, checkpoint.phase)


def _use_answers(mission: Mission, phase: PhaseName) -> Mission:
    while (one := answer_for(mission, phase)) is not None:
        mission = mission.with_checkpoint(one.model_copy(update={"is_used": True}))
    return mission
