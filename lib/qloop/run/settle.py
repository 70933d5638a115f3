"""Settling: from what is true of an attempt to the story's status. Pure.

Truth is git's answer to whether this attempt landed; what a coordinator told comes second, and
how its process ended last.
"""

from dataclasses import dataclass

from qloop.plan.model import Phase, Status
from qloop.run.orders import Failed, Settled

UNCHARGED_IN_A_ROW = 3
CRASHED = "crashed"
OUT_OF_TIME = "out of time"
STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class End:
    """How a coordinator was gone: its last word, and why where it gave none."""

    signal: str | None
    how: str
    """For people, such as `ended with exit code 1` or `was killed by signal 9`."""
    cause: str | None = None
    """CRASHED, OUT_OF_TIME or STOPPED where it did not end by itself."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """What becomes of a story: its status, and the failure log's entry where it failed."""

    status: Status
    failed: Failed | None


def settle(landed: str | None, told: Settled | None, end: End | None) -> Settlement:
    """The settlement of one dispatch, from git's truth, the coordinator's word and its end."""
    if landed is not None:
        return Settlement(Status.PASSED, None)
    failed = told.failed if told is not None else None
    if failed is None or (end is not None and end.cause in (OUT_OF_TIME, STOPPED)):
        # A wave that is being ended tells of agents that its end took along.
        failed = _unexplained(told, end)
    if failed.phase is Phase.INTERRUPTED or (failed.hindered and not failed.charged):
        return Settlement(Status.PENDING, failed)
    return Settlement(Status.FAILED, failed)


def _unexplained(told: Settled | None, end: End | None) -> Failed:
    """Why a story did not land where its coordinator gave no reason."""
    if told is not None and told.landed is not None:
        return Failed.infra(f"said to have landed as {told.landed}, which is not on the line")
    how = end.how if end is not None else "gave no reason"
    if end is not None and end.cause == STOPPED:
        return Failed.interrupted()
    if end is not None and end.cause == OUT_OF_TIME:
        return Failed(phase=Phase.TIMEOUT, reason=f"its coordinator {how}")
    return Failed(phase=Phase.CRASH, reason=f"its coordinator {how}")


def disagreement(signal: str | None, landed: frozenset[str], stories: tuple[str, ...]) -> str:
    """What a wave's signal says against the truth, for people; empty where they agree."""
    true_signal = "WAVE_PASSED" if landed.issuperset(stories) else "WAVE_FAILED"
    if signal in (true_signal, "BLOCKED"):
        return ""
    missing = [story for story in stories if story not in landed]
    facts = f"{', '.join(missing)} did not land" if missing else "every story landed"
    return f"said {signal or 'nothing'}, but {facts}"
