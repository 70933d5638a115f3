"""The end of a run: the checkout that holds the feature branch is brought up to the line.

This is the one time that the files of a person's checkout are written, by one fast-forward that
git itself refuses where it would overwrite work; what git would overwrite without a word, ignored
files, is looked for first. Source: git-merge(1), --ff-only.
"""

import os
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from qloop.repo.checkout import Repository
from qloop.repo.follow import follow, note_followed
from qloop.repo.git import persons_git
from qloop.repo.holders import find_checkouts, find_returning, is_held, is_unfinished
from qloop.repo.landing_filter import Change, changes_between
from qloop.repo.line import branch_ref, find_branch_tip, followed_ref, line_ref, line_tip
from qloop.repo.merging import shown_path
from qloop.repo.removal import is_real_folder, lies_there
from qloop.system.errors import PersonNeeded

_NOTHING_ELSE_RUNS = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"),
    *("-c", "gc.auto=0", "-c", "maintenance.auto=false"),
)


@dataclass(frozen=True, slots=True)
class Finish:
    """What became of the branch at the end of a run."""

    moved: bool
    """Whether the branch was moved to the line's tip."""
    message: str | None
    """Why the branch does not hold the line's tip, and the command that brings it there."""


def finish(repository: Repository, branch: str, *, journal_intent: Callable[[str], None]) -> Finish:
    """Bring *branch* to the line's tip, in the checkout that holds it if one does.

    *journal_intent* is called with the command before a checkout is written. Raises LineLost and
    GitFailed; what a person has to do is in the message.
    """
    line = line_tip(repository, branch)
    try:
        tip = find_branch_tip(repository, branch)
    except PersonNeeded as exc:
        return Finish(False, str(exc))
    if tip is not None and tip != line and repository.git.is_ancestor(line, tip):
        return Finish(False, None)  # it holds the line and more, which the next run takes in
    if tip is None or not repository.git.is_ancestor(tip, line):
        return Finish(False, _apart(repository, branch))
    _note(repository, branch, tip)
    if tip == line:
        return Finish(False, None)
    if not is_held(repository, branch):
        follow(repository, branch)
        moved = repository.git.find(branch_ref(branch)) == line
        return Finish(moved, None if moved else _apart(repository, branch))
    obstacle = _find_obstacle(repository, branch, tip, line)
    if obstacle is not None:
        return Finish(False, obstacle)
    return _fast_forward(repository, branch, line, journal_intent)


def _find_obstacle(repository: Repository, branch: str, tip: str, line: str) -> str | None:
    returning = find_returning(repository, branch)
    if returning:
        return _by_hand(branch, returning[0], "a rebase or bisect is not finished; when it is")
    checkouts = find_checkouts(repository, branch)
    if not checkouts:
        return _apart(repository, branch)
    first, *others = checkouts
    if others:
        places = ", ".join(map(str, others))
        return _by_hand(branch, first, f"it is checked out in {places} too; switch there first")
    if is_unfinished(first):
        return _by_hand(branch, first, "a merge or the like is not finished there; when it is")
    in_the_way = sorted(set(_in_the_way(first, changes_between(repository.git, tip, line))))
    if in_the_way:
        names = ", ".join(shown_path(path) for path in in_the_way)
        return _by_hand(branch, first, f"in the way lies {names}; move that aside")
    return None


def _fast_forward(
    repository: Repository, branch: str, line: str, journal_intent: Callable[[str], None]
) -> Finish:
    checkout = find_checkouts(repository, branch)[0]
    journal_intent(_command(checkout, branch))
    done = persons_git(
        checkout,
        *_NOTHING_ELSE_RUNS,
        *("merge", "--quiet", "--ff-only", "--no-autostash", "--no-overwrite-ignore"),
        line_ref(branch),
    )
    if done.code != 0:
        complaint = " ".join(done.complaint.split())
        return Finish(False, _by_hand(branch, checkout, f"git refused ({complaint}); after that"))
    _note(repository, branch, line)
    return Finish(True, None)


def _in_the_way(root: Path, changes: list[Change]) -> Iterator[str]:
    """What lies where a path is to be added, other than tracked files that are to go."""
    gone = {change.path for change in changes if not change.is_there}
    for change in changes:
        if not change.was_there:
            obstacle = _find_in_the_way(root, change.path, gone)
            if obstacle is not None:
                yield obstacle


def _find_in_the_way(root: Path, path: str, gone: set[str]) -> str | None:
    pure = PurePosixPath(path)
    for part in (*reversed(pure.parents[:-1]), pure):
        place = root / part
        if not lies_there(place):
            return None
        if not is_real_folder(place):
            return None if str(part) in gone else str(part)
    inside = (file.relative_to(root).as_posix() for file in _files_below(root / path))
    return path if any(name not in gone for name in inside) else None


def _files_below(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        links = [name for name in folders if (Path(here) / name).is_symlink()]
        yield from (Path(here) / name for name in (*files, *links))


def _note(repository: Repository, branch: str, tip: str) -> None:
    followed = repository.git.find(followed_ref(branch))
    if followed is not None and followed != tip:
        note_followed(repository, branch, tip, followed)


def _apart(repository: Repository, branch: str) -> str:
    checkouts = find_checkouts(repository, branch)
    place = shlex.quote(str(checkouts[0] if checkouts else repository.root))
    switch = "" if checkouts else f"git -C {place} switch {shlex.quote(branch)} && "
    return (
        f"branch {branch} and its line each hold commits that the other lacks; put them together "
        f"(the next run that has a story to do does so too): "
        f"{switch}git -C {place} merge {line_ref(branch)}"
    )


def _by_hand(branch: str, checkout: Path, why: str) -> str:
    return f"branch {branch} is not at its line's tip yet: {why}: {_command(checkout, branch)}"


def _command(checkout: Path, branch: str) -> str:
    return f"git -C {shlex.quote(str(checkout))} merge --ff-only {line_ref(branch)}"
