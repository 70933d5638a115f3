"""Names of attempts, and where their repositories and worktrees lie.

An attempt id, `<story>.<n>.<8 hex digits>`, is a file name and a component of a ref as it stands.
Errors: BadInput for a folder in which worktrees must not be made.
"""

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from qloop.repo.checkout import Repository
from qloop.system.errors import BadInput

_ATTEMPT = re.compile(r"([A-Za-z0-9][A-Za-z0-9_-]{0,63})\.([1-9][0-9]*)\.([0-9a-f]{8})")
_REVIEW = "review."
_MERGE = "merge."
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class AttemptName:
    """The parts of an attempt id."""

    story: str
    attempt: int
    nonce: str


def attempt_id(story: str, attempt: int, nonce: str) -> str:
    """The id of one dispatch of a story; *nonce* is eight hex digits, new for each dispatch."""
    made = f"{story}.{attempt}.{nonce}"
    if parse_attempt_id(made) is None:
        raise BadInput(f"{made!r} is no attempt id")
    return made


def parse_attempt_id(text: str) -> AttemptName | None:
    """The parts of an attempt id, or None where *text* is none."""
    match = _ATTEMPT.fullmatch(text)
    if match is None:
        return None
    story, attempt, nonce = match.groups()
    return AttemptName(story, int(attempt), nonce)


def review_name(attempt: str) -> str:
    """The name of the checkout in which an attempt, given by its id, is reviewed."""
    return f"{_REVIEW}{attempt}"


def merge_name(attempt: str) -> str:
    """The name of the worktree in which an attempt, given by its id, is merged with the line."""
    return f"{_MERGE}{attempt}"


def attempt_of(name: str) -> str:
    """The id of the attempt that a workspace belongs to: its own, a review's or a merge's.

    A name of another kind is returned as it is.
    """
    return name.removeprefix(_REVIEW).removeprefix(_MERGE)


def workspace_base(root_override: str | None, repository: Repository) -> Path:
    """The folder for attempt repositories and worktrees; it need not exist yet.

    *root_override* is the setting `worktree_root`; without one the user's state folder is taken.
    Raises BadInput for a folder inside the person's checkout or git directory.
    """
    if root_override is None:
        root = Path(platformdirs.user_state_dir("qloop"))
    else:
        root = repository.root / Path(root_override).expanduser()
    digest = hashlib.sha256(os.fsencode(repository.git_dir)).hexdigest()[:8]
    base = root.resolve() / f"{_plain(repository.root.name)}-{digest}"
    for forbidden in (repository.root, repository.git_dir):
        if base.is_relative_to(forbidden):
            raise BadInput(
                "worktrees must not lie inside the repository",
                where=str(base),
                fix="set worktree_root in qloop.toml to a folder outside of it",
            )
    return base


def readers_base(root_override: str | None, repository: Repository) -> Path:
    """The folder for the checkouts of agents that only read, which need no run lock.

    It lies beside the one of attempts: what a dead run left is ended by where it works. Raises
    BadInput as `workspace_base` does.
    """
    base = workspace_base(root_override, repository)
    return base.with_name(f"{base.name}-readers")


def _plain(name: str) -> str:
    """A folder name without what trips build tools: blanks, quotes, letters beyond ASCII."""
    return _UNSAFE.sub("-", name).strip(".-") or "repository"
