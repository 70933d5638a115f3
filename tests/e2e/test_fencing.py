"""One run holds a repository, whoever asks and from where; what was superseded moves nothing."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from victims import (
    agents,
    check_nothing_left,
    check_uncharged,
    coordinators,
    fork_servers,
    gone,
    kill,
    send,
)
from world import QLOOP, Ran, World, wait_until

COMPLETE = "<quantum>COMPLETE</quantum>"


def one_at_work(world: World, *others: dict[str, Any], **top: Any) -> "subprocess.Popen[str]":
    """A run whose agent for A-1 waits for `go`; the agents of *others* write their own files."""
    world.plan({"id": "A-1"}, *others, **top)
    steps = {
        one["id"].replace("-", "_"): [[["write", f"{one['id']}.txt", "x\n"], ["commit", "x"]]]
        for one in others
    }
    waiting = [
        ["write", "A-1.txt", "A-1\n"],
        ["commit", "one"],
        ["touch", str(world.flags / "there")],
        ["wait-for", str(world.flags / "go")],
    ]
    world.agent(A_1=[waiting], **steps)
    process = world.start("run")
    wait_until((world.flags / "there").exists)
    return process


def finish(world: World, process: "subprocess.Popen[str]") -> Ran:
    """Let the agent go on, and the run come to its end."""
    (world.flags / "go").touch()
    out, err = process.communicate(timeout=120)
    return Ran(process.returncode, out, err)


def run_json(world: World) -> Path:
    """Where the holder is named."""
    return world.path / ".qloop/run.json"


def test_a_second_run_is_refused_wherever_it_is_started(world: World, tmp_path: Path) -> None:
    """From a folder of the checkout, from another worktree, for another state file: 75."""
    process = one_at_work(world)
    linked = tmp_path / "linked"
    world.repo.git("worktree", "add", "--quiet", "--detach", str(linked))
    other = world.path / "other.json"
    other.write_text('{"branchName": "ql/other", "stories": []}', encoding="utf-8")
    sub = world.path / "sub"
    sub.mkdir()
    refused = [
        world.run(),
        world.run(cwd=linked),
        world.run("--quantum", str(other)),
        world.run(cwd=sub),
        world.qloop("story", "reset", "A-1"),
    ]
    ran = finish(world, process)
    sub.rmdir()

    run_id = world.events("run.started")[0]["run"]
    for one in refused:
        assert one.code == 75, one.err
        assert run_id in one.err
        assert str(process.pid) in one.err
    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert len(world.events("run.started")) == 1
    check_uncharged(world)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"boot": "00000000-0000-0000-0000-000000000000"},
        {"start": "1"},
        {"pid": 2**22 - 1},
    ],
)
def test_a_holder_that_is_no_more_holds_nothing(world: World, change: dict[str, object]) -> None:
    """run.json may name another boot, or a pid that is another process's by now."""
    process = one_at_work(world)
    kill(process, world, "agents too")
    before = json.loads(run_json(world).read_text("utf-8"))
    stranger = subprocess.Popen(["sleep", "600"])
    try:
        named = {**before, "pid": stranger.pid, **change} if change else before
        run_json(world).write_text(json.dumps(named), encoding="utf-8")
        (world.flags / "go").touch()
        stopped = world.qloop("stop")
        ran = world.run()
        alive = stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()

    assert stopped.code == 66, stopped.err
    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert alive
    check_nothing_left(world)


def test_a_coordinator_that_outlives_its_driver_is_ended_and_lands_nothing(world: World) -> None:
    """Stopped, it keeps the lock; a new run ends it first, and only then begins."""
    process = one_at_work(world)
    below = coordinators(process.pid)
    send(signal.SIGSTOP, *below)
    send(signal.SIGKILL, process.pid)
    process.communicate()
    (world.flags / "go").touch()

    ran = world.run()

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert gone(below)
    landed = world.events("story.landed")
    assert [event["attempt"] for event in landed] == [2]
    assert world.log() == ["start", "A-1"]
    check_uncharged(world)
    check_nothing_left(world)


def test_a_coordinator_whose_driver_is_gone_lands_nothing(world: World) -> None:
    """Woken up after its driver's death, it ends its agent, keeps the work, and moves no ref."""
    process = one_at_work(world)
    below = coordinators(process.pid)
    send(signal.SIGSTOP, *below)
    send(signal.SIGKILL, process.pid)
    process.communicate()
    line = world.refs("refs/qloop/line")
    (world.flags / "go").touch()
    wait_until(lambda: gone(agents(world)))
    send(signal.SIGCONT, *below)
    wait_until(lambda: gone(below))

    assert world.refs("refs/qloop/line") == line
    assert world.refs("refs/qloop/landed") == {}
    assert world.events("story.landed") == []
    assert world.files("refs/qloop/attempts/A-1/1").keys() >= {"A-1.txt"}
    ran = world.run()
    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    check_uncharged(world)


def test_a_superseded_run_lands_nothing(world: World) -> None:
    """With another run's lease in force the line does not move: the machine's fault, uncharged."""
    process = one_at_work(world)
    lease = world.repo.git("hash-object", "-w", "--stdin")
    world.repo.git("update-ref", "refs/qloop/lease", lease)
    line = world.refs("refs/qloop/line")
    ran = finish(world, process)

    assert (ran.code, ran.signal) == (1, "<quantum>BLOCKED</quantum>"), ran.err
    assert world.refs("refs/qloop/line") == line
    assert world.refs("refs/qloop/landed") == {}
    assert set(world.failures("A-1")) == {"infra"}
    assert len(world.failures("A-1")) == 3
    check_uncharged(world)
    again = world.run()
    assert (again.code, again.signal) == (0, COMPLETE), again.err


def test_two_runs_started_at_once_after_a_crash_are_one(world: World) -> None:
    """Both find the dead run; one takes over and is not disturbed, the other is refused."""
    process = one_at_work(world)
    kill(process, world, "driver")
    (world.flags / "go").touch()
    both = [world.start("run") for _ in range(2)]
    ran = [(one.communicate(timeout=120), one.returncode) for one in both]

    codes = sorted(code for _, code in ran)
    assert codes in ([0, 75], [0, 0]), ran  # the second may come when the first has ended
    assert world.statuses() == {"A-1": "passed"}
    assert world.failures("A-1") == ["interrupted"]
    assert len(world.events("story.landed")) == 1
    check_nothing_left(world)


def blocked_wave(world: World, driver: int, depends_on: list[str], number: int, go: Path) -> None:
    """Hold up the start of a wave's coordinator, and give A-1 other dependencies.

    Until *go* is there the driver has reason to wait with that wave.
    """

    def before() -> bool:
        journal = world.path / ".qloop" / "events.jsonl"
        return len(world.events("wave.started") if journal.exists() else []) == number - 1

    wait_until(lambda: before() and fork_servers(driver))
    (server,) = fork_servers(driver)
    send(signal.SIGSTOP, server)
    go.touch()
    wait_until(lambda: world.statuses()["A-1"] == "in_progress")
    document = world.document
    document["stories"][0]["dependsOn"] = depends_on
    world.write_document(document)
    send(signal.SIGCONT, server)


def until(go: Path) -> str:
    """A command that waits for a file."""
    return f"while ! [ -e '{go}' ]; do sleep 0.05; done"


def test_a_blocked_wave_is_pending_again_and_tried_later(world: World) -> None:
    """A dependency that a person adds as the wave starts: nothing is charged, order is kept."""
    go = world.flags / "go"
    world.plan({"id": "A-1"}, {"id": "B-1", "priority": 1000}, testCommand=until(go))
    world.writes_own_file("A-1", "B-1")
    process = world.start("run", "--max-parallel", "1")
    blocked_wave(world, process.pid, ["B-1"], 1, go)
    ran = finish(world, process)

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert [event["data"]["signal"] for event in world.events("wave.ended")] == [
        "BLOCKED",
        "WAVE_PASSED",
        "WAVE_PASSED",
    ]
    assert world.log() == ["start", "B-1", "A-1"]
    check_uncharged(world)
    check_nothing_left(world)


def test_a_wave_that_is_blocked_twice_ends_the_run(world: World) -> None:
    """Exit 1, the wave is named, its story is pending and uncharged."""
    first, second = world.flags / "first", world.flags / "second"
    world.plan(
        {"id": "A-1"},
        {"id": "B-1", "priority": 1000},
        {"id": "C-1", "priority": 1001},
        testCommand=until(first),
    )
    world.agent(B_1=[[["wait-for", str(second)], ["write", "B-1.txt", "B-1\n"], ["commit", "B-1"]]])
    process = world.start("run", "--max-parallel", "1")
    blocked_wave(world, process.pid, ["B-1"], 1, first)
    blocked_wave(world, process.pid, ["C-1"], 3, second)
    ran = finish(world, process)

    assert (ran.code, ran.signal) == (1, "<quantum>BLOCKED</quantum>"), ran.err
    assert "A-1 was BLOCKED twice" in ran.err
    assert world.statuses() == {"A-1": "pending", "B-1": "passed", "C-1": "pending"}
    check_uncharged(world)
    check_nothing_left(world)


def test_a_wave_by_hand_needs_stories_in_progress(world: World) -> None:
    """Exit 3 and the signal BLOCKED; the story is named and stays as it is."""
    world.plan({"id": "A-1"})
    world.writes_own_file("A-1")

    ran = world.qloop("coordinator", "--wave", "wave-9", "--stories", "A-1")

    assert (ran.code, ran.out) == (3, "<quantum>BLOCKED</quantum>\n"), ran.err
    assert "A-1 is pending" in ran.err
    assert world.statuses() == {"A-1": "pending"}


def test_a_persons_edits_during_a_run_count(world: World) -> None:
    """A story that is added runs, in the order of new priorities and with its new text."""
    process = one_at_work(world, {"id": "B-1", "dependsOn": ["A-1"]})
    document = world.document
    document["stories"][1]["title"] = "a better title"
    document["stories"][1]["priority"] = 7
    document["stories"].append({"id": "C-1", "dependsOn": ["B-1"], "title": "added"})
    world.write_document(document)
    script = json.loads(world.script.read_text("utf-8"))
    script["C-1"] = [[["write", "C-1.txt", "C\n"], ["commit", "C"]]]
    world.script.write_text(json.dumps(script), encoding="utf-8")
    ran = finish(world, process)

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert world.log() == ["start", "A-1", "B-1: a better title", "C-1: added"]
    assert world.story("B-1")["priority"] == 7
    assert world.statuses() == dict.fromkeys(("A-1", "B-1", "C-1"), "passed")


def test_a_status_set_by_hand_during_a_run_is_put_back_and_named(world: World) -> None:
    """Status, reviews and retries are qloop's own while it runs."""
    process = one_at_work(world, {"id": "B-1", "dependsOn": ["A-1"]})
    document = world.document
    document["stories"][1]["status"] = "passed"
    document["stories"][1]["description"] = "kept"
    world.write_document(document)
    ran = finish(world, process)

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert world.files().keys() >= {"A-1.txt", "B-1.txt"}
    assert world.story("B-1")["description"] == "kept"
    told = [event["data"].get("text", "") for event in world.events("state.repaired")]
    assert any("put back" in text and "B-1" in text for text in told), told
    assert "put back" in ran.err


@pytest.mark.parametrize("text", ['{"branchName": "ql/fea', "", '{"stories": [{}]}'])
def test_a_broken_file_during_a_run_is_kept_aside_and_restored(world: World, text: str) -> None:
    """The run goes on from the last generation, and says where the broken file is kept."""
    process = one_at_work(world, {"id": "B-1", "dependsOn": ["A-1"]})
    world.quantum.write_text(text, encoding="utf-8")
    ran = finish(world, process)

    kept = list((world.path / ".qloop/aside").iterdir())
    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert world.statuses() == {"A-1": "passed", "B-1": "passed"}
    assert [path.read_text("utf-8") for path in kept] == [text]
    assert str(kept[0]) in ran.err


def test_a_file_that_is_deleted_during_a_run_is_restored(world: World) -> None:
    """The last generation comes back, and the run goes on."""
    process = one_at_work(world, {"id": "B-1", "dependsOn": ["A-1"]})
    world.quantum.unlink()
    ran = finish(world, process)

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert world.statuses() == {"A-1": "passed", "B-1": "passed"}


def test_edits_between_runs_count_entirely(world: World) -> None:
    """A status that a person sets while nothing runs is what the next run goes by."""
    world.plan({"id": "A-1"}, {"id": "B-1"})
    world.writes_own_file("A-1", "B-1")
    assert world.run("--max-iterations", "1", "--max-parallel", "1").code == 2
    document = world.document
    document["stories"][0]["status"] = "pending"
    document["stories"][0]["title"] = "again"
    document["stories"][0]["allowEmpty"] = True
    document["stories"][1]["status"] = "blocked"
    world.write_document(document)

    ran = world.run()

    assert ran.code == 1, ran.err
    assert world.statuses() == {"A-1": "passed", "B-1": "blocked"}
    assert world.log() == ["start", "A-1", "A-1: again"]


def test_a_deleted_lock_file_lets_nobody_in(world: World) -> None:
    """Where somebody deleted the lock, a living holder still keeps a second run out."""
    go = world.flags / "go"
    world.plan({"id": "A-1"})
    world.agent(
        A_1=[
            [
                ["touch", str(world.flags / "there")],
                ["wait-for", str(go)],
                ["write", "A-1.txt", "a\n"],
            ]
        ]
    )
    first = world.start("run")
    wait_until((world.flags / "there").exists)
    (world.path / ".git/qloop/run.lock").unlink()

    second = world.run()
    go.touch()
    _, err = first.communicate()

    assert second.code == 75
    assert str(first.pid) in second.err
    assert first.returncode == 0, err


@pytest.mark.parametrize("command", ["coordinator", "recognizer", "phase"])
@pytest.mark.parametrize("said", ["", '{"wave": "wave-1", '])
def test_one_whose_starter_died_before_its_order_ends_quietly(
    world: World, command: str, said: str
) -> None:
    """Nothing was asked of it, or half of that: no report of a bug, and nothing is done."""
    read, write = os.pipe()
    words = {
        "coordinator": ["--wave", "wave-1", "--stories", "A-1", "--reports", str(write)],
        "recognizer": ["--wave", "wave-1", "--reports", str(write)],
        "phase": ["RECON", "--intent", str(world.path)],
    }
    done = subprocess.run(
        [*QLOOP, command, *words[command]],
        cwd=world.path,
        input=said,
        pass_fds=[write],
        capture_output=True,
        text=True,
        check=False,
    )
    os.close(read)
    os.close(write)

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
