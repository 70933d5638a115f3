"""EXECUTION: a run of the mission's plan, and what each of its ends lets a person do."""

import json
import os
import re
import signal

import pytest

from mission.execution_world import Execution
from world import World, wait_until


@pytest.fixture
def execution(world: World) -> Execution:
    """An intent in a repository with a scripted agent."""
    return Execution(world)


def test_a_plan_is_carried_out_told_of_and_summed_up(execution: Execution) -> None:
    """Warmth goes into prompts, lines tell of each story, and what was learned comes up."""
    world = execution.world
    world.plan(
        {"id": "A-1", "title": "leaves", "verify": ["grep -q tea A-1.txt"]},
        {"id": "B-1", "title": "water", "dependsOn": ["A-1"]},
        codebasePatterns=["names are short"],
    )
    write = ["write", "A-1.txt", "tea\n"]
    world.agent(
        A_1=[[["write", "A-1.txt", "mud\n"]], [["echo-prompt"], write, ["say", "STORY_PASSED"]]],
        B_1=[[["write", "B-1.txt", "hot\n"]]],
    )
    warmth = {"patterns": ["tabs"], "gotchas": ["it rains"], "user_preferences": ["green"]}

    said = execution.run(execution.order(warmth=warmth, constraints=["no network"]))

    assert (said.code, said.event["event"]) == (0, "phase.complete")
    settled = [(one["story"], one["data"].get("reason")) for one in world.events("story.settled")]
    assert said.event["summary"] == "2 stories passed in 3 attempts", settled
    assert said.event["metrics"]["commits"] == 2
    assert said.event["warmth"]["patterns"] == ["names are short"]
    assert [one[:17] for one in said.event["warmth"]["gotchas"]] == ["A-1 verification:"]
    for line in ("B-1 waits on A-1", "A-1 at work", "A-1 at work (attempt 2)", "B-1 landed"):
        assert line in said.activity
    assert any("all that landed holds" in line for line in said.activity)
    prompt = (world.path / ".qloop/logs/A-1/2/output.log").read_text("utf-8")
    for told in ("Must hold: no network", "- tabs", "Watch out: it rains", "wants: green"):
        assert told in prompt
    summary = execution.summary("A-1")
    assert 'affects: ["B-1"]' in summary
    assert 'created: ["A-1.txt"]' in summary
    assert "attempt 1 by double: failed (verification" in summary
    assert world.files() == {"README.md": "start", "A-1.txt": "tea", "B-1.txt": "hot"}


def test_what_blocks_can_be_tried_anew_or_gone_on_without(execution: Execution) -> None:
    """Completed, failed and pending stories are told apart; each answer is acted on."""
    world = execution.world
    once = {"maxAttempts": 1}
    world.plan(
        {"id": "A-1"},
        {"id": "B-1", "verify": ["test -f tea.txt"], "retries": once},
        {"id": "C-1", "dependsOn": ["B-1"]},
    )
    world.writes_own_file("A-1", "B-1", "C-1")

    failed = execution.run(execution.order())
    again = execution.run(execution.order(execution.answered(failed, "retry")))
    enough = execution.run(execution.order(execution.answered(again, "accept")))

    assert (failed.event["event"], failed.event["failure_type"]) == ("phase.failure", "blocked")
    assert failed.event["partial_work"] == {
        "completed_blocks": ["A-1"],
        "failed_block": "B-1",
        "pending_blocks": ["C-1"],
    }
    assert failed.options == ["retry", "adjust", "accept"]
    assert "B-1 at work (attempt 2)" in again.activity
    assert enough.event["event"] == "phase.complete"
    assert "goes on without B-1, C-1" in enough.event["summary"]
    assert not any(" at work" in one for one in enough.activity)


def test_a_red_wave_is_repaired_by_a_story_more(execution: Execution) -> None:
    """The story has the red command as its own, and the person's word; then all holds again."""
    world = execution.world
    holds = "test -f A-1.txt && test ! -f mud.txt"
    world.plan({"id": "A-1", "verify": [holds]}, {"id": "B-1"}, {"id": "C-1", "dependsOn": ["B-1"]})
    world.agent(
        A_1=[[["write", "A-1.txt", "tea\n"]]],
        B_1=[[["write", "mud.txt", "mud\n"]]],
        C_1=[[["write", "C-1.txt", "milk\n"]]],
    )

    red = execution.run(execution.order())
    world.script.write_text(
        '{"C-1": [[["write", "C-1.txt", "x"]]], "*": [[["remove", "mud.txt"]]]}'
    )
    answer = execution.answered(red, "repair", "take the mud out")
    green = execution.run(execution.order(answer))

    assert (red.event["event"], red.event["failure_type"]) == ("phase.failure", "recognizer_red")
    assert red.options == ["repair", "retry", "accept"]
    assert red.event["partial_work"]["failed_block"] == "A-1"
    repair = world.document["stories"][-1]
    assert re.fullmatch(r"fix-wave-\d", repair["id"])
    assert repair["verify"] == [holds]
    assert "take the mud out" in repair["description"]
    assert green.event["event"] == "phase.complete", green
    assert "mud.txt" not in world.files()


def test_another_run_in_the_repository_is_waited_for(execution: Execution) -> None:
    """It is named; the mission's own run begins when it is over."""
    world = execution.world
    go_on = world.flags / "go-on"
    own, world.quantum = world.quantum, world.path / "quantum.json"
    world.plan({"id": "A-1"}, branchName="ql/other")
    other = [["wait-for", str(go_on)], ["write", "A-1.txt", "A-1\n"]]
    world.agent(A_1=[other], B_1=[[["write", "B-1.txt", "B-1\n"]]])

    plain = world.start("run")
    wait_until(lambda: world.events("agent.started"))
    world.quantum = own
    world.plan({"id": "B-1"})
    process = execution.start(execution.order())
    assert process.stdout is not None
    first = json.loads(process.stdout.readline())
    go_on.touch()
    plain.communicate()
    said = execution.hear(process)

    assert first["activity"].startswith("waits for run r-")
    assert said.event["event"] == "phase.complete"
    assert sorted(world.files()) == ["B-1.txt", "README.md"]


def test_a_plan_that_cannot_be_used_is_told_with_its_faults(execution: Execution) -> None:
    """A person's edit may have broken it; nothing of it is lost."""
    execution.world.plan({"id": "A-1", "dependsOn": ["Z-9"]})

    said = execution.run(execution.order())

    assert (said.code, said.event["failure_type"]) == (0, "faults")
    assert "Z-9" in said.event["reason"]


def test_hands_on_asks_after_each_wave_also_after_a_kill(execution: Execution) -> None:
    """Each coordinator runs one wave; what one did not end that was killed, the next one does."""
    world = execution.world
    begun, go_on = world.flags / "begun", world.flags / "go-on"
    waits = [["touch", str(begun)], ["wait-for", str(go_on)], ["write", "A-1.txt", "A-1\n"]]
    world.plan({"id": "A-1"}, {"id": "B-1", "dependsOn": ["A-1"]})
    world.agent(A_1=[waits], B_1=[[["write", "B-1.txt", "B-1\n"]]])

    killed = execution.start(execution.order(autonomy="HANDS-ON"))
    wait_until(begun.exists)
    killed.kill()
    killed.communicate()
    go_on.touch()
    first = execution.run(execution.order(autonomy="HANDS-ON"))
    answer = execution.answered(first, "go-on")
    last = execution.run(execution.order(answer, autonomy="HANDS-ON"))

    assert first.event["checkpoint_type"] == "wave_end"
    assert "wave-2 has ended: A-1 landed" in first.event["question"]
    assert first.options == ["go-on", "edit"]
    assert last.event["event"] == "phase.complete"
    assert last.event["summary"] == "2 stories passed in 3 attempts"
    assert world.log() == ["start", "A-1", "B-1"]


def test_a_mission_killed_in_the_midst_of_a_story_ends_as_if_undisturbed(world: World) -> None:
    """Mission and coordinator are killed while an agent works; `mission resume` does the rest."""
    begun, go_on = world.flags / "begun", world.flags / "go-on"
    waits = [["touch", str(begun)], ["wait-for", str(go_on)], ["write", "tea.txt", "tea\n"]]
    world.agent(US_001=[waits])
    world.repo.commit("prd", {"prd.md": "# Tea\n\n## US-001: The leaves\n\nGreen.\n"})
    words = ("--autonomy", "autopilot", "--skip", "RECON", "--skip", "REFINEMENT")
    world.qloop("mission", "new", "--from", "prd.md", *words)

    mission = world.start("mission", "run")
    wait_until(begun.exists)
    (folder,) = (world.path / ".qloop" / "intents").glob("1--*")
    coordinator = json.loads((folder / "state.json").read_text("utf-8"))["phases"][2]["process"]
    mission.kill()
    os.kill(coordinator["pid"], signal.SIGKILL)
    mission.communicate()
    go_on.touch()
    resumed = world.qloop("mission", "resume")

    (branch,) = world.repo.git("branch", "--list", "ql/*", "--format=%(refname:short)").split()
    assert resumed.code == 0, resumed.err
    assert "US-001 at work (attempt 2)" in resumed.err
    assert world.files(branch) == {**world.files("main"), "tea.txt": "tea"}
    assert world.log(branch) == ["start", "prd", "US-001: The leaves"]


def test_an_agent_stuck_at_the_gate_is_a_question(execution: Execution) -> None:
    """It is not tried again before a person has answered; the other stories go on."""
    world = execution.world
    world.plan({"id": "A-1"}, {"id": "B-1", "dependsOn": ["C-1"]}, {"id": "C-1"})
    asked = json.dumps({"tool_name": "Bash", "tool_input": {"command": "git push -f"}})
    hook = f"echo '{asked}' | eval \"$QLOOP_GATE gate hook\""
    stuck = [["sh", f"{hook}; {hook}; {hook}"], ["quiet"]]
    world.agent(
        A_1=[stuck, [["write", "a.txt", "a\n"]]],
        **{name: [[["write", f"{name}.txt", "x\n"]]] for name in ("B_1", "C_1")},
    )

    waits = execution.run(execution.order())
    went_on = execution.run(execution.order(execution.answered(waits, "retry")))

    first = next(one["data"] for one in world.events("agent.ended") if one["story"] == "A-1")
    assert waits.event["event"] == "phase.checkpoint"
    assert waits.event["checkpoint_type"] == "stuck"
    assert "A-1: the agent was stuck at the gate" in waits.event["question"]
    assert "git push -f" in waits.event["question"]
    assert waits.event["context"]["partial_work"]["completed_blocks"] == ["B-1", "C-1"]
    assert first["denied"]["rule"] == "destructive"
    assert '"continue": false' in (world.path / ".qloop/logs/A-1/1/output.log").read_text("utf-8")
    assert went_on.event["event"] == "phase.complete"
