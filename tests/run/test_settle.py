"""Settling, as a table: what is true and what was told, to what stands in the file."""

import pytest

from qloop.plan.model import Phase, Status
from qloop.run.orders import Failed, Settled
from qloop.run.settle import CRASHED, OUT_OF_TIME, STOPPED, End, disagreement, settle

COMMIT = "c" * 40
RED = Failed(phase=Phase.VERIFICATION, reason="exit 1")
STOP = Failed(phase=Phase.INTERRUPTED, reason="the run was stopped", charged=False)
DISK = Failed(phase=Phase.INFRA, reason="no space left", charged=False)
AGENT_TERMED = Failed(phase=Phase.CRASH, reason="the agent was killed by SIGTERM")


def told(*, landed: str | None = None, failed: Failed | None = None) -> Settled:
    """What a coordinator says of an attempt."""
    return Settled(
        story="A-1", attempt=1, attempt_id="A-1.1.0a1b2c3d", landed=landed, failed=failed
    )


def ended(cause: str | None) -> End:
    """How a coordinator came to its end."""
    return End(signal=None, how="was killed by signal 9", cause=cause)


@pytest.mark.parametrize("word", [None, told(landed=COMMIT), told(failed=RED), told(failed=STOP)])
@pytest.mark.parametrize("end", [None, *map(ended, (CRASHED, OUT_OF_TIME, STOPPED, None))])
def test_what_stands_on_the_line_has_passed(word: Settled | None, end: End | None) -> None:
    """Whatever was said, and however the coordinator ended."""
    settlement = settle(COMMIT, word, end)

    assert (settlement.status, settlement.failed) == (Status.PASSED, None)


@pytest.mark.parametrize(
    ("word", "end", "status", "phase", "charged"),
    [
        (told(failed=RED), None, "failed", "verification", True),
        (told(failed=DISK), None, "failed", "infra", False),
        (told(failed=STOP), None, "pending", "interrupted", False),
        (told(failed=RED), ended(CRASHED), "failed", "verification", True),
        (told(landed=COMMIT), None, "failed", "infra", False),
        (told(), None, "failed", "crash", True),
        (None, ended(CRASHED), "failed", "crash", True),
        (None, ended(None), "failed", "crash", True),
        (None, ended(OUT_OF_TIME), "failed", "timeout", True),
        (None, ended(STOPPED), "pending", "interrupted", False),
        # Ending a wave ends its agents, and its coordinator may live to tell of that.
        (told(failed=STOP), ended(OUT_OF_TIME), "failed", "timeout", True),
        (told(failed=AGENT_TERMED), ended(OUT_OF_TIME), "failed", "timeout", True),
        (told(failed=AGENT_TERMED), ended(STOPPED), "pending", "interrupted", False),
    ],
)
def test_what_did_not_land(
    word: Settled | None, end: End | None, status: str, phase: str, charged: bool
) -> None:
    """The status, the phase of the failure log's entry, and whether the story is charged."""
    settlement = settle(None, word, end)

    assert settlement.failed is not None
    assert (settlement.status, settlement.failed.phase) == (status, phase)
    assert settlement.failed.charged is charged


@pytest.mark.parametrize(
    ("signal", "landed", "text"),
    [
        ("WAVE_PASSED", {"A", "B"}, ""),
        ("WAVE_FAILED", {"A"}, ""),
        ("BLOCKED", set(), ""),
        ("WAVE_PASSED", {"A"}, "said WAVE_PASSED, but B did not land"),
        ("WAVE_FAILED", {"A", "B"}, "said WAVE_FAILED, but every story landed"),
        ("COMPLETE", {"A", "B"}, "said COMPLETE, but every story landed"),
        ("STORY_PASSED", set(), "said STORY_PASSED, but A, B did not land"),
        (None, {"B"}, "said nothing, but A did not land"),
    ],
)
def test_a_signal_that_is_not_the_truth_is_named(
    signal: str | None, landed: set[str], text: str
) -> None:
    """A wave's word is compared with what landed."""
    assert disagreement(signal, frozenset(landed), ("A", "B")) == text
