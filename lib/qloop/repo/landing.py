"""Landing: an attempt's work becomes one commit with one parent on the line.

`propose` computes that commit and moves nothing; the caller judges its tree; `land` then moves
marker and line in one transaction, if neither the line nor the lease is another one by now.
Commits are full object names.
Errors: MergeConflict, LandingRefused, ForeignCommit are the attempt's doing; LineLost waits for
the person; LineMoved asks for another `propose`; Superseded ends the caller; GitFailed and
AlreadyLanded are nobody's doing.
Source: git-merge-tree(1), git-commit-tree(1), git-interpret-trailers(1).
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from qloop.repo.ancestry import Commit
from qloop.repo.checkout import Repository
from qloop.repo.git import QLOOP_NAME, Git, GitFailed
from qloop.repo.history import own_commits, trees_since
from qloop.repo.landing_filter import (
    LandingRefused,
    Rules,
    changes_between,
    filter_tree,
    restore_state,
)
from qloop.repo.line import LEASE_REF, LineLost, landed_ref, line_ref, line_tip
from qloop.repo.marks import marked_attempt
from qloop.repo.merging import commit_on, merge_repository, merge_trees, tree_of
from qloop.repo.message import render_message
from qloop.repo.transaction import RefChange, create, move_refs, update, verify
from qloop.system.errors import InternalFailure, QloopError
from qloop.system.files import locked

_NO_CRUD = re.compile(r"[^\x00-\x20.,:;<>\"\\']")
"""Git drops these characters at the ends of a name, and takes no name that is made of them."""


class ForeignCommit(QloopError):
    """The attempt's history holds a commit that another attempt made and that never landed."""

    def __init__(self, commit: str, maker: str) -> None:
        super().__init__(f"commit {commit} was made by another attempt, {maker}, and never landed")
        self.commit = commit
        self.maker = maker
        """The other attempt's id."""


class LineMoved(QloopError):
    """Something else landed first: propose again."""


class Superseded(QloopError):
    """Another run has taken over; nothing of this one may land."""


class AlreadyLanded(InternalFailure):
    """The attempt has a marker already, so it is not landed a second time."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A commit that could land, and what to know of it."""

    commit: str
    tree: str
    line_tip: str
    """Its one parent; the line must still stand there when it lands."""
    restored: tuple[str, ...]
    """Paths of landed work that the agent had dropped and that were put back."""
    changed: bool
    """Whether the attempt did anything beyond what was there already."""


@dataclass(frozen=True, slots=True)
class _Work:
    """An attempt's commits and where they meet the line."""

    start: str
    tip: str
    line: str
    met: str
    """The newest commit of the line since *start* that *tip* contains."""
    chain: dict[str, str]
    """The line's commits from its tip down to *start*, each with its tree."""
    own: tuple[Commit, ...]
    """What the attempt added, oldest first."""

    @property
    def before(self) -> str:
        """The tree that the attempt started from."""
        return self.chain[self.start]

    def tree_of_tip(self, git: Git) -> str:
        """The tree that the attempt left."""
        if self.own:
            return self.own[-1].tree
        return self.chain.get(self.tip) or tree_of(git, self.tip)


@contextmanager
def landing_lock(repository: Repository) -> Iterator[None]:
    """Hold the repository's turn to land, waiting for it; one process at a time has it."""
    with locked(repository.private / "landing.lock"):
        yield


def propose(
    repository: Repository,
    branch: str,
    start: str,
    tip: str,
    *,
    story: str,
    title: str,
    attempt: int,
    attempt_id: str,
    mark: str | None = None,
    state_paths: tuple[str, ...],
    copy_files: tuple[str, ...],
    file_bytes: int,
) -> Candidate:
    """The commit with which the work from *start* to *tip* would land on the line of *branch*.

    *attempt* is the dispatch's number; *state_paths* and *copy_files* are paths from the root.
    Moves no ref. Raises MergeConflict, LandingRefused, ForeignCommit, LineLost, GitFailed.
    """
    rules = Rules(state_paths, copy_files, file_bytes)
    with merge_repository(repository, start) as git:
        reading = repository.git
        work = _find_work(reading, branch, start, tip, line_tip(repository, branch))
        subjects = _subjects(work, {attempt_id, mark})
        after = restore_state(git, work.before, work.tree_of_tip(reading), rules)
        tree, restored = _on_met(git, work, after, rules)
        changed = after != work.before and tree != work.chain[work.met]
        merged = _on_line(git, work, tree)
        final = filter_tree(git, work.chain[work.line], merged, rules)
        commit = git.text(
            *("commit-tree", final, "-p", work.line, "-F", "-"),
            stdin=render_message(story, title, subjects, attempt, attempt_id).encode(),
            env=_author(work.own[-1]) if work.own else {},
        )
    return Candidate(commit, final, work.line, restored, changed)


def land(
    repository: Repository,
    branch: str,
    candidate: Candidate,
    attempt_id: str,
    lease: str,
    along: tuple[RefChange, ...] = (),
) -> None:
    """Move marker and line to the candidate in one transaction, or move nothing.

    What is to move *along* with them is left where it is if it does not let itself be moved.
    Raises LineMoved, Superseded, AlreadyLanded, GitFailed.
    """
    marker = create(landed_ref(attempt_id), candidate.commit)
    move = update(line_ref(branch), candidate.commit, candidate.line_tip)
    if along:
        fence = verify(LEASE_REF, lease)
        reason = _reason(branch)
        if move_refs(repository.git, fence, marker, move, *along, reason=reason).code == 0:
            return
    move_line(repository, branch, marker, move, lease=lease, was=candidate.line_tip)


def move_line(
    repository: Repository, branch: str, *changes: RefChange, lease: str, was: str
) -> None:
    """Carry out *changes* to the line and what goes with it, if *lease* is still in force.

    *was* is the line's tip that the changes start from. Raises LineMoved, Superseded,
    AlreadyLanded, GitFailed.
    """
    git = repository.git
    done = move_refs(git, verify(LEASE_REF, lease), *changes, reason=_reason(branch))
    if done.code == 0:
        return
    if git.find(LEASE_REF) != lease:
        raise Superseded("another run has taken over this repository, nothing was landed")
    for change in changes:
        if change.verb == "create" and git.find(change.ref) is not None:
            raise AlreadyLanded(
                "this attempt has landed already",
                where=change.ref,
                fix="compare it with git log " + line_ref(branch),
            )
    if git.find(line_ref(branch)) != was:
        raise LineMoved(f"the line of {branch} moved on meanwhile, nothing was landed")
    raise GitFailed(done)


def _reason(branch: str) -> str:
    return f"qloop: land on {branch}"


def _find_work(git: Git, branch: str, start: str, tip: str, line: str) -> _Work:
    chain = trees_since(git, line, start)
    if not chain:
        raise LineLost(
            f"the line of {branch} no longer holds {start}, from which an attempt started",
            where=line_ref(branch),
            fix=f"see what happened with: git reflog show {line_ref(branch)}; then put it back "
            f"with: git update-ref {line_ref(branch)} COMMIT",
        )
    own = own_commits(git, tip, start, chain)
    met = _find_met(git, list(chain), own, tip)
    if met is None:
        raise LandingRefused((f"{tip}: does not descend from the attempt's start {start}",))
    return _Work(start=start, tip=tip, line=line, met=met, chain=chain, own=own)


def _find_met(git: Git, chain: list[str], own: tuple[Commit, ...], tip: str) -> str | None:
    """The first commit of *chain* that *tip* contains, or None where not even the last is."""
    made = {commit.name for commit in own}
    reached = {parent for commit in own for parent in commit.parents} - made if own else {tip}
    place = {commit: number for number, commit in enumerate(chain)}
    if reached and reached <= place.keys() and made.isdisjoint(place):
        # All that is not the attempt's own comes in through these, each with the chain below it.
        return chain[min(place[commit] for commit in reached)]
    return _newest_in(git, chain, tip) if git.is_ancestor(chain[-1], tip) else None


def _newest_in(git: Git, chain: list[str], tip: str) -> str:
    """The first commit of *chain* that *tip* contains; the last one it does contain.

    Each is asked for by ancestry: `rev-list --not` goes by dates, which an agent's clock gives.
    """
    low, high = 0, len(chain) - 1
    while low < high:
        middle = (low + high) // 2
        if git.is_ancestor(chain[middle], tip):
            high = middle
        else:
            low = middle + 1
    return chain[low]


def _subjects(work: _Work, own: set[str | None]) -> list[str]:
    """The subjects of the agent's commits, oldest first; what qloop committed for it has none.

    Raises ForeignCommit.
    """
    for commit in work.own:
        maker = marked_attempt(commit.committer)
        if maker is not None and maker not in own:
            raise ForeignCommit(commit.name, maker)
    return [commit.subject for commit in work.own if commit.committer != QLOOP_NAME]


def _on_line(git: Git, work: _Work, tree: str) -> str:
    """*tree*, which stands on the commit where the attempt met the line, merged with the line.

    Where that is the line's tip there is nothing to merge: it is the tree itself.
    """
    if work.met == work.line:
        return tree
    return merge_trees(git, work.line, commit_on(git, tree, work.met), work.line)


def _on_met(git: Git, work: _Work, after: str, rules: Rules) -> tuple[str, tuple[str, ...]]:
    """The attempt's tree as it stands on the commit where it met the line, and what that put back.

    The attempt may have taken in the moved line without its content: an `ours` merge, or a soft
    reset onto it, would undo landed work. Merging what the attempt did since its start brings it
    back.
    """
    if work.met == work.start:
        return after, ()
    tree = merge_trees(git, work.met, commit_on(git, after, work.start), work.line)
    differing = [change.path for change in changes_between(git, after, tree)]
    return tree, tuple(path for path in differing if not rules.is_state(path))


def _author(commit: Commit) -> dict[str, str]:
    """The environment that makes the author of *commit* the author of the next one."""
    name, email, date = commit.author
    author = {"GIT_AUTHOR_EMAIL": email, "GIT_AUTHOR_DATE": f"@{date}"}
    if not date:
        del author["GIT_AUTHOR_DATE"]
    if _NO_CRUD.search(name):
        author["GIT_AUTHOR_NAME"] = name
    return author
