"""Ending a run from outside: Ctrl-C, TERM, HUP, `qloop stop`; and waves that run out of time."""

import fcntl
import json
import signal
import subprocess
from pathlib import Path

import pytest

from victims import (
    agents,
    check_nothing_left,
    check_uncharged,
    coordinators,
    gone,
    plan_four,
    send,
)
from world import QLOOP, Ran, World, wait_until

INTERRUPTED = "<quantum>INTERRUPTED</quantum>"


def start_by(world: World, *starter: str) -> "subprocess.Popen[str]":
    """Start a run through a command that becomes it."""
    return subprocess.Popen(
        [*starter, *QLOOP, "run"],
        cwd=world.path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(process: "subprocess.Popen[str]") -> Ran:
    """What a process came to."""
    out, err = process.communicate(timeout=120)
    return Ran(process.returncode, out, err)


def two_at_work(world: World, *, stubborn: bool = False) -> None:
    """Two stories whose agents wait for `go`, and one that waits for them."""
    ignore = [["ignore", "SIGTERM"]] if stubborn else []
    wait = [["wait-for", str(world.flags / "go")]]
    world.plan({"id": "A-1"}, {"id": "B-1"}, {"id": "C-1", "dependsOn": ["A-1", "B-1"]})
    world.agent(
        **{
            f"{one}_1": [
                [
                    *ignore,
                    ["write", f"{one}.txt", f"{one}\n"],
                    ["touch", str(world.flags / one)],
                    *wait,
                    ["commit", one],
                ]
            ]
            for one in "ABC"
        }
    )


def at_work(world: World) -> bool:
    """Whether both agents work."""
    return (world.flags / "A").exists() and (world.flags / "B").exists()


def check_resumable(world: World) -> None:
    """Nothing is charged or lost, and the next run finishes it all."""
    assert set(world.statuses().values()) <= {"pending", "passed"}
    check_uncharged(world)
    check_nothing_left(world)
    (world.flags / "go").touch()
    again = world.run()
    assert (again.code, again.signal) == (0, "<quantum>COMPLETE</quantum>"), again.err
    assert world.files() == {"README.md": "start", "A.txt": "A", "B.txt": "B", "C.txt": "C"}
    check_uncharged(world)


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_once_lets_what_runs_finish_and_land(world: World, signum: int) -> None:
    """No new attempt starts; one that comes to its end in the short time given lands."""
    two_at_work(world)
    process = world.start("run")
    wait_until(lambda: at_work(world))
    process.send_signal(signum)
    (world.flags / "go").touch()
    ran = finish(process)

    assert (ran.code, ran.signal) == (130, INTERRUPTED), ran.err
    assert world.statuses() == {"A-1": "passed", "B-1": "passed", "C-1": "pending"}
    assert {event["story"] for event in world.events("attempt.started")} == {"A-1", "B-1"}
    check_resumable(world)


def test_once_ends_what_does_not_finish(world: World) -> None:
    """After a short time the agents are stopped; their stories are pending, their work is kept."""
    two_at_work(world)
    process = world.start("run")
    wait_until(lambda: at_work(world))
    process.send_signal(signal.SIGINT)
    ran = finish(process)

    assert (ran.code, ran.signal) == (130, INTERRUPTED), ran.err
    assert "stopping: nothing new starts" in ran.err
    assert world.statuses() == dict.fromkeys(("A-1", "B-1", "C-1"), "pending")
    assert world.failures("A-1") == ["interrupted"]
    assert world.files("refs/qloop/attempts/A-1/1").keys() >= {"A.txt"}
    assert not agents(world)
    check_resumable(world)


def test_twice_ends_all_at_once(world: World) -> None:
    """Agents that do not heed TERM are killed; their work is kept nevertheless."""
    two_at_work(world, stubborn=True)
    process = world.start("run")
    wait_until(lambda: at_work(world))
    process.send_signal(signal.SIGINT)
    wait_until(lambda: heard(process.pid))
    process.send_signal(signal.SIGINT)
    ran = finish(process)

    assert (ran.code, ran.signal) == (130, INTERRUPTED), ran.err
    assert world.statuses() == dict.fromkeys(("A-1", "B-1", "C-1"), "pending")
    assert world.files("refs/qloop/attempts/B-1/1").keys() >= {"B.txt"}
    check_resumable(world)


def heard(pid: int) -> bool:
    """Whether no SIGINT is pending for a process any more."""
    pending = signal_mask(pid, "SigPnd") | signal_mask(pid, "ShdPnd")
    return not pending & 1 << (signal.SIGINT - 1)


@pytest.mark.parametrize("words", [["stop"], ["stop", "--now"]])
def test_stop_ends_a_run_from_elsewhere(world: World, words: list[str]) -> None:
    """It waits for the run's end, which is that of a Ctrl-C; with --now without the short time."""
    two_at_work(world)
    process = world.start("run", "--json")
    wait_until(lambda: at_work(world))
    stopped = world.qloop(*words)
    ran = finish(process)

    last = json.loads(ran.out.splitlines()[-1])
    assert stopped.code == 0, stopped.err
    assert ran.code == 130
    assert (last["event"], last["data"]["signal"]) == ("run.ended", "INTERRUPTED")
    assert gone([process.pid])
    check_resumable(world)


@pytest.mark.parametrize("words", [["stop"], ["stop", "--now"]])
def test_stop_without_a_run_says_so(world: World, words: list[str]) -> None:
    """Exit 66, before any run and after one."""
    first = world.qloop(*words)
    world.plan({"id": "A-1"})
    world.writes_own_file("A-1")
    assert world.run().code == 0

    second = world.qloop(*words)

    assert (first.code, second.code) == (66, 66)
    assert "no run" in second.err


def test_an_interrupt_in_the_base_gate_starts_nothing(world: World) -> None:
    """The test command of the untouched line is ended, and no attempt begins."""
    there = world.flags / "there"
    plan_four(world, testCommand=f"touch '{there}'; sleep 600")
    process = world.start("run")
    wait_until(there.exists)
    process.send_signal(signal.SIGTERM)
    ran = finish(process)

    assert (ran.code, ran.signal) == (130, INTERRUPTED), ran.err
    assert world.events("attempt.started") == []
    assert world.worktrees() == []


def test_an_interrupt_while_the_run_opens_starts_nothing(world: World) -> None:
    """What a dead run left is put in order, then the run ends."""
    two_at_work(world, stubborn=True)
    process = world.start("run")
    wait_until(lambda: at_work(world))
    orphans = agents(world)
    send(signal.SIGKILL, process.pid, *coordinators(process.pid))
    finish(process)
    again = world.start("run")
    wait_until(lambda: running(world) == again.pid or not set(orphans) & set(agents(world)))
    again.send_signal(signal.SIGINT)
    ran = finish(again)

    assert (ran.code, ran.signal) == (130, INTERRUPTED), ran.err
    assert len(world.events("attempt.started")) == 2
    assert gone(orphans)
    check_resumable(world)


def running(world: World) -> int:
    """The process that run.json names."""
    pid: int = json.loads((world.path / ".qloop/run.json").read_text("utf-8"))["pid"]
    return pid


def test_a_run_under_nohup_outlives_its_terminal(world: World) -> None:
    """A HUP that is ignored at the start stays ignored."""
    two_at_work(world)
    process = start_by(world, "nohup")
    wait_until(lambda: at_work(world))
    process.send_signal(signal.SIGHUP)
    (world.flags / "go").touch()
    ran = finish(process)

    assert ran.code == 0, ran.err


def test_exit_statuses_are_read_where_sigchld_is_ignored(world: World) -> None:
    """A parent that ignores SIGCHLD hands that on; gates and agents are judged all the same."""
    world.plan(
        {"id": "A-1", "verify": ["exit 0"]},
        {"id": "B-1", "verify": ["exit 1"], "retries": {"maxAttempts": 1}},
        testCommand="exit 0",
    )
    world.writes_own_file("A-1", "B-1")
    process = start_by(world, "env", "--ignore-signal=CHLD")
    ran = finish(process)

    assert ran.code == 1, ran.err
    assert world.statuses() == {"A-1": "passed", "B-1": "failed"}
    assert world.failures("B-1") == ["verification"]


def test_a_wave_out_of_time_is_charged_and_gone(world: World) -> None:
    """A coordinator that hangs is ended with all its tree; its stories are charged `timeout`."""
    two_at_work(world)
    process = world.start("run", "--wave-timeout", "6s", "--max-retries", "1")
    wait_until(lambda: at_work(world))
    below = [*coordinators(process.pid), *agents(world)]
    send(signal.SIGSTOP, *coordinators(process.pid))
    ran = finish(process)

    assert (ran.code, ran.signal) == (1, "<quantum>BLOCKED</quantum>"), ran.err
    assert world.failures("A-1") == world.failures("B-1") == ["timeout"]
    assert world.story("A-1")["retries"]["attempts"] == 1
    assert gone(below)
    assert world.files("refs/qloop/attempts/A-1/1").keys() >= {"A.txt"}
    check_nothing_left(world)


def test_ending_one_wave_loses_nothing_of_another(world: World) -> None:
    """While a wave is ended that ran out of time, what others report is kept and settled."""
    world.plan({"id": "A-1"}, {"id": "B-1"}, {"id": "C-1", "dependsOn": ["B-1"]})
    go = str(world.flags / "go")
    world.agent(
        A_1=[[["ignore", "SIGTERM"], ["touch", str(world.flags / "A")], ["sleep", 600]]],
        B_1=[[["write", "B.txt", "B\n"], ["commit", "B"]]],
        C_1=[[["write", "C.txt", "C\n"], ["wait-for", go], ["commit", "C"]]],
    )
    process = world.start("run", "--wave-timeout", "8s", "--max-retries", "1")
    wait_until(lambda: len(world.events("wave.started")) == 2)
    first, second = (event["data"]["process"]["pid"] for event in world.events("wave.started"))
    wait_until(lambda: len(world.events("agent.started")) == 3)
    send(signal.SIGSTOP, first)
    (world.flags / "go").touch()
    ran = finish(process)

    assert ran.code == 1, ran.err
    assert world.statuses() == {"A-1": "failed", "B-1": "passed", "C-1": "passed"}
    assert world.failures("A-1") == ["timeout"]
    assert gone([first, second])


def test_the_clock_of_a_wave_stands_while_it_waits_to_land(world: World) -> None:
    """A story that waits for its turn longer than its wave's time is not out of time."""
    go = world.flags / "go"
    slow = f"test ! -e A.txt || test -e B.txt || until test -e '{go}'; do sleep 0.02; done"
    world.plan(
        {"id": "A-1"},
        {"id": "B-1"},
        execution={"maxParallel": 1},
        testCommand=slow,
    )
    world.agent(
        A_1=[[["write", "A.txt", "A\n"], ["commit", "A"]]],
        B_1=[[["write", "B.txt", "B\n"], ["commit", "B"]]],
    )
    process = world.start("run", "--max-parallel", "2", "--wave-timeout", "300s")
    wait_until(lambda: len(world.events("agent.ended")) == 2)
    go.touch()
    ran = finish(process)

    assert ran.code == 0, ran.err


def test_an_interrupt_while_the_run_waits_for_the_lock_ends_it(world: World) -> None:
    """Another command has the repository for a moment, or hangs: Ctrl-C ends the wait."""
    plan_four(world)
    lock = world.path / ".git/qloop/run.lock"
    lock.parent.mkdir()
    with lock.open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        process = world.start("run")
        wait_until(lambda: catches(process.pid, signal.SIGHUP))
        process.send_signal(signal.SIGINT)
        ran = finish(process)

    assert ran.code == 130, ran.err
    assert not (world.path / ".qloop/run.json").exists()


def catches(pid: int, signum: int) -> bool:
    """Whether a process has a handler for a signal."""
    return bool(signal_mask(pid, "SigCgt") & 1 << (signum - 1))


def signal_mask(pid: int, name: str) -> int:
    """A set of signals of a process, as a mask. Source: proc(5)."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return int(fields[name], 16)


def test_a_driver_that_fails_leaves_nothing_running(world: World) -> None:
    """Its other waves are ended too; the next run takes up what they did."""
    world.plan({"id": "A-1"}, {"id": "B-1", "dependsOn": ["C-1"]}, {"id": "C-1"})
    waiting = [["ignore", "SIGTERM"], ["wait-for", str(world.flags / "go")]]
    writing = {
        one: [["write", f"{one}.txt", f"{one}\n"], ["touch", str(world.flags / one)]]
        for one in "ABC"
    }
    world.agent(
        A_1=[[*writing["A"], *waiting]], B_1=[[*writing["B"], *waiting]], C_1=[writing["C"]]
    )
    process = world.start("run")
    wait_until(lambda: at_work(world))
    below = [*coordinators(process.pid), *agents(world)]
    journal = world.path / ".qloop/events.jsonl"
    first = world.events("wave.started")[0]["data"]["process"]["pid"]
    kept = journal.rename(journal.with_name("kept"))
    journal.mkdir()
    send(signal.SIGKILL, first)
    ran = finish(process)
    left = [pid for pid in below if not gone([pid])]
    journal.rmdir()
    kept.rename(journal)
    (world.flags / "go").touch()
    again = world.run()

    assert len(below) == 4
    assert ran.code not in (0, 1, 2, 3), ran.err
    assert left == []
    assert (again.code, again.signal) == (0, "<quantum>COMPLETE</quantum>"), again.err
    assert world.files().keys() >= {"A.txt", "B.txt", "C.txt"}
