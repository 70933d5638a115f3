"""The desk of a planner: the repository held for it, a checkout to read, a journal to tell.

Errors: RepositoryBusy; BadInput for a repository without a commit; SetupFailed, GitFailed.
"""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qloop.agents.manifest import Manifest
from qloop.plan.model import Json
from qloop.repo.breach import find_changes, keep_and_undo
from qloop.repo.checkout import Repository, check_git_version
from qloop.repo.marks import agent_git_environment
from qloop.repo.names import attempt_id, review_name, workspace_base
from qloop.repo.person import Snapshot, take_snapshot
from qloop.repo.review_tree import review_tree
from qloop.repo.settings import PersonSettings, read_settings
from qloop.repo.trace import read_trace
from qloop.repo.workspace import find_workspaces, remove_workspace
from qloop.run import holder
from qloop.run.config import Config
from qloop.run.desk import Desk
from qloop.run.opening import succeed
from qloop.run.orders import Dispatch
from qloop.run.planner_brief import PLANNER
from qloop.run.unlanding import commit_to_see, unlanding_terms
from qloop.state.journal import EventKind, Journal
from qloop.system.cancel import Cancel


@dataclass(frozen=True, slots=True)
class PlannerDesk(Desk):
    """Where an agent makes a plan."""

    @property
    def logs(self) -> Path:
        """Where its output is kept."""
        return Path(self.terms.place.private) / "plans" / self.terms.run_id

    def look(self) -> Snapshot:
        """The person's repository at this moment."""
        return take_snapshot(self._repository)

    def take_back(self, before: Snapshot) -> tuple[str, ...]:
        """Undo what the agent's git did to the person's repository since; a sentence on each."""
        repository, name = self._repository, self.dispatch.attempt_id
        trace = read_trace(self.trace)
        changes = find_changes(repository, before, take_snapshot(repository), name, trace)
        return keep_and_undo(repository, changes, name)

    @property
    def _repository(self) -> Repository:
        place = self.terms.place
        return Repository(root=Path(place.root), git_dir=Path(place.git_dir))

    def _own(self) -> dict[str, str]:
        settings = PersonSettings.from_dict(self.terms.settings)
        name = self.dispatch.attempt_id
        return {
            **agent_git_environment(settings.name, settings.email, name, self.trace),
            "QLOOP_ATTEMPT_ID": name,
            "QLOOP_RUN": self.terms.run_id,
            "TMPDIR": str(self.workspace.tmp),
        }


@contextmanager
def hold_repository(repository: Repository, config: Config, run_id: str) -> Iterator[Journal]:
    """Keep runs and other planners out while a plan is made."""
    check_git_version()
    private = holder.private_folder(repository)
    private.mkdir(exist_ok=True)
    lock = holder.try_lock(repository)
    if lock is None:
        raise holder.busy(private)
    try:
        journal = Journal(private / "events.jsonl", run_id)
        succeed(private, journal, workspace_base(config.worktree_root, repository), PLANNER)
        _clear_dead(repository)
        try:
            yield journal
        finally:
            holder.write_holder(private, run_id, PLANNER, ended=True)
    finally:
        holder.release(lock)


@contextmanager
def planner_desk(
    repository: Repository,
    config: Config,
    journal: Journal,
    runner: Manifest,
    former: Json | None,
    cancel: Cancel,
) -> Iterator[PlannerDesk]:
    """The desk, with a read-only checkout of what is planned for; it is gone in the end.

    That is the line of *former*, the plan that is brought up to date, else the main checkout's
    commit.
    """
    settings = read_settings(repository)
    branch = "" if former is None else str(former["branchName"])
    terms = unlanding_terms(repository, config, journal.run_id, settings, branch)
    name = attempt_id(PLANNER, 1, secrets.token_hex(4))
    nobody = Dispatch(
        story="",
        attempt=0,
        attempt_id=name,
        runner=runner,
        model=None,
        timeout_s=config.timeout,
        slot=0,
    )
    start = commit_to_see(repository, branch)
    with review_tree(repository, settings, Path(terms.place.base), name, start) as checkout:
        desk = PlannerDesk(terms, "", nobody, checkout, _emit(journal), cancel)
        desk.logs.mkdir(parents=True, exist_ok=True)
        yield desk


def _clear_dead(repository: Repository) -> None:
    """Remove the checkouts of planners that were killed; nothing in them is of worth."""
    for workspace in find_workspaces(repository):
        if workspace.name.startswith(review_name(f"{PLANNER}.")):
            remove_workspace(workspace)


def _emit(journal: Journal) -> Callable[..., None]:
    def emit(kind: EventKind, **data: Any) -> None:
        journal.append(kind, **data)

    return emit
