"""What the live board shows of a run: a table of plans and journals."""

from typing import Any

import pytest

from plan.plans import plan, story
from qloop.plan.model import Plan
from qloop.state.journal import EventKind
from qloop.ui.board import BoardView, Card, State, build_board, ended_words
from qloop.ui.turns import LogView
from ui.journals import Tale, after

PASSED: dict[str, Any] = {"status": "passed"}
AT_WORK: dict[str, Any] = {"status": "in_progress"}
SPENT: dict[str, Any] = {
    "status": "failed",
    "retries": {
        "attempts": 3,
        "failureLog": [{"attempt": 3, "phase": "verification", "reason": "verify-1: exit 1"}],
    },
}


def board(
    value: Plan,
    tale: Tale,
    seconds: float = 60,
    seen: dict[str, LogView] | None = None,
    *,
    alive: bool = True,
) -> BoardView:
    """The board of a run so long after it began."""
    return build_board(value, tale.events, seen or {}, after(seconds), alive=alive)


def card(view: BoardView, name: str) -> Card:
    """One story on it."""
    return next(one for one in view.cards if one.id == name)


def logs(*names: str, line: str = "") -> LogView:
    """An attempt's logs."""
    return LogView(frozenset(names), line)


def test_a_story_at_work() -> None:
    """Its stage, wave, attempt, how long, and the last line of its agent."""
    value = plan(story("A", **AT_WORK, title="First"))
    tale = Tale().start("A", 2, "wave-3").agent("A", 2)
    view = board(value, tale, 61, {"A": logs("output.log", line="editing")})

    assert card(view, "A") == Card(
        "A", "First", State.AT_WORK, 1, "claude at work", "wave-3", 2, 60.0, "editing"
    )
    assert (view.slots, view.counts[State.AT_WORK], view.phase) == (2, 1, "running")


@pytest.mark.parametrize(
    ("value", "state", "doing"),
    [
        (story("A"), State.READY, "ready"),
        (story("A", "B"), State.WAITING, "waits for B"),
        (story("A", "C"), State.BLOCKED, "waits for C, which failed 3 of 3 attempts"),
        (story("A", status="blocked"), State.BLOCKED, "until `qloop story unblock A`"),
        (story("A", status="stale"), State.BLOCKED, "until `qloop story unblock A`"),
        (story("A", **SPENT), State.FAILED, "verify-1: exit 1; no attempt is left"),
        (story("A", **AT_WORK), State.AT_WORK, "starts"),
        (story("A", **PASSED), State.PASSED, ""),
    ],
)
def test_a_story_that_rests(value: dict[str, Any], state: State, doing: str) -> None:
    """Its state, and why it does nothing."""
    found = card(board(plan(value, story("B"), story("C", **SPENT)), Tale()), "A")

    assert (found.state, found.doing, found.attempt) == (state, doing, None)


def test_a_failed_story_that_runs_again() -> None:
    """It is shown as failed, with the reason, until its next attempt starts."""
    value = plan(story("A", status="failed", retries={"attempts": 1}))
    tale = Tale().start("A").settle("A", "failed", phase="verification", reason="verify: red")
    before = card(board(value, tale), "A")
    tale.start("A", 2, "wave-2")
    again = card(board(value, tale), "A")

    assert (before.state, before.doing) == (State.FAILED, "ready again; verify: red")
    assert (again.state, again.doing, again.attempt) == (State.AT_WORK, "set-up", 2)


def test_the_most_urgent_first() -> None:
    """At work, failed, blocked, ready, waiting, passed; each with its level in the DAG."""
    value = plan(
        story("P", **PASSED),
        story("W", "R"),
        story("R", "P"),
        story("B", status="blocked"),
        story("F", **SPENT),
        story("A", "P", **AT_WORK),
    )
    view = board(value, Tale().start("A"))

    assert [(one.id, one.level) for one in view.cards] == [
        ("A", 2), ("F", 1), ("B", 1), ("R", 2), ("W", 3), ("P", 1)
    ]  # fmt: skip
    assert view.next_up == ("R",)


def test_what_is_next_shares_no_file_with_what_is_at_work() -> None:
    """A ready story that clashes with one at work is not next up."""
    value = plan(
        story("A", files=["x"], **AT_WORK), story("B", files=["x"]), story("C", files=["y"])
    )

    assert board(value, Tale().start("A")).next_up == ("C",)


@pytest.mark.parametrize(
    ("seen", "landing", "doing"),
    [
        ({}, "A, B wait for their turn", ["waits to land", "waits to land"]),
        (
            {"B": logs("test.log")},
            "B is tested on the merged tree, behind it A",
            ["waits to land behind B", "landing, test: make test"],
        ),
    ],
)
def test_what_the_landing_queue_waits_for(
    seen: dict[str, LogView], landing: str, doing: list[str]
) -> None:
    """The one whose test runs, and those behind it."""
    value = plan(story("A", **AT_WORK), story("B", **AT_WORK), testCommand="make test")
    view = board(value, Tale().queue("A").queue("B"), seen=seen)

    assert (view.landing, [one.doing for one in view.cards]) == (landing, doing)


def test_one_alone_in_the_landing_queue() -> None:
    """It is merged, tested, moves the line, and is then out of the queue."""
    value = plan(story("A", **AT_WORK), testCommand="make test")
    tale = Tale().queue("A")
    testing = {"A": logs("test.log")}
    told = [board(value, tale).landing, board(value, tale, seen=testing).landing]
    tale.tell(EventKind.GATE_ENDED, "A", 1, gate="test", green=True)
    told.append(board(value, tale, seen=testing).landing)
    tale.tell(EventKind.STORY_LANDED, "A", 1, commit="1" * 40)
    told.append(board(value, tale, seen=testing).landing)

    assert told == ["A is merged", "A is tested on the merged tree", "A moves the line", ""]


def test_without_a_test_the_first_lands() -> None:
    """Nothing is tested, so the order of arrival tells."""
    value = plan(story("A", **AT_WORK), story("B", **AT_WORK))

    assert board(value, Tale().queue("B").queue("A")).landing == "B is merged, behind it A"


def test_the_run_as_a_whole() -> None:
    """It starts, tests the branch, runs, and ends."""
    bare, tested = plan(story("A")), plan(story("A"), testCommand="make test")
    tale = Tale()
    phases = [board(bare, tale).phase, board(tested, tale).phase]
    tale.tell(EventKind.GATE_ENDED, gate="base", green=True)
    phases.append(board(tested, tale).phase)
    tale.start("A").settle("A", "failed")
    phases.append(board(tested, tale).phase)
    gone = board(tested, tale, alive=False)
    tale.tell(EventKind.RUN_ENDED, signal="BLOCKED", reasons=[])
    ended = board(tested, tale)

    assert phases == ["starting", "tests the branch first: make test", "starting", "running"]
    assert (gone.phase, ended.phase) == ("gone without an end", "ended BLOCKED")
    assert (ended.next_up, ended.seconds) == ((), 4.0)


def test_a_run_that_is_gone_has_nothing_at_work() -> None:
    """Its stories in progress say so."""
    view = board(plan(story("A", **AT_WORK)), Tale().start("A").agent("A"), alive=False)

    assert card(view, "A").doing == "its run is gone; the next one takes it up"
    assert view.next_up == ()


def test_what_happened_lately() -> None:
    """Landings, failures, repairs and breaches in a line each; what went well is no news."""
    tale = Tale(notes=["made the plan"])
    tale.start("A").tell(EventKind.STORY_LANDED, "A", 1, commit="a" * 40).settle("A", "passed")
    tale.start("B").tell(EventKind.GUARD_BREACHED, "B", 1, reason="left\nmore")
    tale.settle("B", "failed", phase="guard", charged=True, reason="left")
    tale.tell(EventKind.STATE_REPAIRED, text="put back `status`")
    view = board(plan(story("A", **PASSED), story("B")), tale)

    assert view.recent == (
        "made the plan",
        "  2.0s  A landed as aaaaaaaaaa",
        "  5.0s  B attempt 1: guard: left",
        "  6.0s  B guard: left",
        "  7.0s  put back `status`",
    )


def test_a_wave_by_hand_has_no_slots() -> None:
    """Where no driver said how many may be at work, nothing is made up."""
    tale = Tale().start("A")
    del tale.events[0]

    assert board(plan(story("A", **AT_WORK)), tale).slots is None


def test_no_events_at_all() -> None:
    """A plan that never ran can be drawn, too."""
    view = build_board(plan(story("A")), [], {}, after(0), alive=False)

    assert (view.seconds, view.slots, card(view, "A").state) == (0.0, None, State.READY)
    assert ended_words([]) is None


def test_a_runner_that_pauses_counts_down() -> None:
    """How long still at each look; a run in which nothing else goes on waits."""
    value = plan(story("A"))
    until = after(3600).isoformat().replace("+00:00", "Z")
    tale = Tale().start("A").agent("A").agent_ends("A")
    tale.tell(EventKind.STORY_SETTLED, "A", 1, status="pending", phase="interrupted")
    facts: dict[str, Any] = {"cause": "usage_limit", "why": "resets at some time", "until": until}
    tale.tell(EventKind.RUNNER_PAUSED, runner="claude", **facts)
    early, late = board(value, tale, 60), board(value, tale, 3570)
    over = board(value, tale, 3601)

    assert early.phase == "waits"
    assert early.pauses[0].startswith("claude pauses for 59m00s, until ")
    assert early.pauses[0].endswith("(usage limit): resets at some time")
    assert late.pauses[0].startswith("claude pauses for 30s, until ")
    assert over.pauses == ()
    assert board(value, tale, 60, alive=False).pauses == ()
