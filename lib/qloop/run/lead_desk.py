"""The desk of an agent that leads a wave: it knows the wave and the door, and no attempt."""

import os
from dataclasses import dataclass
from pathlib import Path

from qloop.repo.marks import agent_git_environment
from qloop.repo.settings import PersonSettings
from qloop.repo.workspace import Workspace
from qloop.run.desk import Desk, Emit
from qloop.run.lead_door import VARIABLE, Door
from qloop.run.orders import Dispatch, Leader, WaveOrder
from qloop.run.own_program import write_program
from qloop.system.cancel import Cancel


@dataclass(frozen=True, slots=True)
class LeadDesk(Desk):
    """Where an agent leads a wave."""

    door: str = ""
    """The path at which it hands in its wishes."""

    @property
    def logs(self) -> Path:
        """Where its output is kept: beside that of the wave's coordinator."""
        place = self.terms.place
        return Path(place.private) / "waves" / self.terms.run_id / f"{self.wave}.agent"

    @property
    def qloop(self) -> Path:
        """The command that it calls qloop by; its folder is on its PATH."""
        return self.workspace.tmp / "bin" / "qloop"

    def _own(self) -> dict[str, str]:
        settings = PersonSettings.from_dict(self.terms.settings)
        name = self.dispatch.attempt_id
        path = os.pathsep.join([str(self.qloop.parent), os.environ.get("PATH", os.defpath)])
        return {
            **agent_git_environment(settings.name, settings.email, name, self.trace),
            "PATH": path,
            "QLOOP_ATTEMPT_ID": name,
            VARIABLE: self.door,
            "QLOOP_RUN": self.terms.run_id,
            "QLOOP_WAVE": self.wave,
            "TMPDIR": str(self.workspace.tmp),
        }


def lead_desk(
    order: WaveOrder, leader: Leader, checkout: Workspace, emit: Emit, cancel: Cancel, door: Door
) -> LeadDesk:
    """The desk, with its folders made and `qloop` where the agent finds it."""
    nobody = Dispatch(
        story="",
        attempt=0,
        attempt_id=leader.name,
        runner=leader.runner,
        model=leader.model,
        timeout_s=leader.timeout_s,
        slot=0,
    )
    desk = LeadDesk(order.terms, order.wave, nobody, checkout, emit, cancel, door=str(door.path))
    desk.logs.mkdir(parents=True, exist_ok=True)
    write_program(desk.qloop)
    return desk
