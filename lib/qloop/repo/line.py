"""The line: the ref on which stories land, beside the feature branch that follows it.

The line of branch B is `refs/qloop/line/B`; `refs/qloop/followed/B` keeps the value of B that
the line last took in or wrote. What landed is read off git alone: an attempt's marker, whose
commit stands on the line's first-parent chain and names the attempt in its trailers.
Errors: PersonNeeded where branch or line were moved by somebody in a way that only a person can
judge, BadInput where the branch's name cannot be used.
"""

import re
import secrets
from dataclasses import dataclass

from qloop.repo.ancestry import first_parents
from qloop.repo.checkout import Repository, head_commit
from qloop.repo.git import Git, GitFailed
from qloop.repo.transaction import RefChange, create, move_refs
from qloop.system.errors import BadInput, PersonNeeded

LEASE_REF = "refs/qloop/lease"


class LineLost(PersonNeeded):
    """The line no longer holds a commit that it held."""


def branch_ref(branch: str) -> str:
    """The feature branch's own ref."""
    return f"refs/heads/{branch}"


def line_ref(branch: str) -> str:
    """Where the stories of *branch* land."""
    return f"refs/qloop/line/{branch}"


def followed_ref(branch: str) -> str:
    """The value of *branch* that the line last took in or wrote."""
    return f"refs/qloop/followed/{branch}"


def landed_ref(attempt_id: str) -> str:
    """The marker of an attempt that landed."""
    return f"refs/qloop/landed/{attempt_id}"


@dataclass(frozen=True, slots=True)
class Tips:
    """Where line, branch and followed value stand; None for what does not exist."""

    line: str | None
    branch: str | None
    followed: str | None


def read_tips(repository: Repository, branch: str) -> Tips:
    """The commits of the three refs of *branch*, from one look."""
    refs = (line_ref(branch), branch_ref(branch), followed_ref(branch))
    return Tips(*repository.git.find_all(*(f"{ref}^{{commit}}" for ref in refs)))


def ensure_line(repository: Repository, branch: str) -> str:
    """Make sure that branch, line and followed value exist; return the line's tip.

    A missing branch is made at the main checkout's commit, a missing line at the branch.
    Raises BadInput and PersonNeeded.
    """
    git = repository.git
    _check_name(git, branch)
    tips = read_tips(repository, branch)
    tip, line, followed = check_followed(git, branch, tips), tips.line, tips.followed
    start = tip or head_commit(repository)
    if line is not None and followed is not None:
        _check_holds_followed(git, branch, line, followed)
    changes: list[RefChange] = []
    if tip is None:
        changes.append(create(branch_ref(branch), start))
    if line is None:
        changes.append(create(line_ref(branch), start))
    if followed is None:
        changes.append(create(followed_ref(branch), _common(git, branch, start, line)))
    if changes:
        reason = f"qloop: start the line of {branch}"
        done = move_refs(git, *changes, reason=reason, keep_reflog=True)
        if done.code != 0:
            raise GitFailed(done)
    return line or start


def line_tip(repository: Repository, branch: str) -> str:
    """The line's newest commit. Raises LineLost where there is no line."""
    return known_line(branch, repository.git.find(f"{line_ref(branch)}^{{commit}}"))


def known_line(branch: str, tip: str | None) -> str:
    """The line's *tip*, which may have been looked for in vain. Raises LineLost then."""
    if tip is None:
        raise LineLost(
            f"the line of {branch} is gone",
            where=line_ref(branch),
            fix="start qloop again to begin a new one at the branch",
        )
    return tip


def find_branch_tip(repository: Repository, branch: str) -> str | None:
    """The branch's commit, or None where it does not exist and never did.

    Raises PersonNeeded where the branch was followed and is deleted, moved back or rewritten.
    """
    return check_followed(repository.git, branch, read_tips(repository, branch))


def check_followed(git: Git, branch: str, tips: Tips) -> str | None:
    """`find_branch_tip` of tips that were read. Raises PersonNeeded."""
    tip, followed = tips.branch, tips.followed
    if followed in (None, tip):
        return tip
    assert followed is not None
    if tip is not None and git.is_ancestor(followed, tip):
        return tip
    if tip is None:
        what, back = "was deleted", f"git branch {branch} {followed}"
    else:
        moved_back = git.is_ancestor(tip, followed)
        what = f"was moved back to {tip}" if moved_back else f"was rewritten and is now {tip}"
        back = (
            f"git branch --force {branch} {followed} (where it is checked out: "
            f"git reset --keep {followed})"
        )
    raise PersonNeeded(
        f"branch {branch} {what}; its work up to {followed} is on the line",
        where=branch_ref(branch),
        fix=f"undo that with: {back}; or begin a new line without that work with: "
        f"git update-ref -d {line_ref(branch)} && git update-ref -d {followed_ref(branch)}",
    )


def write_lease(repository: Repository, run_id: str) -> str:
    """Put a lease of this run's own into `refs/qloop/lease`, and return its object name.

    It replaces any other, whose holder can land nothing from then on.
    """
    git = repository.git
    content = f"{run_id}\n{secrets.token_hex(16)}\n"
    lease = git.text("hash-object", "-w", "--stdin", stdin=content.encode())
    git.run("update-ref", "--no-deref", "-m", f"qloop: run {run_id}", LEASE_REF, lease)
    return lease


def find_landed(repository: Repository, branch: str, attempt_id: str, story: str) -> str | None:
    """The commit with which an attempt landed on the line, or None if it did not."""
    git = repository.git
    asked = (landed_ref(attempt_id), line_ref(branch))
    marked, line = git.find_all(*(f"{ref}^{{commit}}" for ref in asked))
    if marked is None or line is None:
        return None
    if marked != line and not chain_since(git, line, marked):
        return None
    content = git.read_object(marked)
    if content is None:
        content = git.run("cat-file", "commit", marked).out
    last_lines = content.decode("utf-8", "surrogateescape").rstrip("\n").splitlines()[-2:]
    if len(last_lines) != 2 or last_lines[0] != f"Qloop-Story: {story}":
        return None
    trailer = re.fullmatch(r"Qloop-Attempt: \d+ (\S+)", last_lines[1])
    return marked if trailer is not None and trailer.group(1) == attempt_id else None


def chain_since(git: Git, tip: str, since: str) -> list[str]:
    """The first-parent chain from *tip* down to *since*, both included, newest first.

    Empty where *since* does not stand on that chain.
    """
    near = first_parents(git.read_object, tip, since)
    if near is not None:
        return list(near)
    text = git.text("rev-list", "--first-parent", tip, "--not", f"{since}^@")
    chain = text.split()
    return chain if since in chain else []


_TRIED_NEXT = ("refs/", "refs/tags/", "refs/heads/", "refs/remotes/")
"""Where git looks for a ref by its full name as well, see gitrevisions(7)."""


def _check_name(git: Git, branch: str) -> None:
    if git.holds("symbolic-ref", "--quiet", branch_ref(branch)):
        raise BadInput(
            f"branch {branch} is only another name for a branch",
            where=branch_ref(branch),
            fix="set branchName to the branch that it stands for: "
            f"git symbolic-ref {branch_ref(branch)}",
        )
    refs = (branch_ref(branch), line_ref(branch), followed_ref(branch))
    roots = [ref.removesuffix(branch) + branch.split("/", 1)[0] for ref in refs]
    likes = {f"{folder}{ref}": ref for folder in _TRIED_NEXT for ref in refs}
    existing = git.text("for-each-ref", "--format=%(refname)", *roots, *likes).splitlines()
    for like in likes.keys() & existing:
        raise BadInput(
            f"git takes {like} for {likes[like]} where that does not exist",
            where=like,
            fix=f"rename it, or delete it: git update-ref -d {like}",
        )
    for ref in refs:
        clash = _find_clash(ref, existing)
        if clash is not None:
            raise BadInput(
                f"branchName {branch} cannot be used beside {clash}, git keeps refs as files in "
                "folders",
                where=clash,
                fix="choose another branchName, or rename or delete that ref",
            )


def _find_clash(ref: str, existing: list[str]) -> str | None:
    for other in existing:
        if ref.startswith(f"{other}/") or other.startswith(f"{ref}/"):
            return other
    return None


def _check_holds_followed(git: Git, branch: str, line: str, followed: str) -> None:
    if git.is_ancestor(followed, line):
        return
    raise LineLost(
        f"the line of {branch} was moved to {line} and no longer holds {followed}",
        where=line_ref(branch),
        fix=f"see what happened with: git reflog show {line_ref(branch)}; then put it back with: "
        f"git update-ref {line_ref(branch)} COMMIT",
    )


def _common(git: Git, branch: str, tip: str, line: str | None) -> str:
    """What branch and line share: the value to follow from where none was kept."""
    if line is None:
        return tip
    shared = git.attempt("merge-base", tip, line)
    if shared.code not in (0, 1):
        raise GitFailed(shared)
    if shared.code == 1:
        raise LineLost(
            f"branch {branch} and its line have no history in common",
            where=line_ref(branch),
            fix=f"begin a new line at the branch with: git update-ref -d {line_ref(branch)}",
        )
    return shared.text
