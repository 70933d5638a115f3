"""`qloop watch`: a run that was started elsewhere, as it goes; or the last one, as it ended."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from terminal import Session
from world import World, wait_until


@pytest.fixture
def held(world: World) -> Iterator[World]:
    """A story whose agent waits until the flag `go` is there."""
    world.plan({"id": "A", "title": "First"})
    steps = [["print", "reading the code"], ["wait-for", str(go(world))], ["write", "a.txt", "a"]]
    world.agent(A=[[*steps, ["say", "STORY_PASSED"]]])
    yield world
    go(world).touch()


@pytest.fixture
def running(held: World) -> Iterator[subprocess.Popen[str]]:
    """A run of it in another process, its agent at work."""
    process = held.start("run")
    wait_until(lambda: held.events("agent.started"))
    yield process
    go(held).touch()
    process.communicate(timeout=120)


def go(world: World) -> Path:
    """The flag that the agent waits for."""
    return world.flags / "go"


def test_lines_to_the_end_of_a_run(held: World, running: subprocess.Popen[str]) -> None:
    """Without a terminal: the run's lines from its start to its end, on standard output."""
    watching = held.start("watch")
    assert watching.stdout is not None
    first = watching.stdout.readline()
    go(held).touch()
    rest, err = watching.communicate(timeout=120)
    lines = rest.splitlines()

    assert (watching.returncode, err) == (0, "")
    assert " run r-" in first
    assert any(line.endswith("A passed") for line in lines)
    assert any(line.startswith("run r-") and line.endswith("ended COMPLETE") for line in lines)
    assert "<quantum>" not in rest


def test_the_board_to_the_end_of_a_run(held: World, running: subprocess.Popen[str]) -> None:
    """In a terminal: the board, its last picture, and how the run ended."""
    session = Session(["watch"], held.path)
    session.wait_for("reading the code")
    before = session.picture().shown
    go(held).touch()
    code = session.end()
    end = session.picture().shown

    assert code == 0
    assert any(row.startswith("▸ A") and "double at work" in row for row in before)
    assert any(row.startswith("✓ A") for row in end)
    assert any(row.startswith("run r-") and row.endswith("ended COMPLETE") for row in end)


@pytest.mark.parametrize("fancy", [True, False])
def test_ctrl_c_ends_the_watching_alone(
    held: World, running: subprocess.Popen[str], fancy: bool
) -> None:
    """It ends with 130 and without a word too much; the run goes on."""
    session = Session(["watch"], held.path, NO_COLOR=None if fancy else "1")
    session.wait_for("at work")
    os.kill(session.process.pid, signal.SIGINT)
    code = session.end()

    assert code == 130
    assert "Traceback" not in session.output
    assert running.poll() is None


def test_a_reader_that_had_enough(held: World, running: subprocess.Popen[str]) -> None:
    """`qloop watch | head -1` ends with the reader."""
    watching = held.start("watch")
    assert watching.stdout is not None
    assert watching.stdout.readline()
    watching.stdout.close()
    go(held).touch()
    assert watching.stderr is not None
    err = watching.stderr.read()
    watching.stderr.close()

    assert (watching.wait(120), err) == (141, "")


def test_a_run_that_is_killed(held: World, running: subprocess.Popen[str]) -> None:
    """The watching ends with the driver, and says that the run did not end."""
    watching = held.start("watch")
    assert watching.stdout is not None
    watching.stdout.readline()
    os.kill(running.pid, signal.SIGKILL)
    rest, _ = watching.communicate(timeout=120)
    go(held).touch()
    held.run()

    assert watching.returncode == 0
    assert "is gone without an end; the next `qloop run` takes it up" in rest


def test_a_run_of_another_state_file(held: World, running: subprocess.Popen[str]) -> None:
    """The plan shown would be the wrong one, so that is an error with the way out."""
    other = held.path / "other.json"
    other.write_text('{"branchName": "ql/other", "stories": []}', encoding="utf-8")
    ran = held.qloop("watch", "--quantum", str(other))

    assert ran.code == 65
    assert "works for ql/feature, this plan is for ql/other" in ran.err
    assert "--quantum FILE" in ran.err


@pytest.mark.parametrize("fancy", [True, False])
def test_the_last_run_where_none_is_on(held: World, fancy: bool) -> None:
    """Said so, with the whole board of the last run and how it ended; no screen is taken."""
    go(held).touch()
    held.run()
    session = Session(["watch"], held.path, NO_COLOR=None if fancy else "1")
    code = session.end()
    shown = [row for row in session.picture().shown if row]

    assert code == 0
    assert shown[0] == "no run is on; this is the last one"
    assert shown[1].startswith("ql/feature  ended COMPLETE, ")
    assert any(row.startswith("✓ A") for row in shown)
    assert shown[-1].startswith("run r-")
    assert "\x1b[H" not in session.output
    assert ("\x1b[" in session.output) == fancy


def test_why_the_last_run_could_not_go_on(world: World) -> None:
    """The reasons with which a run ended are told."""
    world.plan({"id": "A", "retries": {"maxAttempts": 1}})
    world.agent(A=[[["say", "STORY_FAILED"]]])
    world.run()
    ran = world.qloop("watch")

    assert ran.code == 0
    assert "ended BLOCKED" in ran.out
    assert "A failed 1 of 1 attempts" in ran.out.splitlines()[-1]


def test_a_plan_that_never_ran(world: World) -> None:
    """Its stories are shown as they stand."""
    world.plan({"id": "A"}, {"id": "B", "dependsOn": ["A"]})
    ran = world.qloop("watch")

    assert ran.code == 0
    assert ran.out.splitlines()[0] == "no run is on, and none was made of this plan yet"
    assert "waits for A" in ran.out


def test_nothing_to_watch(world: World) -> None:
    """Without a state file it says what is missing."""
    assert world.qloop("watch").code == 66
