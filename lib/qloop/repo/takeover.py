"""Taking up what an earlier attempt left, in the worktree of a new one, and giving it up again.

What that attempt changed since its own start is brought onto the new start, as a landing would
bring it onto the line; conflicts are not for here.
Errors: GitFailed, LineLost.
"""

from qloop.repo.checkout import Repository
from qloop.repo.merging import commit_on, merge_repository, tree_of, try_merge
from qloop.repo.removal import put
from qloop.repo.salvage import ATTEMPTS
from qloop.repo.scratch import clean_to
from qloop.repo.worksite import Workspace


def find_left(repository: Repository, story: str, attempt: int) -> str | None:
    """The commit that keeps what an attempt left, or None where nothing is kept of it."""
    return repository.git.find(f"{ATTEMPTS}/{story}/{attempt}^{{commit}}")


def changed_between(repository: Repository, start: str, tip: str) -> tuple[str, ...]:
    """The files that differ between two commits."""
    names = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", start, tip)
    return tuple(repository.git.fields(*names))


def take_up(ws: Workspace, repository: Repository, start: str, tip: str) -> bool:
    """Put what *tip* changed since *start* into the worktree, uncommitted.

    False, and nothing is done, where that conflicts with what landed since, where *start* is no
    ancestor of the worktree's own start, and in a worktree that does not hold all folders.
    """
    git = repository.git
    if ws.cone or git.find(f"{start}^{{commit}}") is None or not git.is_ancestor(start, ws.start):
        return False
    with merge_repository(repository, ws.start) as merging:
        theirs = commit_on(merging, tree_of(merging, tip), start)
        merge = try_merge(merging, ws.start, theirs, ws.start)
    if merge.versions:
        return False
    ws.git.run("read-tree", "--reset", "-u", merge.tree)
    return True


def commit_taken(ws: Workspace, name: str, message: str) -> None:
    """Commit what was taken up with the file *name* as it is now, and clean away all else."""
    ws.git.run("update-index", "--add", "--", name)
    tree = ws.git.text("write-tree")
    author = {"GIT_AUTHOR_NAME": ws.author[0], "GIT_AUTHOR_EMAIL": ws.author[1]}
    commit = ws.git.text("commit-tree", tree, "-p", ws.start, "-m", message, env=author)
    _stand_at(ws, commit)


def give_up(ws: Workspace) -> None:
    """Make the worktree what it was at its start."""
    _stand_at(ws, ws.start)


def _stand_at(ws: Workspace, commit: str) -> None:
    """The worktree at *commit*, on the attempt's branch, with nothing but what set-up left."""
    clean_to(ws, commit)
    if ws.branch is not None:
        ws.git.run("update-ref", f"refs/heads/{ws.branch}", commit)
        put(ws.admin / "HEAD", f"ref: refs/heads/{ws.branch}\n".encode())
