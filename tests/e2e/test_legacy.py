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


def one_context(world: World, work: str, *, before: str = "", after: str = "") -> None:
    """One agent process for the whole feature: *work* is shell code that does story `$id`."""
    said = f"'{world.flags}/said'"
    program = f"""{before}
echo $$ >> '{world.flags}/pids'
while qloop orchestrator next > "$TMPDIR/story.md"; do
    cat "$TMPDIR/story.md" >> '{world.flags}/heard'
    id=$(sed -n 's/^# Your task:.* now //p' "$TMPDIR/story.md")
    try=$(($(cat "$TMPDIR/$id" 2>/dev/null || echo 0) + 1)); echo $try > "$TMPDIR/$id"
    {work}
    qloop orchestrator done $id >> {said} 2>&1; echo "$id $try: $?" >> {said}
done
{after}"""
    script = {"orchestrator": [[["sh", program], ["print", "all is done"]]]}
    world.script.write_text(json.dumps(script), encoding="utf-8")


def lines(world: World, name: str) -> list[str]:
    """The lines of a file that agents wrote into the flags' folder."""
    return (world.flags / name).read_text("utf-8").splitlines()


COMMITS = 'echo $id > $id.txt; git add -A; git commit -qm "add $id"'


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


def test_one_agent_takes_all_stories_in_one_context(world: World) -> None:
    """One process asks for each story, hands it in, and hears that it has landed."""
    plan_four(world, testCommand="true")
    one_context(world, COMMITS)

    ran = world.run(LEGACY)

    assert (ran.code, ran.signal) == DONE, ran.err
    assert world.files() == FOUR_FILES
    assert world.log()[1:] == list(FOUR)
    assert len(lines(world, "pids")) == 1
    assert [line for line in lines(world, "said") if ":" in line] == [f"{one} 1: 0" for one in FOUR]
    assert lines(world, "said")[0].startswith("A-1 has landed as ")
    assert any(line.startswith("A-1 has landed as ") for line in lines(world, "heard"))
    assert handed_over(world) == []
    assert [event["story"] for event in world.events("agent.ended")] == list(FOUR)
    check_uncharged(world)
    check_nothing_left(world)


def test_a_red_story_goes_back_to_the_same_agent(world: World) -> None:
    """Its work lies there as it was, and it hears what was wrong; the attempt is charged."""
    world.plan({"id": "A-1", "verify": ["cat A-1.txt; grep -q right A-1.txt"]}, {"id": "B-1"})
    one_context(world, "test $try = 1 || echo right >> $id.txt; echo wrong >> $id.txt")

    ran = world.run(LEGACY)

    assert (ran.code, ran.signal) == DONE, ran.err
    assert world.files()["A-1.txt"] == "wrong\nright\nwrong"
    assert world.failures("A-1") == ["verification"]
    assert world.story("A-1")["retries"]["attempts"] == 1
    assert [line for line in lines(world, "said") if line.startswith(("A-1 1:", "A-1 2:"))] == [
        "A-1 1: 1",
        "A-1 2: 0",
    ]
    assert any("A-1 has not landed (verification)" in line for line in lines(world, "heard"))
    assert len(lines(world, "pids")) == 1
    check_nothing_left(world)


def test_what_a_living_agent_says_or_does_behind_ones_back_counts_nothing(world: World) -> None:
    """What it writes while it is judged, a history that it rewrites, a branch that it makes."""
    judging, late = world.flags / "judging", world.flags / "late"
    verify = f"touch '{judging}'; until test -e '{late}'; do sleep 0.05; done; test -e good"
    world.plan(
        {"id": "A-1", "verify": [verify], "retries": {"maxAttempts": 1}},
        {"id": "B-1", "retries": {"maxAttempts": 1}},
        {"id": "C-1", "retries": {"maxAttempts": 1}},
    )
    waits = f"until test -e '{judging}'; do sleep 0.05; done"
    forges = f"echo x > $id.txt; {{ {waits}; touch good '{late}'; }} & true"
    rewrite = "echo x > $id.txt; git add -A; git commit -q --amend -m mine"
    outside = f"git -C '{world.path}' branch mine-$id; echo x > $id.txt"
    one_context(world, f"case $id in A-1) {forges};; B-1) {rewrite};; *) {outside};; esac")

    ran = world.run(LEGACY)

    assert ran.code == 1, ran.err
    assert world.failures("A-1") == ["verification"]
    assert world.failures("B-1") == ["guard"]
    assert world.failures("C-1") == ["guard"]
    assert world.log() == ["start"]
    assert "mine-C-1" not in world.repo.git("branch", "--list")
    check_nothing_left(world)


def test_a_stuck_context_gives_way_to_coordinators(world: World) -> None:
    """After a story that landed it is stuck with the next; the rest is done without it."""
    world.plan({"id": "A-1"}, {"id": "B-1"})
    one_context(world, f"test $id = A-1 || sleep 600; {COMMITS}")
    script = json.loads(world.script.read_text("utf-8"))
    script["B-1"] = [[["write", "B-1.txt", "B-1\n"], ["commit", "b"]]]
    world.script.write_text(json.dumps(script), encoding="utf-8")

    ran = world.run(LEGACY, "--stale-after", "3s")

    assert (ran.code, ran.signal) == DONE, ran.err
    assert world.failures("B-1") == ["stuck"]
    assert handed_over(world) == ["was stuck"]
    assert world.log()[1:] == ["A-1", "B-1"]
    check_nothing_left(world)


def test_a_context_that_crashes_gives_way_to_coordinators(world: World) -> None:
    """Its agent dies with a story in hand: charged, kept, and gone on without it."""
    world.plan({"id": "A-1"}, {"id": "B-1"})
    one_context(world, f"echo half > half.txt; test $id = A-1 || kill -9 $PPID; {COMMITS}")
    script = json.loads(world.script.read_text("utf-8"))
    script["B-1"] = [[["write", "B-1.txt", "B-1\n"], ["commit", "b"]]]
    world.script.write_text(json.dumps(script), encoding="utf-8")

    ran = world.run(LEGACY)

    assert (ran.code, ran.signal) == DONE, ran.err
    assert world.failures("B-1") == ["crash"]
    assert handed_over(world) == ["crashed"]
    check_nothing_left(world)


def test_a_context_is_taken_up_after_its_driver_was_killed(world: World) -> None:
    """What landed stays, what was at work is kept and ready again, with a new agent."""
    world.plan({"id": "A-1"}, {"id": "B-1"})
    there = world.flags / "there"
    waits = f"test $id = A-1 || {{ echo half > half.txt; touch '{there}'; sleep 600; }}"
    one_context(world, f"{waits}; {COMMITS}")
    process = world.start("run", LEGACY)
    wait_until(there.exists)
    send(signal.SIGKILL, process.pid)
    process.communicate()
    one_context(world, COMMITS)

    ran = world.run(LEGACY)

    assert (ran.code, ran.signal) == DONE, ran.err
    assert world.log()[1:] == ["A-1", "B-1"]
    assert world.files("refs/qloop/attempts/B-1/1")["half.txt"] == "half"
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
