"""How far a feature branch and its line are apart.

Errors: GitFailed where git cannot read the history.
"""

from dataclasses import dataclass

from qloop.repo.checkout import Repository
from qloop.repo.line import branch_ref, line_ref


@dataclass(frozen=True, slots=True)
class Distance:
    """The line's newest commit, and what each side has that the other has not."""

    tip: str
    ahead: int
    """Commits on the line that the branch lacks; all of them where there is no branch."""
    behind: int
    """Commits on the branch that the line has not taken in."""


def is_taken(repository: Repository, branch: str) -> bool:
    """Whether what is checked out, but for the branch itself, holds all of *branch*."""
    git = repository.git
    if git.attempt("symbolic-ref", "--quiet", "HEAD").text == branch_ref(branch):
        return False
    tip, head = git.find_all(f"{branch_ref(branch)}^{{commit}}", "HEAD^{commit}")
    return tip is not None and head is not None and git.is_ancestor(tip, head)


def find_distance(repository: Repository, branch: str) -> Distance | None:
    """The distance of *branch* to its line, or None where there is no line yet."""
    git = repository.git
    line = git.find(f"{line_ref(branch)}^{{commit}}")
    if line is None:
        return None
    tip = git.find(f"{branch_ref(branch)}^{{commit}}")
    if tip == line:
        return Distance(line, 0, 0)
    if tip is None:
        return Distance(line, int(git.text("rev-list", "--count", line)), 0)
    behind, ahead = git.text("rev-list", "--left-right", "--count", f"{tip}...{line}").split()
    return Distance(line, int(ahead), int(behind))
