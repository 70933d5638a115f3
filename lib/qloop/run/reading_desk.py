"""The desk of an agent that only reads: a checkout that it cannot change, a journal to tell.

It needs no run lock: several may be at work beside a run. What its git does to the person's
repository is taken back, and what a killed one left is removed by whoever comes next.
Errors: BadInput, SetupFailed, GitFailed.
"""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qloop.agents.manifest import Manifest
from qloop.repo.breach import find_changes, keep_and_undo
from qloop.repo.checkout import Repository
from qloop.repo.marks import agent_git_environment
from qloop.repo.names import attempt_id, readers_base
from qloop.repo.person import Snapshot, take_snapshot
from qloop.repo.review_tree import reading_tree
from qloop.repo.settings import PersonSettings, read_settings
from qloop.repo.trace import read_trace
from qloop.repo.workspace import find_leftovers, remove_workspace
from qloop.run.config import Config
from qloop.run.desk import Desk
from qloop.run.orders import Dispatch
from qloop.run.unlanding import unlanding_terms
from qloop.state.journal import EventKind, Journal
from qloop.system.cancel import Cancel


@dataclass(frozen=True, slots=True)
class ReadingPlace:
    """What is read, under which name it is paid for, and where its output is kept."""

    repository: Repository
    config: Config
    journal: Journal
    """Its run id is the account that pays."""
    commit: str
    """The commit that is checked out."""
    logs: Path
    """The folder of prompts and output; of nobody else's at the same time."""
    branch: str = ""
    """The feature branch that it is about, if any."""
    limit_usd: float | None = None
    """The most that this account may spend; None for what the settings say."""


@dataclass(frozen=True, slots=True)
class ReadingDesk(Desk):
    """Where an agent reads."""

    folder: Path = Path()
    """Where its output is kept."""

    @property
    def logs(self) -> Path:
        """Where its output is kept."""
        return self.folder

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
def reading_desk(
    place: ReadingPlace, role: str, runner: Manifest, cancel: Cancel
) -> Iterator[ReadingDesk]:
    """The desk of an agent of *role*, with its checkout, which is gone in the end."""
    config, repository = place.config, place.repository
    settings = read_settings(repository)
    run_id = place.journal.run_id
    terms = unlanding_terms(repository, config, run_id, settings, place.branch)
    if place.limit_usd is not None:
        limits = terms.limits.model_copy(update={"run_usd": place.limit_usd})
        terms = terms.model_copy(update={"limits": limits})
    base = readers_base(config.worktree_root, repository)
    _clear_dead(repository, base)
    dispatch = Dispatch(
        story="",
        attempt=0,
        attempt_id=attempt_id(role, 1, secrets.token_hex(4)),
        runner=runner,
        model=None,
        timeout_s=config.timeout,
        slot=0,
    )
    name = dispatch.attempt_id
    with reading_tree(repository, settings, base, name, place.commit) as checkout:
        place.logs.mkdir(parents=True, exist_ok=True)
        emit = _emit(place.journal)
        yield ReadingDesk(terms, "", dispatch, checkout, emit, cancel, folder=place.logs)


def _clear_dead(repository: Repository, base: Path) -> None:
    """Remove the checkouts of readers that were killed; nothing in them is of worth."""
    for workspace in find_leftovers(repository):
        if workspace.base == base.resolve():
            remove_workspace(workspace)


def _emit(journal: Journal) -> Callable[..., None]:
    def emit(kind: EventKind, **data: Any) -> None:
        journal.append(kind, **data)

    return emit
