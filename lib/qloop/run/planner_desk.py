"""The desk of a planner: the repository held for it, a checkout to read, a journal to tell.

Errors: RepositoryBusy; BadInput for a repository without a commit; SetupFailed, GitFailed.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from qloop.agents.manifest import Manifest
from qloop.plan.model import Json
from qloop.repo.checkout import Repository, check_git_version
from qloop.repo.names import workspace_base
from qloop.run import holder
from qloop.run.config import Config
from qloop.run.opening import succeed
from qloop.run.planner_brief import PLANNER
from qloop.run.reading_desk import ReadingDesk, ReadingPlace, reading_desk
from qloop.run.unlanding import commit_to_see
from qloop.state.journal import Journal
from qloop.system.cancel import Cancel


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
) -> Iterator[ReadingDesk]:
    """The desk, with a read-only checkout of what is planned for; it is gone in the end.

    That is the line of *former*, the plan that is brought up to date, else the main checkout's
    commit.
    """
    branch = "" if former is None else str(former["branchName"])
    logs = holder.private_folder(repository) / "plans" / journal.run_id
    start = commit_to_see(repository, branch)
    place = ReadingPlace(repository, config, journal, start, logs, branch)
    with reading_desk(place, PLANNER, runner, cancel) as desk:
        yield desk
