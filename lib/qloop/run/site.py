"""What people would see, held still to be looked at: a commit in a checkout that is set up.

The run lock is held meanwhile, so that nothing lands and no other run clears the checkout.
Errors: SetupFailed; GateLost; GateCancelled where *cancel* is set; those of taking the lock.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from qloop.plan.model import Plan
from qloop.repo.checkout import Repository, check_git_version
from qloop.repo.names import workspace_base
from qloop.repo.settings import read_settings
from qloop.repo.worksite import SetupFailed
from qloop.run import holder
from qloop.run.config import Config
from qloop.run.opening import succeed
from qloop.run.proving import Prover, ScratchSetupFailed, Standing
from qloop.run.unlanding import unlanding_terms
from qloop.state.journal import Journal
from qloop.system.cancel import Cancel

MODE = "refine"
ROOM = "refinement"

Take = Callable[[], int]
"""Takes the run lock, and waits for it where there is somebody who may wait."""


@contextmanager
def standing_site(
    repository: Repository,
    config: Config,
    plan: Plan,
    commit: str,
    journal: Journal,
    logs: Path,
    take: Take,
    cancel: Cancel,
) -> Iterator[Standing]:
    """A commit, checked out and set up as *plan* says, for the length of a block."""
    settings = read_settings(repository)
    terms = unlanding_terms(repository, config, journal.run_id, settings, plan.branch_name)
    with _held(repository, config, journal, take):
        prover = Prover(repository, terms, cancel, room=ROOM)
        try:
            with prover.standing(plan, commit, logs) as standing:
                yield standing
        except ScratchSetupFailed as exc:
            where = str(exc.log or "")
            fix = "mend what setupCommands or copyFiles of the plan name, and try again"
            raise SetupFailed(f"set-up is red: {exc}", where=where, fix=fix) from exc


@contextmanager
def _held(repository: Repository, config: Config, journal: Journal, take: Take) -> Iterator[None]:
    """Keep runs out; what a dead one left alive is ended first."""
    check_git_version()
    private = holder.private_folder(repository)
    private.mkdir(exist_ok=True)
    lock = take()
    try:
        succeed(private, journal, workspace_base(config.worktree_root, repository), MODE)
        try:
            yield
        finally:
            holder.write_holder(private, journal.run_id, MODE, ended=True)
    finally:
        holder.release(lock)
