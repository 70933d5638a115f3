"""Reading what an agent printed: one reader for each form of output, fed as the bytes come.

A reader takes pieces of any size, lines of any length, broken UTF-8, terminal codes and a last
line without an end. What it cannot read it leaves out; it never raises for what an agent wrote.
"""

from dataclasses import dataclass, field
from typing import Protocol

from qloop.agents.signals import Said, parse_signal
from qloop.agents.usage import Usage


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a model or its service did not answer, as the agent told it."""

    text: str
    status: int | None = None
    """The HTTP status, where it is known."""
    kind: str = ""
    """The agent's own word for it, such as `rate_limit` or `usage_limit_reached`."""
    resets_at_s: float | None = None
    """When a limit ends, in seconds since the epoch, where the agent gave an instant."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What an agent's output comes to."""

    answer: str = ""
    """Its final answer; for plain text the whole output. Signals count only here."""
    session: str | None = None
    turns: int | None = None
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    refusals: tuple[Refusal, ...] = ()
    """In order; those that the agent recovered from included."""
    recovered: int = 0
    """How many of them, from the first on, the model went on after."""
    failed: bool = False
    """The output itself says that the call did not end well, or breaks off."""
    error: str = ""
    """What went wrong, as the agent told it; empty where it told nothing."""
    denials: tuple[str, ...] = ()
    """Tools that it was not allowed to use."""
    stray: str = ""
    """The end of what stood outside of the form, such as an error on standard error; for plain
    text nothing does."""

    @property
    def refused(self) -> Refusal | None:
        """The refusal after which nothing came of the model; None where something did."""
        return self.refusals[-1] if len(self.refusals) > self.recovered else None


@dataclass(frozen=True, slots=True)
class Line:
    """One readable line of what an agent did, for people."""

    kind: str
    """`said`, `tool`, `result`, `error`, `cost` or `note`."""
    text: str


class Reader(Protocol):
    """Reads one call's output."""

    def feed(self, data: bytes) -> list[Line]:
        """Take the next piece; the readable lines that became whole."""
        ...

    def finish(self) -> Reading:
        """What it all came to, once the output has ended."""
        ...


def claimed_signal(reading: Reading, exit_code: int) -> Said:
    """The signal of a final answer; a call that failed cannot claim to have passed."""
    said = parse_signal(reading.answer, exit_code)
    if reading.failed and said.signal == "STORY_PASSED":
        return Said(None, said.line, "said STORY_PASSED, but its output tells of a failed call")
    if said.line is None and reading.error:
        return Said(None, None, f"the call failed: {reading.error}")
    if said.line is None and reading.failed:
        return Said(None, None, "its output breaks off before a final answer")
    return said
