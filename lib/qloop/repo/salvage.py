"""Salvage: what an attempt leaves, behind a ref of the person's repository.

`refs/qloop/attempts/<story>/<n>` is written for every attempt, also for one that did nothing. Its
reflog tells when and why.
Errors: CarryFailed where commits are broken; the files are kept even then. WorkNotKept, GitFailed.
"""

import contextlib
from dataclasses import dataclass, replace

from qloop.repo.carry import CarryFailed, carry, carry_commits, carry_large_files
from qloop.repo.checkout import Repository
from qloop.repo.git import Git, GitFailed
from qloop.repo.leftwork import LeftWork, without_checked_files, write_work_tree
from qloop.repo.removal import is_real_folder
from qloop.repo.starts import PATIENT
from qloop.repo.worksite import Workspace, restore_workspace
from qloop.system.errors import InternalFailure

ATTEMPTS = "refs/qloop/attempts"


class WorkNotKept(InternalFailure):
    """Not even the files could be brought over: nothing but the worktree holds the work."""


@dataclass(frozen=True, slots=True)
class Salvaged:
    """What an attempt left. Commits are in the person's repository."""

    head: str
    """The commit that the worktree stood at."""
    tip: str
    """The commit that holds all: HEAD, or one on top of it with what was not committed."""
    unsaved: tuple[str, ...]
    """Paths that git could not hold, and submodules whose own commits stay behind."""


def salvage(ws: Workspace, repository: Repository, story: str, attempt: int, why: str) -> Salvaged:
    """Keep HEAD and all that is uncommitted or untracked, and write the attempt's ref.

    What an earlier salvage of the same attempt kept is not given up for less. Raises CarryFailed
    when the commits are broken, after the files were kept as one commit on the start; WorkNotKept.
    """
    restore_workspace(ws)
    head, head_tree = _find_head(ws)
    ref = f"{ATTEMPTS}/{story}/{attempt}"
    work = _left_work(ws, head)
    tip = _commit_work(ws, work, head, head_tree, f"{story}: work left uncommitted")
    try:
        carry(ws, repository, tip)
    except CarryFailed:
        _point(repository, ref, _squash(ws, repository, work, story), why)
        raise
    _point(repository, ref, tip, why)
    return Salvaged(head, tip, unsaved=work.unsaved if work is not None else ())


def _find_head(ws: Workspace) -> tuple[str, str | None]:
    """HEAD, else the attempt's branch, else the start: the first whose files are there.

    With its tree, where that was asked for.
    """
    asked = [(Git(ws.admin), "HEAD"), (Git(ws.git_dir), f"refs/heads/{ws.branch}")]
    for git, revision in asked:
        commit, tree = git.find_all(f"{revision}^{{commit}}", f"{revision}^{{tree}}")
        if commit is not None and tree is not None:
            return commit, tree
    return ws.start, None


def _left_work(ws: Workspace, head: str) -> LeftWork | None:
    """What lies in the worktree, or None where there is no worktree any more."""
    if not is_real_folder(ws.tree):
        return None
    try:
        return write_work_tree(ws, head)
    except GitFailed:
        # A tree below HEAD is missing: what the files hold is compared to the start instead.
        return write_work_tree(ws, ws.start)


def _commit_work(
    ws: Workspace, work: LeftWork | None, parent: str, parent_tree: str | None, message: str
) -> str:
    """What was left as a commit on *parent*; *parent* itself where nothing was left."""
    git = Git(ws.git_dir)
    if work is None or work.tree == (parent_tree or git.text("rev-parse", f"{parent}^{{tree}}")):
        return parent
    author = {"GIT_AUTHOR_NAME": ws.author[0], "GIT_AUTHOR_EMAIL": ws.author[1]}
    return git.text("commit-tree", work.tree, "-p", parent, "-m", message, env=author)


def _squash(ws: Workspace, repository: Repository, work: LeftWork | None, story: str) -> str:
    """The files as one commit on the start, carried over. Raises WorkNotKept."""
    if work is None:
        return ws.start
    with contextlib.suppress(CarryFailed):
        carry_large_files(ws, repository)
    message = f"{story}: work whose commits are broken"
    commit = _commit_work(ws, work, ws.start, None, message)
    with contextlib.suppress(CarryFailed):
        carry_commits(ws, repository, commit)
        return commit
    work = replace(work, tree=without_checked_files(ws, work.tree))
    commit = _commit_work(ws, work, ws.start, None, message)
    try:
        carry_commits(ws, repository, commit)
    except CarryFailed as exc:
        raise WorkNotKept(exc.what, where=exc.where) from exc
    return commit


def _point(repository: Repository, ref: str, commit: str, why: str) -> None:
    """Write the ref, unless it holds more already: a worktree may be half removed by now."""
    git = repository.git
    reason = " ".join(why.split()) or "salvaged"
    write = (*PATIENT, "update-ref", "--create-reflog", "-m", reason, ref, commit)
    if git.attempt(*write, "0" * len(commit)).code == 0:  # there was none
        return
    kept = git.find(f"{ref}^{{commit}}")
    if kept is None or not git.is_ancestor(commit, kept):
        git.run(*write)
