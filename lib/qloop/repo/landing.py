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
from dataclasses import dataclass, replace

from qloop.repo.ancestry import Commit
from qloop.repo.checkout import Repository
from qloop.repo.generated import merge_generated
from qloop.repo.git import QLOOP_NAME, Git, GitFailed
from qloop.repo.landing_filter import Rules, changes_between, filter_tree, restore_state
from qloop.repo.line import LEASE_REF, landed_ref, line_ref, line_tip
from qloop.repo.marks import marked_attempt
from qloop.repo.meeting import Work, find_work
from qloop.repo.merging import MergeConflict, commit_on, merge_repository
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
    stale: tuple[str, ...] = ()
    """Generated paths that stand as on the line, and are to be made anew before it may land."""


@dataclass(frozen=True, slots=True)
class Solved:
    """What an attempt's work and the line came to, where a conflict between them was solved."""

    tree: str
    on: str
    """The commit of the line that it stands on."""
    stale: tuple[str, ...]
    """Generated paths that stand as on the line, and are to be made anew."""


@dataclass(frozen=True, slots=True)
class _Standing:
    """A tree that stands on a commit of the line."""

    on: str
    tree: str
    restored: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()


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
    rules: Rules,
    mark: str | None = None,
    solved: Solved | None = None,
) -> Candidate:
    """The commit with which the work from *start* to *tip* would land on the line of *branch*.

    *attempt* is the dispatch's number; *solved* is what the work and the line came to before.
    Moves no ref. Raises MergeConflict, LandingRefused, ForeignCommit, LineLost, GitFailed.
    """
    with merge_repository(repository, start) as git:
        work = find_work(repository.git, branch, start, tip, line_tip(repository, branch))
        subjects = _subjects(work, {attempt_id, mark})
        if solved is not None and solved.on in work.chain:
            standing = _Standing(solved.on, solved.tree, stale=solved.stale)
            changed = solved.tree != work.chain[solved.on]
        else:
            after = restore_state(git, work.before, work.tree_of_tip(repository.git), rules)
            standing = _on_met(git, work, after, rules)
            changed = after != work.before and standing.tree != work.chain[work.met]
        merged, stale = _on_line(git, work.line, standing, rules)
        final = filter_tree(git, work.chain[work.line], merged, rules)
        commit = git.text(
            *("commit-tree", final, "-p", work.line, "-F", "-"),
            stdin=render_message(story, title, subjects, attempt, attempt_id).encode(),
            env=_author(work.own[-1]) if work.own else {},
        )
    return Candidate(commit, final, work.line, standing.restored, changed, stale)


def renew(repository: Repository, candidate: Candidate, tree: str, rules: Rules) -> Candidate:
    """The candidate with *tree*, in which commands made its stale paths anew.

    Raises LandingRefused, GitFailed.
    """
    with merge_repository(repository, candidate.line_tip) as git:
        final = filter_tree(git, candidate.line_tip, tree, rules)
        _, _, rest = git.run("cat-file", "commit", candidate.commit).out.partition(b"\n")
        text = b"tree " + final.encode() + b"\n" + rest
        commit = git.text("hash-object", "-t", "commit", "-w", "--stdin", stdin=text)
    return replace(candidate, commit=commit, tree=final, stale=())


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


def _subjects(work: Work, own: set[str | None]) -> list[str]:
    """The subjects of the agent's commits, oldest first; what qloop committed for it has none.

    Raises ForeignCommit.
    """
    for commit in work.own:
        maker = marked_attempt(commit.committer)
        if maker is not None and maker not in own:
            raise ForeignCommit(commit.name, maker)
    return [commit.subject for commit in work.own if commit.committer != QLOOP_NAME]


def _on_line(git: Git, line: str, standing: _Standing, rules: Rules) -> tuple[str, tuple[str, ...]]:
    """What stands on a commit of the line merged with its tip, and what in it is stale.

    Where that commit is the tip there is nothing to merge: it is the tree itself.
    """
    if standing.on == line:
        return standing.tree, standing.stale
    theirs = commit_on(git, standing.tree, standing.on)
    try:
        tree, stale = merge_generated(git, line, theirs, standing.on, line, rules)
    except MergeConflict as exc:
        raise MergeConflict(exc.merge, _united(exc.stale, standing.stale)) from None
    return tree, _united(stale, standing.stale)


def _on_met(git: Git, work: Work, after: str, rules: Rules) -> _Standing:
    """The attempt's tree as it stands on the commit where it met the line.

    The attempt may have taken in the moved line without its content: an `ours` merge, or a soft
    reset onto it, would undo landed work. Merging what the attempt did since its start brings it
    back.
    """
    if work.met == work.start:
        return _Standing(work.met, after)
    theirs = commit_on(git, after, work.start)
    tree, stale = merge_generated(git, work.met, theirs, work.start, work.line, rules)
    differing = [change.path for change in changes_between(git, after, tree)]
    restored = (path for path in differing if not rules.is_state(path) and path not in stale)
    return _Standing(work.met, tree, tuple(restored), stale)


def _united(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({*one, *other}))


def _author(commit: Commit) -> dict[str, str]:
    """The environment that makes the author of *commit* the author of the next one."""
    name, email, date = commit.author
    author = {"GIT_AUTHOR_EMAIL": email, "GIT_AUTHOR_DATE": f"@{date}"}
    if not date:
        del author["GIT_AUTHOR_DATE"]
    if _NO_CRUD.search(name):
        author["GIT_AUTHOR_NAME"] = name
    return author
