"""Proving: `testCommand` on exactly the tree that would land, before anything moves.

One scratch worktree serves a run's landings. It is set up like an attempt's, and between
candidates loses all that set-up did not leave. A red result in a tree whose set-up is older than
the candidate counts only after a fresh set-up: the candidate may have changed what set-up reads.
Callers that land hold the landing lock; who only looks has a room of its own.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from qloop.agents.environment import base_environment
from qloop.plan.model import Plan
from qloop.repo.anew import take_paths
from qloop.repo.bring import bring_files
from qloop.repo.checkout import Repository
from qloop.repo.marks import quiet_git_environment
from qloop.repo.scratch import clean_to, note_setup
from qloop.repo.settings import PersonSettings
from qloop.repo.workspace import (
    SetupFailed,
    Workspace,
    create_workspace,
    find_workspaces,
    remove_workspace,
)
from qloop.run.desk import port_variables
from qloop.run.gates import GateResult, Room, run_gates, run_named
from qloop.run.orders import Terms
from qloop.system.cancel import Cancel
from qloop.system.ports import leased_ports
from qloop.system.tree import Marks

Paths = Callable[[str], bool]
"""Whether a path is one of those meant."""

LANDINGS = "scratch"
"""The room in which what is to land is tested."""

TEST = "test"
"""The name of this gate and of its log."""


def name_of(room: str, terms: Terms) -> str:
    """The name of the scratch worktree that a run has for *room*."""
    return f"{room}.{terms.run_id}"


class ScratchSetupFailed(Exception):
    """The scratch worktree could not be set up; *log* is that of the red command, if one was."""

    def __init__(self, reason: str, log: Path | None) -> None:
        self.log = log
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Made:
    """What commands came to that make files anew, and the tree with those files."""

    results: tuple[GateResult, ...]
    tree: str


@dataclass(frozen=True, slots=True)
class Standing:
    """A scratch worktree that is set up, and where commands run in it."""

    workspace: Workspace
    commit: str
    room: Room
    port_base: int | None
    """The first of its ports; None where none were free."""

    def clean(self) -> None:
        """Make it what set-up left it as."""
        clean_to(self.workspace, self.commit)


@dataclass(frozen=True, slots=True)
class Prover:
    """Runs the plan's test command on commits."""

    repository: Repository
    terms: Terms
    cancel: Cancel
    about: Mapping[str, str] = field(default_factory=dict)
    """What commands learn by variables of what they are run for."""
    port_base: int | None = None
    """The first of the ports that the command may use."""
    room: str = LANDINGS
    """Of which scratch worktree; each has one user at a time."""

    @property
    def name(self) -> str:
        """The scratch worktree's name, one of its room for a run."""
        return name_of(self.room, self.terms)

    def prove(self, plan: Plan, commit: str, logs: Path) -> GateResult | None:
        """The test command's result on *commit*; None where the plan has no test command.

        Raises ScratchSetupFailed, GateLost, GateCancelled.
        """
        if plan.test_command is None:
            return None
        return self.run_all(plan, {TEST: plan.test_command}, commit, logs)[-1]

    def run_all(
        self, plan: Plan, commands: Mapping[str, str], commit: str, logs: Path
    ) -> tuple[GateResult, ...]:
        """The results of commands, by the names of their logs, on *commit*, up to the first red.

        Raises ScratchSetupFailed, GateLost, GateCancelled.
        """
        with leased_ports() as port_base:
            prover = replace(self, port_base=port_base)
            return prover._run(plan, commands, commit, logs)[0]

    def make_anew(
        self, plan: Plan, commands: Mapping[str, str], commit: str, logs: Path, paths: Paths
    ) -> Made:
        """The same, and the tree of *commit* with what the commands made of *paths*.

        Nothing else that they change is taken.
        """
        with leased_ports() as port_base:
            prover = replace(self, port_base=port_base)
            results, workspace = prover._run(plan, commands, commit, logs)
            return Made(results, take_paths(workspace, self.repository, commit, paths))

    @contextmanager
    def standing(self, plan: Plan, commit: str, logs: Path) -> Iterator["Standing"]:
        """A scratch worktree at *commit* for the length of a block, with ports of its own.

        Raises ScratchSetupFailed, GateLost, GateCancelled.
        """
        logs.mkdir(parents=True, exist_ok=True)
        with leased_ports() as port_base:
            prover = replace(self, port_base=port_base)
            workspace = prover._at(plan, commit, logs)[0]
            try:
                yield Standing(workspace, commit, prover._room(workspace, logs), port_base)
            finally:
                remove_workspace(workspace)

    def _run(
        self, plan: Plan, commands: Mapping[str, str], commit: str, logs: Path
    ) -> tuple[tuple[GateResult, ...], Workspace]:
        logs.mkdir(parents=True, exist_ok=True)
        workspace, fresh = self._at(plan, commit, logs)
        results = self._try(workspace, commands, logs)
        if results[-1].green or fresh or not plan.setup_commands:
            return results, workspace
        remove_workspace(workspace)
        workspace, _ = self._at(plan, commit, logs)
        return self._try(workspace, commands, logs), workspace

    def _try(
        self, workspace: Workspace, commands: Mapping[str, str], logs: Path
    ) -> tuple[GateResult, ...]:
        return run_named(self._room(workspace, logs), commands)

    def discard(self) -> None:
        """Remove the scratch worktree."""
        workspace = self._find()
        if workspace is not None:
            remove_workspace(workspace)

    def _find(self) -> Workspace | None:
        every = find_workspaces(self.repository)
        return next((one for one in every if one.name == self.name), None)

    @property
    def _settings(self) -> PersonSettings:
        return PersonSettings.from_dict(self.terms.settings)

    def _at(self, plan: Plan, commit: str, logs: Path) -> tuple[Workspace, bool]:
        base = Path(self.terms.place.base)
        workspace = self._find()
        if workspace is not None:
            clean_to(workspace, commit)
            return workspace, False
        made = create_workspace(self.repository, self._settings, base, self.name, None, commit)
        try:
            return self._set_up(made, plan, logs), True
        except BaseException:
            remove_workspace(made)
            raise

    def _set_up(self, workspace: Workspace, plan: Plan, logs: Path) -> Workspace:
        try:
            bring_files(self.repository, workspace, plan.copy_files)
        except SetupFailed as exc:
            raise ScratchSetupFailed(str(exc), None) from exc
        commands = tuple(plan.setup_commands)
        results = run_gates(self._room(workspace, logs), "test-setup", commands)
        if results and not results[-1].green:
            raise ScratchSetupFailed(results[-1].evidence(), results[-1].log)
        return note_setup(workspace)

    def _room(self, workspace: Workspace, logs: Path) -> Room:
        limits = self.terms.limits
        env = {**base_environment(self.terms.env_pass), **quiet_git_environment()}
        env |= self.about
        env |= port_variables(self.port_base)
        env |= {
            "QLOOP_ROLE": "gate",
            "QLOOP_RUN": self.terms.run_id,
            "QLOOP_WORKTREE": str(workspace.tree),
            "TMPDIR": str(workspace.tmp),
        }
        return Room(
            cwd=workspace.tree,
            env=env,
            logs=logs,
            marks=Marks(env=(), folders=(workspace.tree, workspace.tmp)),
            timeout_s=limits.gate_timeout_s,
            log_bytes=limits.log_bytes,
            cancel=self.cancel,
        )
