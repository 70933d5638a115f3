"""Whether a phase is needed, decided when the mission comes to it. Facts come from the repository.

A person's wish goes first; EXECUTION is never skipped.
"""

from dataclasses import dataclass

from qloop.repo.checkout import Repository
from qloop.state.mission import Mission
from qloop.state.phases import PhaseName


@dataclass(frozen=True, slots=True)
class PhaseChoice:
    """Whether a phase runs, and why."""

    phase: PhaseName
    runs: bool
    reason: str


def choose_phase(repository: Repository, mission: Mission, phase: PhaseName) -> PhaseChoice:  # noqa: ARG001
    """Whether *phase* is needed in *repository* as it stands now."""
    if phase is PhaseName.EXECUTION:
        return PhaseChoice(phase, True, "never skipped")
    if phase in mission.skips:
        return PhaseChoice(phase, False, "a person does not want it")
    if mission.is_quick or mission.triage.is_trivial:
        return PhaseChoice(phase, False, "quick" if mission.is_quick else "trivial")
    return PhaseChoice(phase, True, "needed")
