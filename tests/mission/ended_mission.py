"""A mission whose phases are all complete."""

from pathlib import Path

from qloop.state.mission import Mission, MissionStatus, PhaseRun, Triage
from qloop.state.mission_store import write_mission
from qloop.state.phases import Autonomy, PhaseName, PhaseStatus


def mission_at_its_end(folder: Path, status: MissionStatus = MissionStatus.INTERRUPTED) -> None:
    """All that is left to do is the end."""
    phases = tuple(
        PhaseRun(phase=one, status=PhaseStatus.COMPLETE, spawns=1, note=f"{one} done")
        for one in PhaseName
    )
    write_mission(
        folder,
        Mission(
            id=1,
            slug=folder.name.partition("--")[2],
            directive="tea",
            autonomy=Autonomy.AUTOPILOT,
            is_team=True,
            triage=Triage(complexity="SIMPLE"),
            status=status,
            started_at="",
            updated_at="",
            phases=phases,
        ),
    )
