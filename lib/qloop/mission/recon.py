"""RECON: what the repository is."""

from qloop.mission.phase_desk import PhaseDesk
from qloop.state.phase_events import PhaseEvent


def coordinate(desk: PhaseDesk) -> PhaseEvent:
    """Read the repository."""
    return desk.complete("read", ())
