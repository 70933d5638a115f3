"""Work that lands nothing, such as planning: at which commit it looks, and by which terms.

Errors: BadInput for a repository without a commit; GitFailed.
"""

from qloop.repo.checkout import Repository, head_commit
from qloop.repo.line import read_tips
from qloop.repo.names import workspace_base
from qloop.repo.settings import PersonSettings
from qloop.run import holder
from qloop.run.config import Config
from qloop.run.orders import Limits, Place, Terms


def commit_to_see(repository: Repository, branch: str) -> str:
    """The tip of a branch's line, else the branch's, else the main checkout's commit.

    Of no *branch* (empty) it is the last.
    """
    tips = read_tips(repository, branch) if branch else None
    return (tips and (tips.line or tips.branch)) or head_commit(repository)


def unlanding_terms(
    repository: Repository, config: Config, run_id: str, settings: PersonSettings, branch: str
) -> Terms:
    """What holds for such work; without a lease nothing can land."""
    place = Place(
        root=str(repository.root),
        git_dir=str(repository.git_dir),
        private=str(holder.private_folder(repository)),
        base=str(workspace_base(config.worktree_root, repository)),
        quantum="",
        prd=None,
        branch=branch,
    )
    limits = Limits(
        gate_timeout_s=config.gate_timeout,
        stale_after_s=config.stale_after,
        log_bytes=config.limits.log_bytes,
        file_bytes=config.limits.file_bytes,
        run_usd=config.limits.budget_usd,
    )
    return Terms(
        run_id=run_id,
        lease="",
        place=place,
        limits=limits,
        settings=settings.to_dict(),
        env_pass=config.env_pass,
        delegate=config.delegate,
    )
