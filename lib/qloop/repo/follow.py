"""Branch and line, each taking in what is new on the other.

The branch follows the line, but never under a checkout that holds it; what a person commits on
the branch is taken into the line after the caller has judged it. `refs/qloop/followed/<branch>`
moves with either, and only from the value that was seen.
Errors: PersonNeeded where both sides cannot be put together without a person; Superseded and
LineMoved as in `landing`; GitFailed.
"""

import shlex
from dataclasses import dataclass

from qloop.repo.checkout import Repository
from qloop.repo.git import Git, GitFailed
from qloop.repo.holders import find_checkouts, is_held
from qloop.repo.landing import move_line
from qloop.repo.line import (
    branch_ref,
    chain_since,
    check_followed,
    followed_ref,
    known_line,
    line_ref,
    read_tips,
)
from qloop.repo.merging import MergeConflict, merge_repository, merge_trees, shown_path
from qloop.repo.transaction import RefChange, move_refs, update
from qloop.system.errors import PersonNeeded


@dataclass(frozen=True, slots=True)
class TakeIn:
    """What the line would become with a person's commits; nothing has moved yet."""

    commit: str
    """The line's next tip: the branch's own tip, or a merge of line and branch."""
    line_tip: str
    branch_tip: str
    followed: str
    merged: bool
    """Whether *commit* is a merge made by qloop."""


def following(repository: Repository, branch: str, line: str) -> tuple[RefChange, ...]:
    """What moves the branch along when the line moves to *line*; nothing where it may not move."""
    tips = read_tips(repository, branch)
    tip, followed, old = tips.branch, tips.followed, tips.line
    if tip is None or old is None or tip != followed:
        return ()
    if not repository.git.is_ancestor(tip, old) or is_held(repository, branch):
        return ()
    return update(branch_ref(branch), line, tip), update(followed_ref(branch), line, followed)


def follow(repository: Repository, branch: str) -> None:
    """Move the branch to the line's tip where no checkout holds it and nobody else moved it.

    What cannot be followed is left as it is. Raises LineLost, GitFailed.
    """
    git = repository.git
    tips = read_tips(repository, branch)
    line, tip, followed = known_line(branch, tips.line), tips.branch, tips.followed
    if tip is None or tip != followed or tip == line or not git.is_ancestor(tip, line):
        return
    if is_held(repository, branch):
        return
    done = move_refs(
        git,
        update(branch_ref(branch), line, tip),
        update(followed_ref(branch), line, followed),
        reason=f"qloop: follow {line_ref(branch)}",
    )
    if done.code != 0 and git.find(branch_ref(branch)) == tip:
        raise GitFailed(done)  # else the person was quicker; the next landing takes that in


def take_in(repository: Repository, branch: str) -> TakeIn | None:
    """What a person committed on the branch since it was followed, made ready for the line.

    None when there is nothing. Raises PersonNeeded where the branch was deleted, moved back or
    rewritten, or where its commits conflict with the line.
    """
    git = repository.git
    tips = read_tips(repository, branch)
    line, followed = known_line(branch, tips.line), tips.followed
    tip = check_followed(git, branch, tips)
    if tip is None or followed is None or tip == followed:
        return None
    if git.is_ancestor(tip, line):
        note_followed(repository, branch, tip, followed)
        return None
    if chain_since(git, tip, line):
        return TakeIn(tip, line, tip, followed, merged=False)
    commit = _merge(repository, branch, line, tip)
    return TakeIn(commit, line, tip, followed, merged=True)


def accept_take_in(repository: Repository, branch: str, take_in: TakeIn, lease: str) -> None:
    """Move the line to what was taken in, if line and lease are still what they were.

    Raises LineMoved, Superseded, GitFailed.
    """
    move_line(
        repository,
        branch,
        update(line_ref(branch), take_in.commit, take_in.line_tip),
        update(followed_ref(branch), take_in.branch_tip, take_in.followed),
        lease=lease,
        was=take_in.line_tip,
    )


def note_followed(repository: Repository, branch: str, tip: str, followed: str) -> None:
    """Remember that the branch stands at *tip*, which the line holds. Raises GitFailed."""
    change = update(followed_ref(branch), tip, followed)
    done = move_refs(repository.git, change, reason=f"qloop: {branch} holds the line up to here")
    if done.code != 0:
        raise GitFailed(done)


def _merge(repository: Repository, branch: str, line: str, tip: str) -> str:
    with merge_repository(repository, line) as git:
        try:
            tree = merge_trees(git, line, tip, line)
        except MergeConflict as exc:
            raise _conflict(repository, branch, exc) from exc
        return git.text(
            *("commit-tree", tree, "-p", line, "-p", tip, "-F", "-"),
            stdin=_merge_message(git, branch, line, tip).encode(),
        )


def _merge_message(git: Git, branch: str, line: str, tip: str) -> str:
    count = git.text("rev-list", "--count", tip, "--not", line)
    noun = "commit" if count == "1" else "commits"
    return f"Take {count} {noun} of {branch} into its line\n"


def _conflict(repository: Repository, branch: str, conflict: MergeConflict) -> PersonNeeded:
    files = ", ".join(shown_path(path) for path in conflict.files)
    checkouts = find_checkouts(repository, branch)
    place = shlex.quote(str(checkouts[0] if checkouts else repository.root))
    merge = f"git -C {place} merge {line_ref(branch)}"
    if not checkouts:
        merge = f"git -C {place} switch {shlex.quote(branch)} && {merge}"
    return PersonNeeded(
        f"what was committed on {branch} conflicts with its line in {files}",
        where=branch_ref(branch),
        fix=f"merge the two yourself, then start qloop again: {merge}",
    )
