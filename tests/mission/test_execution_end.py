"""What each end of EXECUTION's run offers a person, and what runs teach, as tables."""

from typing import Any

import pytest

from plan.plans import plan, story
from qloop.mission.execution_end import question_of, read_end
from qloop.mission.execution_feed import Feed
from qloop.mission.flow import asking
from qloop.mission.phase_order import MissionContext
from qloop.mission.warming import told_down, told_up, with_patterns
from qloop.plan.outline import outline_of
from qloop.run.ending import Ending
from qloop.run.purse import RAISE_IT
from qloop.state.journal import EventKind
from qloop.state.phase_events import PhaseFailure
from qloop.state.phases import Autonomy, Warmth
from qloop.system.errors import BadInput
from ui.journals import RUN, Tale

PLAN = plan(story("A", status="passed"), story("B", status="failed"), story("C"))


@pytest.mark.parametrize(
    ("ending", "by_wave", "kind", "options"),
    [
        (Ending("COMPLETE", 0), True, None, []),
        (Ending("MAX_ITERATIONS", 2), True, "wave_end", ["go-on", "edit"]),
        (Ending("MAX_ITERATIONS", 2, ("1",)), False, "blocked", ["retry", "adjust", "accept"]),
        (Ending("BLOCKED", 1, ("B: in vain",)), True, "blocked", ["retry", "adjust", "accept"]),
        (Ending("BLOCKED", 65, (), BadInput("no such model")), True, "unusable", ["retry"]),
        (Ending("WAITING", 3, (f"spent; {RAISE_IT}",)), False, "budget", ["go-on"]),
        (Ending("WAITING", 3, ("claude is not let in",)), False, "waiting", ["go-on"]),
        (Ending("INTERRUPTED", 130), False, "interrupted", []),
    ],
)
def test_each_end_is_a_question_with_ways_out(
    ending: Ending, by_wave: bool, kind: str | None, options: list[str]
) -> None:
    """Only a run in which every story has passed asks nothing."""
    asked = question_of(read_end(ending, PLAN, []), by_wave=by_wave)

    found: dict[str, Any] = {} if asked is None else asked.model_dump()
    assert (found.get("failure_type") or found.get("checkpoint_type")) == kind
    listed = found.get("recovery_options") or found.get("options") or []
    assert [one["id"] for one in listed] == options
    assert all(why in str(found) for why in ending.reasons)


def test_a_failure_is_asked_about_with_its_cause_and_how_to_look_further() -> None:
    """The question stands first; then, in lines, why the stories failed, and two commands."""
    log = [{"attempt": 1, "reason": "verify-1 `false`: exit 1\nmore"}]
    failed = plan(story("B", status="failed", retries={"failureLog": log}))
    end = read_end(Ending("BLOCKED", 1, ("B failed 1 of 1 attempts",)), failed, [], " --quantum p")

    asked = question_of(end, by_wave=False)

    assert isinstance(asked, PhaseFailure)
    assert asking(f"EXECUTION failed: {asked.reason}", "How to go on?").splitlines() == [
        "EXECUTION failed: B failed 1 of 1 attempts. How to go on?",
        "B: verify-1 `false`: exit 1",
        "look: qloop show B --quantum p; have it looked into: qloop debug B --quantum p",
    ]


def test_a_story_stuck_at_the_gate_is_a_question() -> None:
    """Where its newest agent was; one that came further since is a failure like any other."""
    tale = Tale()
    tale.tell(EventKind.AGENT_ENDED, story="B", denied={"rule": "push"})
    ending = Ending("BLOCKED", 1, ("B: stuck at the gate",))
    asked = question_of(read_end(ending, PLAN, tale.events), by_wave=False)
    tale.tell(EventKind.AGENT_ENDED, story="B", denied=None)
    later = question_of(read_end(ending, PLAN, tale.events), by_wave=False)

    found = asked.model_dump() if asked is not None else {}
    assert (found["event"], found["checkpoint_type"]) == ("phase.checkpoint", "stuck")
    assert [one["id"] for one in found["options"]] == ["retry", "adjust", "accept"]
    assert "How to go on with B?" in found["question"]
    assert later is not None
    assert later.event == "phase.failure"


def test_a_red_end_names_the_story_whose_evidence_is_red() -> None:
    """It counts as the failed one, although it has passed."""
    tale = Tale()
    red: dict[str, Any] = {
        "green": False,
        "red": [{"story": "A", "command": "false"}],
        "branch": "ql/x",
    }
    tale.tell(EventKind.WAVE_RECOGNIZED, wave="wave-1", **red)

    asked = question_of(read_end(Ending("WAITING", 3, ("red",)), PLAN, tale.events), by_wave=False)

    assert asked is not None
    assert asked.model_dump()["partial_work"] == {
        "completed_blocks": (),
        "failed_block": "A",
        "pending_blocks": ("B", "C"),
    }


def test_what_a_mission_knows_goes_down_and_does_not_come_up_as_new() -> None:
    """Patterns are told once, whoever had them first; failures of nobody's fault teach nothing."""
    context = MissionContext(
        directive="tea",
        autonomy=Autonomy.AUTOPILOT,
        warmth=Warmth(patterns=("tabs",), gotchas=("it rains",)),
    )
    log = [
        {"attempt": 1, "phase": "infra", "reason": "disk full"},
        {"attempt": 2, "phase": "verification", "reason": "exit 1\nand more"},
    ]
    down = told_down(context)
    patterns = with_patterns(["tabs", "own"], down)
    value = plan(
        story("A", retries={"failureLog": log}),
        codebasePatterns=patterns,
        progress=[{"learnings": "seen"}, "text"],
    )

    up = told_up(value, down)

    assert patterns == ["tabs", "own", "Watch out: it rains"]
    assert up == Warmth(patterns=("own", "seen"), gotchas=("A verification: exit 1",))


def test_the_feed_tells_what_a_story_still_waits_on() -> None:
    """Also as what it waits on lands, one after the other."""
    told: list[str] = []
    value = plan(story("A"), story("B"), story("C", dependsOn=["A", "B"]))
    feed = Feed.of(RUN, outline_of(value), told.append)
    tale = Tale().start("A").tell(EventKind.STORY_LANDED, "A", 1, "wave-1", commit="c")
    tale.tell(EventKind.STORY_SETTLED, "B", 1, status="failed", phase="guard", reason="reset\n")

    feed.begin()
    for event in tale.events:
        feed.take(event)

    assert told == [
        "C waits on A, B",
        "A at work",
        "A landed",
        "C waits on B",
        "B failed (guard): reset",
    ]
