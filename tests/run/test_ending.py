"""How runs end, as a table: what the driver knows where it starts nothing more."""

from typing import Any

import pytest

from plan.plans import plan, story
from qloop.plan.model import Plan
from qloop.run.ending import Halt, conclude
from qloop.run.given_up import GivenUp
from qloop.system.errors import BadInput

READY = plan(story("A"))
PASSED = plan(story("A", status="passed"))
BLOCKED = plan(story("A", status="blocked"))
REFUSED = BadInput("the model was refused")
PAUSES = ("claude pauses until then",)


def halted(**facts: Any) -> Halt:
    """A driver that stands still; nothing is the matter unless *facts* say so."""
    usual: dict[str, Any] = {
        "interrupted": False,
        "refused": None,
        "waiting": None,
        "red": None,
        "pauses": (),
        "started": 2,
        "may_start": True,
    }
    given_up = GivenUp(
        facts.pop("stopped", {}), facts.pop("unpaid", set()), facts.pop("stuck", None)
    )
    return Halt(given_up=given_up, **{**usual, **facts})


@pytest.mark.parametrize(
    ("value", "halt", "signal", "code", "words"),
    [
        (PASSED, halted(), "COMPLETE", 0, ""),
        (PASSED, halted(interrupted=True), "INTERRUPTED", 130, "goes on"),
        (PASSED, halted(refused=REFUSED), "COMPLETE", 0, ""),
        (PASSED, halted(red="wave-2 is red"), "WAITING", 3, "wave-2 is red"),
        (READY, halted(red="wave-2 is red", waiting="and that"), "WAITING", 3, "wave-2 is red"),
        (READY, halted(red="wave-2 is red", interrupted=True), "INTERRUPTED", 130, "goes on"),
        (READY, halted(refused=REFUSED, waiting="x"), "BLOCKED", 65, ""),
        (READY, halted(waiting="red", pauses=PAUSES), "WAITING", 3, "red"),
        (READY, halted(stuck="twice", pauses=PAUSES), "BLOCKED", 1, "twice"),
        (READY, halted(pauses=PAUSES), "WAITING", 3, "claude pauses"),
        (READY, halted(pauses=PAUSES, may_start=False), "MAX_ITERATIONS", 2, "as many as asked: 2"),
        (READY, halted(may_start=False), "MAX_ITERATIONS", 2, "as many as asked: 2"),
        (READY, halted(stopped={"A": "in vain"}), "BLOCKED", 1, "A: in vain"),
        (READY, halted(stopped={"A": "dear"}, unpaid={"A"}), "WAITING", 3, "A: dear"),
        (BLOCKED, halted(), "BLOCKED", 1, "A is blocked"),
    ],
)
def test_each_end(value: Plan, halt: Halt, signal: str, code: int, words: str) -> None:
    """Its signal, its exit code, and why."""
    ending = conclude(value, halt)

    assert (ending.signal, ending.exit_code) == (signal, code)
    assert words in "\n".join(ending.reasons)
    assert (ending.error is not None) == (code == 65)
