"""Whether a phase is needed, decided when the mission comes to it, from measured facts.

EXECUTION is never skipped. A person's wish goes before what is measured. A phase after a skipped
one runs as it would after a finished one.
"""

from dataclasses import dataclass
from pathlib import Path

from qloop.mission.known_code import branch_of, find_known, read_code
from qloop.repo.checkout import Repository
from qloop.repo.line import line_ref
from qloop.run.config import load_config
from qloop.run.config_refinement import Refinement
from qloop.state.codebase import Facts
from qloop.state.mission import Mission
from qloop.state.phases import PhaseName

_NO_WISHES = Refinement()


@dataclass(frozen=True, slots=True)
class PhaseChoice:
    """Whether a phase runs, and why."""

    phase: PhaseName
    runs: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a person said of the mission's phases."""

    skips: tuple[PhaseName, ...] = ()
    is_quick: bool = False
    is_team: bool = False
    refinement: Refinement = _NO_WISHES
    own_coordinators: tuple[PhaseName, ...] = ()
    """Phases for which qloop.toml names a program."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of the mission's words and of the code."""

    facts: Facts
    known_from: str | None = None
    """The intent whose RECON saw the same code, if there is one."""
    is_trivial: bool = False


def choose_phase(
    repository: Repository, mission: Mission, phase: PhaseName, folder: Path
) -> PhaseChoice:
    """Whether *phase* is needed in *repository* as it stands now; *folder* is the intent's."""
    config = load_config(repository.root)
    own = tuple(config.phases)
    wishes = Wishes(mission.skips, mission.is_quick, mission.is_team, config.refinement, own)
    wished = by_wish(wishes, phase)
    if wished is not None:
        return wished
    line = line_ref(branch_of(folder)) if phase is PhaseName.REFINEMENT else None
    facts = read_code(repository, line)
    known = find_known(folder, facts.fingerprint) if phase is PhaseName.RECON else None
    return decide_phase(phase, wishes, Measured(facts, known, mission.triage.is_trivial))


def decide_phases(measured: Measured, wishes: Wishes) -> tuple[PhaseChoice, ...]:
    """Which of all phases are needed, in their order. Pure."""
    return tuple(decide_phase(phase, wishes, measured) for phase in PhaseName)


def decide_phase(phase: PhaseName, wishes: Wishes, measured: Measured) -> PhaseChoice:
    """Whether one phase is needed. Pure."""
    wished = by_wish(wishes, phase)
    if wished is not None:
        return wished
    if phase is PhaseName.RECON:
        return _recon(measured)
    if phase is PhaseName.PLANNING:
        runs = not measured.is_trivial
        return PhaseChoice(phase, runs, "the directive is no trivial one" if runs else "trivial")
    return _refinement(measured.facts, wishes.refinement)


def by_wish(wishes: Wishes, phase: PhaseName) -> PhaseChoice | None:
    """What is decided without a look at the code; None where that needs one."""
    if phase is PhaseName.EXECUTION:
        return PhaseChoice(phase, True, "never skipped")
    if phase in wishes.skips:
        return PhaseChoice(phase, False, "a person does not want it")
    if wishes.is_team and phase is PhaseName.PLANNING:
        return PhaseChoice(phase, True, "a gated team plans")
    if wishes.is_team and phase is PhaseName.REFINEMENT:
        return PhaseChoice(phase, False, "a gated team ends with its reviewer")
    if wishes.is_quick:
        return PhaseChoice(phase, False, "quick")
    if phase is PhaseName.REFINEMENT and not wishes.refinement.auto:
        return PhaseChoice(phase, False, "disabled by [refinement] auto in qloop.toml")
    if phase in wishes.own_coordinators:
        return PhaseChoice(phase, True, "qloop.toml gives it a coordinator")
    return None


def _recon(measured: Measured) -> PhaseChoice:
    phase = PhaseName.RECON
    if measured.facts.is_greenfield:
        return PhaseChoice(phase, False, "greenfield: no source file is tracked")
    if measured.known_from is not None:
        seen = f"known codebase: the fingerprint is that of {measured.known_from}"
        return PhaseChoice(phase, False, seen)
    if measured.is_trivial:
        return PhaseChoice(phase, False, "trivial")
    return PhaseChoice(phase, True, "this code was not looked at yet")


def _refinement(facts: Facts, refinement: Refinement) -> PhaseChoice:
    phase = PhaseName.REFINEMENT
    if facts.has_ui:
        sign = facts.ui[0]
        return PhaseChoice(phase, True, f"there is a UI: {sign.kind} ({sign.source.path})")
    if refinement.serve is not None:
        return PhaseChoice(phase, True, "no UI is tracked, but qloop.toml says how it is served")
    if refinement.flows:
        return PhaseChoice(phase, True, "no UI, but qloop.toml declares flows")
    return PhaseChoice(phase, False, "no UI")
