"""Changes of the person's repository, as values.

A change bears the attempt's mark or it does not; what is marked was done by the attempt's agent,
what is not marked was done by a person.
"""

from dataclasses import dataclass
from typing import Literal

from qloop.repo.swap import Swap

Kind = Literal["ref", "stash", "config", "hooks", "head", "worktree_files"]


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is not as it was."""

    kind: Kind
    name: str
    """The ref, stash message, `<file> <key>` of configuration, hook, head or path."""
    before: str | None
    """What it was before this was done to it; None: it was not there."""
    after: str | None
    """What it is now; None: it is not there. Configuration tells `set` and never a value."""
    how: str
    """What shows who did it: a reflog entry, a committer line or a traced command."""
    kept: str | None = None
    """For refs and detached heads: the agent's object, worth keeping."""
    undo: bool = False
    """Whether it is the last thing done there, so that *before* can be put back."""
    swap: Swap | None = None
    """For configuration: the file's bytes, where nobody else changed it."""

    @property
    def text(self) -> str:
        """The change in one line."""
        return f"{self.name}: {_value(self.before)} -> {_value(self.after)} ({self.how})"


@dataclass(frozen=True, slots=True)
class Changes:
    """What happened between two snapshots; qloop's own and other attempts' doings left out."""

    marked: tuple[Change, ...] = ()
    unmarked: tuple[Change, ...] = ()

    def __add__(self, other: "Changes") -> "Changes":
        return Changes(self.marked + other.marked, self.unmarked + other.unmarked)


def _value(value: str | None) -> str:
    return "none" if value is None else value
