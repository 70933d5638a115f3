"""One long-lived orchestrator takes the whole feature; coordinators do the rest where it cannot."""

import json
import signal

import psutil

from victims import FOUR, FOUR_FILES, check_nothing_left, check_uncharged, plan_four, send
from world import World, wait_until

LEGACY = "--legacy-orchestrator"
DONE = (0, "<quantum>COMPLETE</quantum>")


def orchestrators(driver: int) -> list[int]:
    """The orchestrators that a driver has as children."""
    found = []
    for child in psutil.Process(driver).children():
        words = child.cmdline()
        if "orchestrator" in words and "-m" in words:
            found.append(child.pid)
    return found


def processes(world: World) -> set[int]:
    """The processes that carried out waves."""
    return {event["data"]["process"]["pid"] for event in world.events("wave.started")}


def handed_over(world: World) -> list[str]:
    """Why an orchestrator gave way, each time that one did."""
    return [event["data"]["reason"] for event in world.events("run.handed_over")]


def test_a_whole_feature_by_one_process(world: World) -> None:
    """Story after story in the order of the graph, each landed as by a coordinator."""
    plan_four(world, testCommand="true")

    ran = world.run(LEGACY)

    assert (ran.code, ran.signal) == DONE, ran.err
    assert world.files() == FOUR_FILES
    assert world.log()[1:] == list(FOUR)
    assert len(processes(world)) == 1
    assert handed_over(world) == []
    assert world.document["execution"]["mode"] == "legacy-orchestrator"
    assert [one["signal"] for one in world.document["execution"]["completedWaves"]] == [
        "WAVE_PASSED"
    ] * 4
    check_uncharged(world)
    check_nothing_left(world)


def test_by_shell_alone(world: World) -> None:
    """Stories whose tasks are commands need no agent here either."""
    ids = ("A-1", "B-1")
    world.plan(
        *({"id": one, "tasks": [{"id": "T", "run": [f"echo {one} > {one}.txt"]}]} for one in ids),
        qualityCommands=["test -e A-1.txt"],
    )

    ran = world.run(LEGACY, "--runner", "shell", "--max-parallel", "4")

    assert (ran.code, ran.signal) == DONE, ran.err
    assert world.files().keys() >= {"A-1.txt", "B-1.txt"}
    assert len(processes(world)) == 1
    check_nothing_left(world)


def test_a_red_story_is_tried_again_by_the_same_one(world: World) -> None:
    """The failure is charged, and nothing is handed over."""
    world.plan({"id": "A-1", "verify": ["grep -q right A-1.txt"]}, {"id": "B-1"})
    world.agent(
        A_1=[
            [["write", "A-1.txt", "wrong\n"], ["commit", "try"]],
            [["write", "A-1.txt", "right\n"], ["commit", "again"]],
        ],
        B_1=[[["write", "B-1.txt", "B-1\n"], ["commit", "b"]]],
    )

    ran = world.run(LEGACY)

    assert (ran.code, ran.signal) == DONE, ran.err
    assert world.failures("A-1") == ["verification"]
    assert world.story("A-1")["retries"]["attempts"] == 1
    assert world.log()[1:] == ["A-1", "B-1"]
    assert len(processes(world)) == 1
    assert handed_over(world) == []


def test_one_that_only_says_so_is_not_believed(world: World) -> None:
    """A claim without a change, and a rewritten history, land nothing."""
    world.plan({"id": "A-1", "retries": {"maxAttempts": 2}})
    world.agent(
        A_1=[
            [["say", "STORY_PASSED"], ["say", "COMPLETE"], ["say", "STORY_PASSED"]],
            [["sh", "git commit -q --amend -m mine --allow-empty"], ["say", "STORY_PASSED"]],
        ]
    )

    ran = world.run(LEGACY)

    assert ran.code == 1, ran.err
    assert world.failures("A-1") == ["agent_failed", "guard"]
    assert world.log() == ["start"]


def test_a_stuck_one_gives_way_to_coordinators(world: World) -> None:
    """The story is charged, the run says so, and the rest is done side by side."""
    world.plan({"id": "A-1"}, {"id": "B-1"})
    meet = [["touch", str(world.flags / "A-1")], ["wait-for", str(world.flags / "B-1")]]
    world.agent(
        A_1=[
            [["write", "half.txt", "half\n"], ["sleep", 600]],
            [*meet, ["write", "A-1.txt", "A-1\n"], ["commit", "a"]],
        ],
        B_1=[
            [
                ["touch", str(world.flags / "B-1")],
                ["wait-for", str(world.flags / "A-1")],
                ["write", "B-1.txt", "B-1\n"],
                ["commit", "b"],
            ]
        ],
    )

    ran = world.run(LEGACY, "--stale-after", "2s")

    assert (ran.code, ran.signal) == DONE, ran.err
    assert world.failures("A-1") == ["stuck"]
    assert handed_over(world) == ["was stuck"]
    assert "the orchestrator was stuck: coordinators" in ran.err
    assert len(processes(world)) > 1
    assert world.document["execution"]["mode"] == "coordinator"
    assert world.files("refs/qloop/attempts/A-1/1")["half.txt"] == "half"
    check_nothing_left(world)


def test_a_killed_one_gives_way_to_coordinators(world: World) -> None:
    """Its story is charged as a crash, its work is kept, nothing of it goes on."""
    world.plan({"id": "A-1"}, {"id": "B-1"})
    there = world.flags / "there"
    world.agent(
        A_1=[
            [["write", "half.txt", "half\n"], ["touch", str(there)], ["sleep", 600]],
            [["write", "A-1.txt", "A-1\n"], ["commit", "a"]],
        ],
        B_1=[[["write", "B-1.txt", "B-1\n"], ["commit", "b"]]],
    )
    process = world.start("run", LEGACY)
    wait_until(there.exists)
    send(signal.SIGKILL, *orchestrators(process.pid))
    out, err = process.communicate()

    assert (process.returncode, out.strip().splitlines()[-1]) == DONE, err
    assert world.failures("A-1") == ["crash"]
    assert handed_over(world) == ["was killed by signal 9"]
    assert world.files("refs/qloop/attempts/A-1/1")["half.txt"] == "half"
    check_nothing_left(world)


def test_an_interrupted_one_is_taken_up_again(world: World) -> None:
    """Ctrl-C ends it uncharged; so does a killed driver; the next run goes on."""
    there = world.flags / "there"
    plan_four(world, [["touch", str(there)], ["sleep", 600]])
    process = world.start("run", LEGACY)
    wait_until(there.exists)
    send(signal.SIGINT, process.pid, process.pid)
    send(signal.SIGINT, process.pid)
    out, err = process.communicate()
    assert (process.returncode, out.strip().splitlines()[-1]) == (
        130,
        "<quantum>INTERRUPTED</quantum>",
    ), err
    there.unlink()
    process = world.start("run", LEGACY)
    wait_until(there.exists)
    send(signal.SIGKILL, process.pid)
    process.communicate()
    plan_four_goes_on(world)

    ran = world.run(LEGACY)

    assert (ran.code, ran.signal) == DONE, ran.err
    assert world.files() == FOUR_FILES
    assert handed_over(world) == []
    check_uncharged(world)
    check_nothing_left(world)


def plan_four_goes_on(world: World) -> None:
    """From now on the agents of `plan_four` do not wait."""
    script = json.loads(world.script.read_text("utf-8"))
    waits = ("touch", "sleep")
    for attempts in script.values():
        attempts[0] = [step for step in attempts[0] if step[0] not in waits]
    world.script.write_text(json.dumps(script), encoding="utf-8")
