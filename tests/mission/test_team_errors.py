"""A member of a gated team whose call errs: waited for, or a person says how to go on."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from loaded import Loaded
from qloop.agents.hindrances import Cause
from qloop.mission.member_call import Course, course_of
from qloop.run.orders import Hindered
from qloop.run.purse import BudgetReached
from qloop.run.readers import ReaderFailed, StuckAtGate, hindered_error
from qloop.run.talk import AnswerRefused
from qloop.state.lifecycle import read_lifecycle
from qloop.state.savepoints import read_ledger
from qloop.system.cancel import Cancel, wait_until
from qloop.system.clock import epoch_s
from qloop.system.errors import BadInput, InternalFailure, QloopError, RunnerUnavailable
from world import World

SPECIFICATION = {
    "title": "Tea",
    "problem": "No tea.",
    "goals": [{"text": "Tea is said", "sentences": [1, 2]}],
    "acceptanceCriteria": [{"text": "tea.txt says tea"}],
}
STORY = {"id": "US-001", "title": "Say tea", "acceptanceCriteria": ["tea.txt says tea"]}
PLAN = {"stories": [{**STORY, "verify": ["grep -q tea tea.txt"]}]}
MET = {"met": True, "evidence": ["tea.txt:1"]}
REVIEW = {
    "verdict": "passed",
    "criteria": [{"criterion": 1, **MET}, {"criterion": 2, **MET}],
}
BLOCKED = """\
=== completion report ===
Role: spec-specialist
Intent: 1
Stage: Why
Status: blocked
Artifacts: none
Verification: n/a
Checklist: n/a
Deviations: none
Blockers: the wish names two roots
Insights:
=== end of report ===
"""


def hindered(cause: Cause) -> QloopError:
    """What keeps a reader from working, as it is raised."""
    return hindered_error("planner", Hindered(runner="double", cause=cause, text="no"), "a.log")


@pytest.mark.parametrize(
    ("error", "tries", "course"),
    [
        (hindered(Cause.USAGE_LIMIT), 1, Course.WAIT),
        (hindered(Cause.USAGE_LIMIT), 99, Course.WAIT),
        (hindered(Cause.OVERLOAD), 3, Course.WAIT),
        (hindered(Cause.NETWORK), 3, Course.WAIT),
        (hindered(Cause.NETWORK), 4, Course.ASK),
        (hindered(Cause.AUTHENTICATION), 1, Course.ASK),
        (hindered(Cause.CONFIGURATION), 1, Course.ASK),
        (RunnerUnavailable("the client is not there"), 1, Course.ASK),
        (AnswerRefused("no usable answer", ("a fault",)), 1, Course.ASK),
        (ReaderFailed("it crashed, or was out of time"), 1, Course.ASK),
        (StuckAtGate("it was denied again and again"), 1, Course.ASK),
        (BudgetReached("nothing is left"), 1, Course.ASK),
        (BadInput("it refuses to start as root"), 1, Course.ASK),
        (PermissionError("it cannot be started"), 1, Course.ASK),
        (InternalFailure("git is gone"), 1, Course.FAIL),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_each_cause_has_its_course(error: BaseException, tries: int, course: Course) -> None:
    """What passes by itself is waited for; what an agent did not do is for a person."""
    assert course_of(error, tries) is course


def test_a_wait_ends_at_its_moment_or_with_its_flag() -> None:
    """Whatever comes first."""
    cancel = Cancel()

    assert wait_until(cancel, epoch_s() - 1)
    cancel.set("stop")
    assert not wait_until(cancel, epoch_s() + 600)
    cancel.close()


def begun(world: World, script: dict[str, Any]) -> Path:
    """An intent's folder, in a world whose agents do as *script* says."""
    world.script.write_text(json.dumps(script), encoding="utf-8")
    made = world.qloop("intent", "new", "A file says tea. It stands in the root.", "--json")
    return Path(json.loads(made.out)["folder"])


def go_on(world: World, why: str, *answer: str) -> None:
    """The team goes as far as a question for the reason *why*, which is answered."""
    stopped = world.qloop("auto", "1", "--non-interactive")

    assert stopped.code == 3, stopped.err
    assert why in stopped.out + stopped.err
    assert world.qloop("answer", *answer).code == 0


def reported(folder: Path) -> list[str]:
    """How each member's work ended, as the ledger tells."""
    return [one.milestone for one in read_ledger(folder) if one.kind == "Report"]


def test_a_member_that_errs_stops_the_hand_off(tmp_path: Path, loaded: Loaded) -> None:
    """A limit is waited for; a crash, a blocked report and no review are each asked about."""
    world = World(tmp_path, loaded)
    world.configure('team = "each"')
    limit = f"Claude AI usage limit reached|{int(time.time())}"
    script = {
        "brainstorming": [[["print", limit], ["exit", 1]], [["exit", 3]]],
        "spec-specialist": [[["print", BLOCKED]], [["print", json.dumps(SPECIFICATION)]]],
        "planner": [[["print", json.dumps(PLAN)]]],
        "US-001": [[["write", "tea.txt", "tea\n"], ["commit", "tea"]]],
        "reviewer": [[["exit", 4]], [["print", json.dumps(REVIEW)]]],
    }
    folder = begun(world, script)

    go_on(world, "ended with exit code 3", "cp-1-1", "without")
    assert reported(folder) == ["brainstorming-1 failed"]
    go_on(world, "the wish names two roots", "cp-1-2", "retry")
    assert read_lifecycle(folder).spec is None
    assert reported(folder)[1:] == ["brainstorming-1 finished", "spec-specialist-1 failed"]
    go_on(world, "Nobody could review it", "cp-1-3", "retry")
    assert reported(folder)[-1] == "reviewer-1 failed"
    ran = world.qloop("auto", "1")

    assert ran.code == 0, ran.err
    assert reported(folder)[-1] == "reviewer-2 finished"
    paused = [one["data"]["cause"] for one in world.events("runner.paused")]
    assert sorted(one.name for one in (folder / "logs/planning").iterdir()) == [
        "brainstorming-1",
        "brainstorming-2",
        "planner-1",
        "spec-specialist-1",
        "spec-specialist-2",
    ]
    assert (paused, len(world.events("runner.resumed"))) == (["usage_limit"], 1)
    document = (folder / f"{folder.name}.md").read_text("utf-8")
    assert "qloop: a person goes on without an agent as brainstorming" in document
    assert "brainstorming (autonomous)" not in document
