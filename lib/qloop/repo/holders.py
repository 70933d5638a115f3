"""Which checkouts hold a branch, and whether git is in the middle of something there.

A checkout holds the branch that its HEAD names, and also the one that it will go back to or
rewrite when a rebase or bisect in it ends. Source: git-worktree(1), gitrepository-layout(5).
"""

import os
from pathlib import Path

from qloop.repo.checkout import Repository
from qloop.repo.git import persons_git
from qloop.repo.line import branch_ref
from qloop.system.files import read_optional

_UNFINISHED = (
    "rebase-merge",
    "rebase-apply",
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "BISECT_START",
    "sequencer",
)
_RETURNS_TO = (
    "rebase-merge/head-name",
    "rebase-apply/head-name",
    "rebase-merge/update-refs",
    "BISECT_START",
)
"""Files of a git directory that name branches, each on a line of its own."""


def find_checkouts(repository: Repository, branch: str) -> list[Path]:
    """The folders whose HEAD names *branch*. One that is gone from the disk holds nothing."""
    fields = repository.git.run("worktree", "list", "--porcelain", "-z").out.split(b"\0\0")
    found: list[Path] = []
    for number, record in enumerate(fields):
        lines = record.decode("utf-8", "surrogateescape").split("\0")
        if f"branch {branch_ref(branch)}" not in lines:
            continue
        if number == 0:  # the main checkout; git guesses its folder where core.worktree is set
            found.append(repository.root)
        elif not any(line.partition(" ")[0] == "prunable" for line in lines):
            found.append(Path(lines[0].removeprefix("worktree ")))
    return found


def find_returning(repository: Repository, branch: str) -> list[Path]:
    """The folders in which a rebase or bisect will go back to *branch*, or move it, at its end."""
    names = {branch, branch_ref(branch)}
    found = [repository.root] if names & _returns(repository.git_dir) else []
    for admin in sorted((repository.git_dir / "worktrees").glob("*")):
        if names & _returns(admin):
            link = os.fsdecode(read_optional(admin / "gitdir") or b"").strip()
            found.append((admin / link).parent)
    return found


def is_held(repository: Repository, branch: str) -> bool:
    """Whether any checkout holds *branch*, so that it must not be moved under it."""
    if find_returning(repository, branch):
        return True
    heads = (repository.git_dir / "HEAD", *(repository.git_dir / "worktrees").glob("*/HEAD"))
    # Only git can tell what a checkout stands on where its HEAD is no plain text of git's.
    sure = (b"ref: refs/heads/.invalid", branch_ref(branch).encode("utf-8", "surrogateescape"))
    if any(head.is_symlink() or _mentions(head, sure) for head in heads):
        return bool(find_checkouts(repository, branch))
    return False


def is_unfinished(checkout: Path) -> bool:
    """Whether a merge, rebase, pick, revert or bisect waits to be finished in *checkout*."""
    done = persons_git(checkout, "rev-parse", "--path-format=absolute", "--git-dir")
    return done.code != 0 or any((Path(done.text) / name).exists() for name in _UNFINISHED)


def _mentions(file: Path, words: tuple[bytes, ...]) -> bool:
    data = read_optional(file) or b""
    return any(word in data for word in words)


def _returns(admin: Path) -> set[str]:
    names: set[str] = set()
    for file in _RETURNS_TO:
        names.update(os.fsdecode(read_optional(admin / file) or b"").split("\n"))
    return names
