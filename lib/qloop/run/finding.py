"""A finding of a check-up: what was looked at, how it stands, and what to do about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from qloop.system.errors import Faults, QloopError

MOST_NAMED = 5

Health = Literal["ok", "warn", "bad"]
"""`warn`: a run works, but not as a person might think; `bad`: no run can start as things are."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    check: str
    """What was looked at, in a word or two."""
    state: Health
    text: str
    fix: str = ""


def from_error(check: str, error: QloopError) -> Finding:
    """A finding that keeps a run from starting, from the error that the run would end with."""
    faults = [f"\n{fault}" for fault in error.faults] if isinstance(error, Faults) else []
    where = f" ({error.where})" if error.where else ""
    return Finding(check, "bad", f"{error.what}{where}{''.join(faults)}", error.fix)


def enumerate_names(names: Sequence[str]) -> str:
    """Names for people; of many, the first ones and a count."""
    if len(names) <= MOST_NAMED:
        return ", ".join(names)
    return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} more"
