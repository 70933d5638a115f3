"""What each phase is there for: its objectives, its roster, what it leaves behind."""

from dataclasses import dataclass

from qloop.state.phases import PhaseName


@dataclass(frozen=True, slots=True)
class PhaseConfig:
    """A phase as its coordinator is told of it."""

    objectives: tuple[str, ...]
    agents: tuple[str, ...]
    """The roles of its roster."""
    output: tuple[str, ...]
    """What must be there when it is complete, in the intent's folder."""
    execution_model: str | None = None


PHASES = {
    PhaseName.RECON: PhaseConfig(
        objectives=("understand the repository's structure", "identify its conventions"),
        agents=("scout",),
        output=("recon/RECON_REPORT.md", "recon/ARCHITECTURE.md"),
    ),
    PhaseName.PLANNING: PhaseConfig(
        objectives=("enhance the directive", "make a plan that can be carried out side by side"),
        agents=("upscaler", "planner"),
        output=("spec.md", "quantum.json", "plans/EXECUTION_DAG.md", "plans/blocks"),
    ),
    PhaseName.EXECUTION: PhaseConfig(
        objectives=("carry out every story", "verify each", "handle failures and retries"),
        agents=("implementer", "recognizer"),
        output=("execution/summaries",),
        execution_model="DAG",
    ),
    PhaseName.REFINEMENT: PhaseConfig(
        objectives=("inspect what people see", "try every flow", "say what to improve"),
        agents=("visual-inspector", "e2e-exerciser", "persona-simulator", "refinement-synth"),
        output=("refinement/REFINEMENT_PLAN.md",),
    ),
}
TEAM_ROSTERS = {
    PhaseName.PLANNING: ("brainstorming", "spec-specialist", "planner"),
    PhaseName.EXECUTION: ("implementer", "reviewer"),
}
"""Who works in a phase where a gated team takes the intent."""
ORDER = tuple(PhaseName)


def roster_of(phase: PhaseName, *, is_team: bool) -> tuple[str, ...]:
    """The roles that work in a phase."""
    own = TEAM_ROSTERS.get(phase) if is_team else None
    return PHASES[phase].agents if own is None else own


def after(phase: PhaseName) -> PhaseName | None:
    """The phase that follows."""
    place = ORDER.index(phase) + 1
    return ORDER[place] if place < len(ORDER) else None
