"""The guard: an attempt may add commits to its start, never replace it or leave things half done.

Comparing commits is not enough: a reset and a new commit make a sibling. What counts is that the
start commit is an ancestor of HEAD. A branch that was switched, renamed or detached and descends
from the start is adopted.
Units: commits are full object names. Errors: GuardTripped; BadInput for an unknown commit.
Source: git-merge-base(1), gitrepository-layout(5).
"""

from qloop.repo.checkout import Repository
from qloop.repo.git import Git, GitFailed
from qloop.repo.removal import is_real_file, is_real_folder, lies_there
from qloop.repo.worksite import Workspace
from qloop.system.errors import BadInput, QloopError

OPERATIONS = {
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase or git am",
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "sequencer": "a cherry-pick or revert of several commits",
    "BISECT_LOG": "a bisect",
}
"""Entries of a worktree's git directory, and the unfinished operation that each stands for."""


class GuardTripped(QloopError):
    """A worktree or branch is not what an attempt may leave."""

    def __init__(self, reason: str, base: str, head: str | None) -> None:
        super().__init__(reason, where=f"start {base}, HEAD {head or 'unreadable'}")
        self.reason = reason
        self.base = base
        self.head = head


def check_guard(ws: Workspace, repository: Repository) -> None:
    """Raise GuardTripped unless the worktree is whole and its HEAD descends from the start.

    To be called after the salvage, which wrote the repository's own files back and carried HEAD
    over: ancestry is asked of the person's repository, whose objects no agent could forge.
    """
    head = Git(ws.admin).find("HEAD^{commit}") if is_real_folder(ws.admin) else None
    reason = _find_damage(ws, head)
    if reason is not None:
        raise GuardTripped(reason, ws.start, head)
    assert head is not None  # or there is damage
    _check_descends(repository.git, ws.start, head)


def head_advance(git: Git, before: str, after: str = "HEAD") -> None:
    """Raise GuardTripped unless *after* is *before* or descends from it, BadInput if unknown."""
    _check_descends(git, _known(git, before), _known(git, after))


def _find_damage(ws: Workspace, head: str | None) -> str | None:
    if not is_real_folder(ws.tree):
        return "the worktree is gone or was replaced"
    link = ws.tree / ".git"
    if not is_real_file(link) or link.read_bytes() != ws.link:
        return "the worktree's .git was replaced"
    for name, operation in OPERATIONS.items():
        if lies_there(ws.admin / name):
            return f"{operation} is unfinished"
    return "HEAD does not resolve to a commit" if head is None else None


def _check_descends(git: Git, base: str, head: str) -> None:
    if base == head:
        return
    done = git.attempt("merge-base", "--is-ancestor", base, head)
    if done.code > 1 and git.find(f"{head}^{{commit}}") is None:
        raise GuardTripped("HEAD is not known to the repository", base, head)
    if done.code not in (0, 1):
        raise GitFailed(done)
    if done.code == 1:
        raise GuardTripped("HEAD reset detected", base, head)


def _known(git: Git, revision: str) -> str:
    commit = git.find(f"{revision}^{{commit}}")
    if commit is None:
        raise BadInput("unknown commit", where=revision)
    return commit
