"""What a mission hands down to a phase coordinator, as one line of JSON."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from qloop.mission.phases import PHASES, roster_of
from qloop.state.mission import Checkpoint, Mission
from qloop.state.phases import Autonomy, PhaseName, PhaseStatus, TeamSetting, Warmth

ASKED = "checkpoint"
"""Under which the context of an answered question has its id."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Config(_Part):
    """The phase's own part."""

    objectives: tuple[str, ...]
    agents: tuple[str, ...]
    output: tuple[str, ...]
    execution_model: str | None = None


class BudgetLeft(_Part):
    """What may still be spent, in United States dollars; None where there is no limit."""

    remaining: float | None = None
    limit: float | None = None


class PriorPhase(_Part):
    """What a phase before came to; of one that was skipped, why."""

    phase: PhaseName
    summary: str


class MissionContext(_Part):
    """What every phase knows of the mission."""

    directive: str
    autonomy: Autonomy
    budget: BudgetLeft = BudgetLeft()
    constraints: tuple[str, ...] = ()
    warmth: Warmth = Warmth()
    prior_phases: tuple[PriorPhase, ...] = ()


class UserResponse(_Part):
    """What a person answered to the phase's question."""

    option: str
    note: str = ""


class PhaseOrder(_Part):
    """One phase, to be coordinated once."""

    phase: PhaseName
    intent_dir: str
    run_id: str
    """Under which the phase's agents stand in the journal."""
    is_quick: bool = False
    team: TeamSetting | None = None
    """How a person wants the members of its team asked."""
    may_destroy: bool = False
    """Whether destructive actions begin without a question."""
    round: int = 0
    """A new one begins the phase from its beginning."""
    phase_config: Config
    mission_context: MissionContext
    checkpoint_context: dict[str, Any] | None = None
    user_response: UserResponse | None = None


def make_order(
    mission: Mission, phase: PhaseName, folder: str, run_id: str, spent_usd: float
) -> PhaseOrder:
    """The order of the next coordinator of *phase*, with the answer that it may go on by."""
    config = PHASES[phase]
    answered = answer_for(mission, phase)
    limit = mission.limit_usd
    left = None if limit is None else max(0.0, limit - spent_usd)
    return PhaseOrder(
        phase=phase,
        intent_dir=folder,
        run_id=run_id,
        is_quick=mission.is_quick,
        team=mission.team,
        may_destroy=mission.may_destroy,
        round=mission.phase(phase).rounds,
        phase_config=Config(
            objectives=config.objectives,
            agents=roster_of(phase, is_team=mission.is_team),
            output=config.output,
            execution_model=config.execution_model,
        ),
        mission_context=MissionContext(
            directive=mission.directive,
            autonomy=mission.autonomy,
            budget=BudgetLeft(remaining=left, limit=limit),
            constraints=mission.constraints,
            warmth=mission.warmth,
            prior_phases=_prior(mission, phase),
        ),
        checkpoint_context=None if answered is None else {**answered.context, ASKED: answered.id},
        user_response=_response(answered),
    )


def answer_for(mission: Mission, phase: PhaseName) -> Checkpoint | None:
    """The answered question that the next coordinator of *phase* is to act on."""
    found = [
        one
        for one in mission.checkpoints
        if one.phase is phase and one.answer is not None and not one.is_used
    ]
    return found[-1] if found else None


def _response(answered: Checkpoint | None) -> UserResponse | None:
    if answered is None or answered.answer is None:
        return None
    return UserResponse(option=answered.answer.option, note=answered.answer.note)


def _prior(mission: Mission, phase: PhaseName) -> tuple[PriorPhase, ...]:
    words = {PhaseStatus.COMPLETE: "", PhaseStatus.SKIPPED: "skipped: "}
    return tuple(
        PriorPhase(phase=run.phase, summary=f"{words[run.status]}{run.note}")
        for run in mission.phases
        if run.phase is not phase and run.status in words
    )
