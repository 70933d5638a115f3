"""The toolkit that leads stories to their landing: `attempt`, `review set`, `wave complete`."""

import json
import os
import shlex
import signal
from typing import Any

import pytest

from world import QLOOP, Ran, World, wait_until


def result_of(ran: Ran) -> dict[str, Any]:
    """What it printed."""
    found: dict[str, Any] = json.loads(ran.out)
    return found


def test_one_attempt_lands_one_story(world: World) -> None:
    """The result says what became of it; other stories are left as they are."""
    world.plan({"id": "A-1", "verify": ["test -s A-1.txt"]}, {"id": "B-1"})
    world.writes_own_file("A-1", "B-1")

    ran = world.qloop("attempt", "A-1")

    assert ran.code == 0, ran.err
    found = result_of(ran)
    assert (found["state"], found["status"], found["attempt"]) == ("settled", "passed", 1)
    assert found["landed"] == world.repo.git("rev-parse", "ql/feature")
    assert found["reviews"]["specCompliance"]["status"] == "passed"
    assert found["costUsd"] == found["estimatedUsd"] == 1.0
    assert world.statuses() == {"A-1": "passed", "B-1": "pending"}
    assert world.events("run.ended")[-1]["data"]["signal"] == "MAX_ITERATIONS"


def test_an_attempt_that_fails_is_charged_and_not_repeated(world: World) -> None:
    """One attempt is one attempt, whatever is left of them."""
    world.plan({"id": "A-1"})
    world.agent(A_1=[[["say", "STORY_FAILED"]], [["write", "a.txt", "a\n"]]])

    failed = world.qloop("attempt", "A-1")
    again = world.qloop("attempt", "A-1")

    found = result_of(failed)
    assert (failed.code, again.code) == (1, 0), again.err
    assert (found["status"], found["phase"], found["charged"]) == ("failed", "agent_failed", True)
    assert found["landed"] is None
    assert result_of(again)["attempt"] == 2


def test_an_attempt_goes_on_alone_and_is_waited_for(world: World) -> None:
    """`--start` returns while it is at work; `--wait` returns at its limit, or with the end."""
    world.plan({"id": "A-1"})
    go = world.flags / "go"
    world.agent(A_1=[[["wait-for", str(go)], ["write", "a.txt", "a\n"]]])

    started = world.qloop("attempt", "A-1", "--start")
    busy = world.qloop("attempt", "A-1", "--start")
    still = world.qloop("attempt", "A-1", "--wait", "0.2")
    go.touch()
    done = world.qloop("attempt", "A-1", "--wait", "60")

    assert (started.code, result_of(started)["state"]) == (0, "running"), started.err
    assert busy.code == 75
    assert "error: " in busy.err
    assert (still.code, result_of(still)["state"]) == (3, "running")
    assert (done.code, result_of(done)["state"]) == (0, "settled"), done.err
    wait_until(lambda: world.events("run.ended"))


def test_a_run_that_is_gone_leaves_its_attempt_lost(world: World) -> None:
    """Whoever waits is told, and the next attempt takes the story up."""
    world.plan({"id": "A-1"})
    world.agent(A_1=[[["touch", str(world.flags / "on")], ["sleep", 60]], [["write", "a", "a"]]])
    world.qloop("attempt", "A-1", "--start")
    wait_until((world.flags / "on").exists)
    holder = json.loads((world.path / ".qloop" / "run.json").read_text())
    os.kill(holder["pid"], signal.SIGKILL)
    lost = world.qloop("attempt", "A-1", "--wait", "60")
    again = world.qloop("attempt", "A-1")

    assert (lost.code, result_of(lost)["state"]) == (1, "lost")
    assert (again.code, result_of(again)["attempt"]) == (0, 2), again.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["P-1"], "has passed already"),
        (["B-1"], "waits for A-1"),
        (["A-2"], "did you mean A-1?"),
        (["B-1", "--start"], "waits for A-1"),
        (["A-1", "--wait", "1"], "no attempt"),
    ],
)
def test_a_story_that_cannot_start_is_65(world: World, words: list[str], told: str) -> None:
    """Why is said; nothing is started."""
    world.plan(
        {"id": "A-1"}, {"id": "B-1", "dependsOn": ["A-1"]}, {"id": "P-1", "status": "passed"}
    )

    ran = world.qloop("attempt", *words)

    assert ran.code == 65
    assert told in ran.err
    assert world.statuses()["B-1"] == "pending"


def test_an_implementer_makes_no_attempts(world: World) -> None:
    """Inside an agent's process tree it is refused, and nothing comes of it."""
    said = world.flags / "said"
    qloop = shlex.join([*QLOOP, "attempt", "B-1", "--start"])
    call = f"cd '{world.path}'; {qloop} > '{said}' 2>&1; echo $? >> '{said}'"
    world.plan({"id": "A-1"}, {"id": "B-1", "dependsOn": ["A-1"]})
    world.agent(A_1=[[["sh", call], ["write", "a.txt", "a"]]], B_1=[[["write", "b.txt", "b"]]])

    ran = world.run()

    assert ran.code == 0, ran.err
    assert "refused inside" in said.read_text()
    assert said.read_text().endswith("64\n")


def reviews_of(world: World, story: str) -> dict[str, str]:
    """The status of each of its reviews."""
    return {name: part["status"] for name, part in world.story(story)["review"].items()}


def test_a_word_is_written_beside_what_evidence_said(world: World) -> None:
    """A verdict, its evidence and the attempt that it is about stand in the review."""
    world.plan({"id": "A-1"})
    world.writes_own_file("A-1")
    world.run()

    words = ("--quality", "failed", "--evidence", "A-1.txt has one line only")
    ran = world.qloop("review", "set", "A-1", *words)

    assert ran.code == 0, ran.err
    quality = world.story("A-1")["review"]["codeQuality"]
    assert (quality["status"], quality["attempt"]) == ("failed", 1)
    assert quality["issues"] == ["A-1.txt has one line only"]
    assert json.loads(ran.out)["codeQuality"] == quality
    assert reviews_of(world, "A-1")["specCompliance"] == "passed"
    assert world.statuses() == {"A-1": "passed"}


def test_no_word_turns_a_red_gate_green(world: World) -> None:
    """What evidence failed stays failed and unlanded; nothing is written."""
    world.plan({"id": "A-1", "verify": ["false"], "retries": {"maxAttempts": 1}})
    world.writes_own_file("A-1")
    world.run()
    before = world.quantum.read_bytes()

    words = ("--spec", "passed", "--quality", "passed", "--evidence", "I say so")
    ran = world.qloop("review", "set", "A-1", *words)

    assert ran.code == 65
    assert "failed on evidence" in ran.err
    assert world.quantum.read_bytes() == before
    assert world.statuses() == {"A-1": "failed"}


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["A-1", "--evidence", "x"], 64, "--spec"),
        (["A-1", "--spec", "passed"], 64, "--evidence"),
        (["A-1", "--spec", "good", "--evidence", "x"], 64, "passed"),
        (["A-1", "--spec", "passed", "--evidence", " "], 64, "--evidence"),
        (["A-1", "--spec", "passed", "--evidence", "x"], 65, "no attempt"),
        (["A-2", "--spec", "passed", "--evidence", "x"], 65, "did you mean A-1?"),
    ],
)
def test_a_word_that_does_not_fit(world: World, words: list[str], code: int, told: str) -> None:
    """It is refused with what is wrong."""
    world.plan({"id": "A-1"})

    ran = world.qloop("review", "set", *words)

    assert ran.code == code
    assert told in ran.err


def test_an_implementer_reviews_nothing(world: World) -> None:
    """Its own work least of all."""
    said = world.flags / "said"
    review = ["review", "set", "A-1", "--spec", "passed", "--evidence", "mine is good"]
    call = f"cd '{world.path}'; env -i {shlex.join([*QLOOP, *review])} > '{said}' 2>&1"
    world.plan({"id": "A-1", "verify": ["false"], "retries": {"maxAttempts": 1}})
    world.agent(A_1=[[["sh", call], ["write", "a.txt", "a"]]])

    ran = world.run()

    assert ran.code == 1, ran.err
    assert "refused inside" in said.read_text()
    assert reviews_of(world, "A-1")["specCompliance"] == "failed"


def test_a_wave_that_is_over_is_told(world: World) -> None:
    """Its stories, where they landed, and its signal's exit code."""
    world.plan({"id": "A-1"}, {"id": "B-1", "retries": {"maxAttempts": 1}})
    world.agent(A_1=[[["write", "a.txt", "a"]]], B_1=[[["say", "STORY_FAILED"]]])
    world.run()

    ran = world.qloop("wave", "complete", "wave-1")
    unknown = world.qloop("wave", "complete", "wave-9")

    assert (ran.code, unknown.code) == (1, 65), ran.err
    landed = world.repo.git("rev-parse", "ql/feature")
    stories = {"A-1": landed, "B-1": None}
    assert result_of(ran) == {"wave": "wave-1", "signal": "WAVE_FAILED", "stories": stories}


def test_a_wave_whose_coordinator_died_is_written_down_once(world: World) -> None:
    """By what git says; asked again, it is only told."""
    world.plan({"id": "A-1", "retries": {"maxAttempts": 1}})
    world.agent(A_1=[[["kill-parent"], ["sleep", 60]]])
    world.run()
    before = world.document["execution"].get("completedWaves")

    written = world.qloop("wave", "complete", "wave-1")
    again = world.qloop("wave", "complete", "wave-1")

    assert not before
    assert (written.code, again.code) == (1, 1), written.err
    assert written.out == again.out
    (entry,) = world.document["execution"]["completedWaves"]
    assert (entry["id"], entry["stories"], entry["signal"]) == ("wave-1", ["A-1"], "WAVE_FAILED")


def test_a_wave_at_work_is_not_completed_from_outside(world: World) -> None:
    """Its coordinator does that."""
    go = world.flags / "go"
    world.plan({"id": "A-1"})
    world.agent(A_1=[[["touch", str(world.flags / "on")], ["wait-for", str(go)]]])
    started = world.start("run")
    wait_until((world.flags / "on").exists)

    ran = world.qloop("wave", "complete", "wave-1")
    go.touch()
    started.communicate()

    assert ran.code == 75
