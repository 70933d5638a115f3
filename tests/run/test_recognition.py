"""What a recognition says and leaves known, as tables."""

from typing import Any

import pytest

from plan.plans import plan, story
from qloop.repo.history import LineCommit
from qloop.run.recognition import (
    Recognition,
    RedCommand,
    Standing,
    evidence_of,
    finding_of,
    standing_of,
)
from qloop.state.journal import EventKind
from ui.journals import Tale

RED = RedCommand(
    gate="verify-1",
    command="false",
    line="verify-1 `false`: exit 1",
    story="A",
    logs=("1.log", "2.log"),
)


def seen(**facts: Any) -> dict[str, Any]:
    """A recognition in the journal."""
    return {"branch": "ql/x", **facts}


def test_the_evidence_is_the_plans_own_and_that_of_all_that_passed() -> None:
    """In their order; what has not passed, or has no commands, judges nothing."""
    value = plan(
        story("A", status="passed", verify=["two"], tasks=[{"commands": ["one"]}]),
        story("B", status="failed", verify=["three"]),
        story("C", status="passed"),
        testCommand="test",
        qualityCommands=["lint"],
    )

    found = [(one.story, list(one.commands.values())) for one in evidence_of(value)]

    assert found == [(None, ["test", "lint"]), ("A", ["one", "two"])]


@pytest.mark.parametrize(
    ("told", "standing"),
    [
        ([], Standing()),
        ([seen(tip="t1", since="t0", green=True)], Standing("t1", is_green=True)),
        ([seen(tip="t1", since="t0", green=False)], Standing("t0", is_red=True)),
        (
            [seen(tip="t1", since="t0", green=False), seen(tip="t2", since="t0", green=True)],
            Standing("t2", is_green=True),
        ),
        (
            [seen(tip="t1", since="t0", green=False), seen(tip=None, since="t0", green=None)],
            Standing("t0", is_red=True),
        ),
        (
            [seen(tip="t1", since="t0", green=True), seen(tip=None, since="t1", green=None)],
            Standing("t1"),
        ),
        ([{**seen(tip="t1", since="t0", green=True), "branch": "ql/y"}], Standing()),
    ],
)
def test_the_journal_tells_how_the_line_stands(
    told: list[dict[str, Any]], standing: Standing
) -> None:
    """What could not be looked at is neither green nor forgets that the line was red."""
    tale = Tale()
    for data in told:
        tale.tell(EventKind.WAVE_RECOGNIZED, wave="wave-1", **data)

    assert standing_of(tale.events, "ql/x") == standing


def test_a_finding_names_whose_evidence_is_red_and_what_landed_since() -> None:
    """Those stories are the finding's, so that it is shown with each of them."""
    landed = [LineCommit("c" * 40, "B", "b"), LineCommit("d" * 40, None, "by hand")]

    found = finding_of("wave-2", Recognition(tip="e" * 40, red=(RED,)), landed)

    assert found is not None
    assert (found["stories"], found["red"]) == (["A", "B"], True)
    assert "cccccccccc (B), dddddddddd (by hand)" in found["text"]
    assert finding_of("wave-2", Recognition(tip="e" * 40), landed) is None
