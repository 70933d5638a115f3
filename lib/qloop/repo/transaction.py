"""Moving refs: all of several or none, each only from the very value that was seen.

Errors: none raised here; the caller looks at the exit code and at the refs to learn what stood
in the way. Source: git-update-ref(1), --stdin. Git takes every ref's lock, compares, and only then
writes, in the order given; so of two that start from the same value one alone can win.
"""

import os
from dataclasses import dataclass

from qloop.repo.git import Git
from qloop.repo.starts import PATIENT
from qloop.system.process import Completed


@dataclass(frozen=True, slots=True)
class RefChange:
    """One line of a transaction: `create`, `update` or `verify` with its values."""

    verb: str
    ref: str
    values: tuple[str, ...]


def create(ref: str, new: str) -> RefChange:
    """Make *ref*, which must not exist."""
    return RefChange("create", ref, (new,))


def update(ref: str, new: str, old: str) -> RefChange:
    """Move *ref* from *old* to *new*."""
    return RefChange("update", ref, (new, old))


def verify(ref: str, value: str) -> RefChange:
    """Let nothing move unless *ref* has *value*."""
    return RefChange("verify", ref, (value,))


def move_refs(git: Git, *changes: RefChange, reason: str, keep_reflog: bool = False) -> Completed:
    """Carry out *changes* in their order, or none of them; exit code 0 means all.

    *reason* stands in the reflogs; *keep_reflog* starts one where git would not.
    """
    options = ["--create-reflog"] if keep_reflog else []
    words = ["start"]
    for change in changes:
        words += (f"{change.verb} {change.ref}", *change.values)
    words += ("prepare", "commit")
    return git.attempt(
        *(*PATIENT, "update-ref", "--no-deref", "-m", reason, *options, "--stdin", "-z"),
        stdin=b"".join(os.fsencode(word) + b"\0" for word in words),
    )
