"""What the person's main checkout has that a feature branch has not: agents do not see it.

Errors: GitFailed where git cannot read the history.
"""

from collections.abc import Collection
from pathlib import Path

from qloop.repo.checkout import Repository, head_commit
from qloop.repo.git import persons_git, split_nul
from qloop.repo.line import branch_ref


def find_uncommitted(repository: Repository, besides: Collection[Path]) -> list[str]:
    """Paths in the main checkout that differ from its commit, ignored ones and *besides* not.

    Of a folder that is untracked as a whole only its name, with a slash. Empty where git cannot
    tell.
    """
    done = persons_git(
        repository.root,
        *("status", "--porcelain=v1", "-z", "--untracked-files=normal"),
        *("--ignore-submodules=dirty", "--no-renames"),
    )
    names = [entry[3:] for entry in split_nul(done.out)] if done.code == 0 else []
    return [name for name in names if repository.root / name not in besides]


def count_elsewhere(repository: Repository, branch: str, tip: str) -> tuple[str, int]:
    """What is checked out, by name, and how many of its commits *tip* lacks.

    Merges are not counted; on *branch* itself it is 0, as a run takes in what is there.
    """
    git = repository.git
    name = git.attempt("symbolic-ref", "--quiet", "HEAD").text
    head = head_commit(repository)
    if name == branch_ref(branch):
        return branch, 0
    count = int(git.text("rev-list", "--count", "--no-merges", head, "--not", tip))
    return name.removeprefix("refs/heads/") or head[:10], count
