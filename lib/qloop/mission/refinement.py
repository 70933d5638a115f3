"""REFINEMENT: what people see of it, tried and judged."""

from qloop.mission.phase_desk import PhaseDesk
from qloop.state.phase_events import PhaseEvent


def coordinate(desk: PhaseDesk) -> PhaseEvent:
    """Inspect what landed."""
    return desk.complete("inspected", ())
