"""The desk of an agent that stays: one mark and one worktree for story after story."""

from dataclasses import dataclass
from pathlib import Path

from qloop.agents.manifest import Manifest
from qloop.agents.roles import ORCHESTRATOR
from qloop.repo.marks import agent_git_environment
from qloop.repo.settings import PersonSettings
from qloop.run.desk import Desk
from qloop.system.tree import Marks

MAILBOX = "QLOOP_HAND_IN"
"""The variable that tells the agent's toolkit where its orchestrator listens."""


@dataclass(frozen=True, slots=True)
class SittingDesk(Desk):
    """The desk of an agent that works through story after story under one mark."""

    mark: str = ""

    @property
    def marks(self) -> Marks:
        """How the sitting's processes are known."""
        folders = (self.workspace.tree, self.workspace.tmp)
        return Marks(env=(f"QLOOP_ATTEMPT_ID={self.mark}",), folders=folders)

    @property
    def mailbox(self) -> Path:
        """Where the agent asks and hands in."""
        return self.workspace.tmp / "hand-in"

    @property
    def programs(self) -> Path:
        """A folder with `qloop`, first on the agent's PATH."""
        return self.workspace.tmp / "programs"

    def agent_environment(
        self, runner: Manifest, role: str, tree: Path, checks: tuple[str, ...] = ()
    ) -> dict[str, str]:
        """What the agent sees; it learns of later stories from its orchestrator."""
        found = Desk.agent_environment(self, runner, role, tree, checks)
        path = f"{self.programs}:{found.get('PATH', '/usr/bin:/bin')}"
        return {**found, "QLOOP_ROLE": ORCHESTRATOR, MAILBOX: str(self.mailbox), "PATH": path}

    def _own(self) -> dict[str, str]:
        person = PersonSettings.from_dict(self.terms.settings)
        marked = agent_git_environment(person.name, person.email, self.mark, self.trace)
        return {**Desk._own(self), **marked, "QLOOP_ATTEMPT_ID": self.mark}
