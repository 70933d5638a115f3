"""The classes of a call's end: what an agent claims, or why it claims nothing. Pure.

Only what ended the call counts. A refusal that the agent recovered from is none, and what it
writes about limits and errors while it ends well is prose.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from qloop.agents.forms import TEXT
from qloop.agents.hindrances import (
    LAST_LINES,
    Cause,
    find_cause,
    find_errors,
    find_refused_option,
    plain_lines,
)
from qloop.agents.reading import Reading, Refusal
from qloop.agents.resets import find_reset_s, given_reset_s
from qloop.agents.signals import Said

LONGEST_TEXT = 300

AIDER = "aider"
"""It ends with exit code 0 on every error."""
GEMINI = "gemini"
"""Its exit code is the HTTP status of the last error, modulo 256."""
GEMINI_NO_AUTH = 41
STATUSES = (400, 401, 403, 404, 408, 429, 500, 502, 503, 504, 529)


class CallClass(StrEnum):
    """How a call ended."""

    PASSED = "passed"
    """It claims that its story is done."""
    FAILED = "failed"
    """It says that it failed, or its exit code does."""
    BLOCKED = "blocked"
    NO_SIGNAL = "no_signal"
    USAGE_LIMIT = "usage_limit"
    AUTHENTICATION = "authentication"
    CONFIGURATION = "configuration"
    OVERLOAD = "overload"
    NETWORK = "network"
    CRASH = "crash"
    """A signal of the system ended it."""
    STALL = "stall"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an agent that ended, as it can be seen from outside."""

    runner: str
    """The runner's name."""
    program: str
    """The last part of the path of the command that was started."""
    form: str
    """The form of its output (see `forms.FORMS`)."""
    code: int
    """Its exit code, negative for a signal of the system."""
    reading: Reading
    said: Said
    seconds: float = 0.0
    timed_out: bool = False
    stalled: bool = False

    def is_of(self, name: str) -> bool:
        """Whether it is a call of that agent command line."""
        return name in (self.runner, self.program)


@dataclass(frozen=True, slots=True)
class Hindrance:
    """Why an agent could not work: nothing that its story is charged for."""

    cause: Cause
    text: str
    """What it said of it, in a line."""
    resets_at_s: float | None = None
    """When it may work again, in seconds since the epoch, where that could be read."""


def classify(call: Call, now_s: float) -> CallClass:
    """The class of a call; *now_s* is the present in seconds since the epoch."""
    hindrance = find_hindrance(call, now_s)
    if call.stalled:
        return CallClass.STALL
    if hindrance is not None:
        return CallClass(hindrance.cause)
    if call.timed_out:
        return CallClass.TIMEOUT
    if call.code < 0:
        return CallClass.CRASH
    return _claimed(call)


def _claimed(call: Call) -> CallClass:
    match call.said.signal:
        case "BLOCKED":
            return CallClass.BLOCKED
        case "STORY_PASSED" if call.code == 0 and not call.reading.failed:
            return CallClass.PASSED
        case "STORY_FAILED" | "STORY_PASSED":
            return CallClass.FAILED
        case _:
            return CallClass.NO_SIGNAL if call.code == 0 else CallClass.FAILED


def find_hindrance(call: Call, now_s: float) -> Hindrance | None:
    """What kept the agent from working, where that ended the call; else None."""
    if call.stalled or not _may_count(call):
        return None
    for refusal in _refusals(call):
        reset_s = _reset_s(call, refusal, now_s)
        cause = find_cause(replace(refusal, resets_at_s=reset_s))
        if cause is not None:
            return Hindrance(cause, _shorten(refusal.text), reset_s)
    option = find_refused_option(_printed(call), call.seconds) if call.code > 0 else ""
    return Hindrance(Cause.CONFIGURATION, _shorten(option)) if option else None


def _may_count(call: Call) -> bool:
    """Whether a call ended so that a refusal may be why."""
    if call.timed_out:
        return call.reading.failed and call.reading.refused is not None
    return call.reading.failed or call.said.signal is None


def _refusals(call: Call) -> Iterator[Refusal]:
    """What may have ended the call, the most telling first."""
    status = _status_of_exit(call)
    last = call.reading.refused
    if call.reading.failed and last is not None:
        yield replace(last, status=last.status or status)
    if call.code != 0 or call.reading.failed or call.is_of(AIDER):
        yield from find_errors(_printed(call))
    if status is not None:
        yield Refusal(f"it ended with exit code {call.code}, the mark of status {status}", status)


def _reset_s(call: Call, refusal: Refusal, now_s: float) -> float | None:
    """When a refusal ends: as the agent gave it, else as it stands in what it printed."""
    given = [one.resets_at_s for one in call.reading.refusals if one.resets_at_s is not None]
    reset_s = given_reset_s(given[-1], now_s) if given else None
    if reset_s is not None:
        return reset_s
    end = "\n".join(plain_lines(_printed(call))[-LAST_LINES:])
    return find_reset_s(f"{refusal.text}\n{end}", now_s)


def _printed(call: Call) -> str:
    """The text in which a line may be an error's own: never the answer of a structured form."""
    return call.reading.answer if call.form == TEXT else call.reading.stray


def _status_of_exit(call: Call) -> int | None:
    """The HTTP status that an exit code stands for, where the command line works so."""
    if not call.is_of(GEMINI):
        return None
    if call.code == GEMINI_NO_AUTH:
        return 401
    return next((one for one in STATUSES if one % 256 == call.code), None)


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_TEXT else line[: LONGEST_TEXT - 1] + "…"
