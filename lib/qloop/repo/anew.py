"""What commands made of some files in a worktree, and nothing else that they changed there.

Errors: GitFailed, CarryFailed.
"""

from collections.abc import Callable
from dataclasses import replace

from qloop.repo.carry import carry
from qloop.repo.checkout import Repository
from qloop.repo.git import Git
from qloop.repo.landing_filter import take_over
from qloop.repo.leftwork import write_work_tree
from qloop.repo.merging import commit_on
from qloop.repo.worksite import Workspace, restore_workspace


def take_paths(
    ws: Workspace, repository: Repository, commit: str, meant: Callable[[str], bool]
) -> str:
    """The tree of *commit* with the files that are *meant* as they lie in the worktree.

    The worktree was made to hold *commit*. The tree is in the person's repository then.
    """
    restore_workspace(ws)
    git = Git(ws.git_dir)
    left = write_work_tree(ws, commit).tree
    tree = take_over(git, left, git.text("rev-parse", f"{commit}^{{tree}}"), meant)
    carry(replace(ws, start=commit), repository, commit_on(git, tree, commit))
    return tree
