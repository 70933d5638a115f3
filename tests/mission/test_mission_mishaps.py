"""What goes wrong around a mission: coordinators that do not end, answers that come too late."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from loaded import Loaded
from qloop.mission.phase_desk import read_steps
from qloop.state.phase_events import PhaseFailure, conclude_phase
from qloop.state.phases import PhaseName
from world import World, wait_until

DONE = '{"event": "phase.complete", "phase_id": "RECON", "summary": "seen"}'
OPTIONS = [{"id": "so", "description": "so"}]
ASK = {
    "event": "phase.checkpoint",
    "phase_id": "RECON",
    "checkpoint_type": "choice",
    "question": "How?",
    "options": OPTIONS,
}


@pytest.fixture
def world(tmp_path: Path, loaded: Loaded) -> World:
    """A repository with a mission that has not begun."""
    made = World(tmp_path, loaded)
    made.repo.commit("app", {"app.py": ""})
    return made


def begin(world: World, command: str) -> Path:
    """Begin a mission whose RECON a program of the person's own coordinates; its folder."""
    world.configure(f"[phases.RECON]\ncommand = {json.dumps(command)}")
    ran = world.qloop("mission", "new", "tea", "--autonomy", "autopilot", "--json")
    assert ran.code == 0, ran.err
    return Path(json.loads(ran.out)["folder"])


def status(world: World) -> dict[str, Any]:
    """What `mission status --json` says of mission 1."""
    value: dict[str, Any] = json.loads(world.qloop("mission", "status", "1", "--json").out)
    return value


def start(world: World) -> "subprocess.Popen[str]":
    """A mission at work, once its coordinator says so."""
    running = world.start("mission", "run")
    wait_until((world.flags / "on").exists)
    return running


@pytest.mark.parametrize(
    "line",
    [
        "[" * 200_000,
        json.dumps({**ASK, "context": {"deep": json.loads("[" * 190 + "]" * 190)}}),
        json.dumps({**ASK, "context": {"share": float("nan")}}),
        json.dumps({**ASK, "context": {"half": "\ud800"}}),
        json.dumps({**ASK, "options": [*OPTIONS, *OPTIONS]}),
        DONE[:-1] + ', "metrics": {"duration_s": 1e999}}',
        DONE[:-1] + ', "summary": "\\ud800"}',
    ],
    ids=["deep", "deep context", "nan", "half a character", "twice", "endless", "summary"],
)
def test_an_event_that_no_state_could_hold_is_malformed(line: str) -> None:
    """Else the mission would end with it, or have a state that nobody can read again."""
    event = conclude_phase(PhaseName.RECON, [line], 0)

    assert isinstance(event, PhaseFailure)
    assert event.failure_type == "malformed_event"


@pytest.mark.parametrize(
    "data",
    [b"", b"no json", b"[]", b'{"x": 1}', b'{"round": 0, "steps": {"a": 1}}', b"[" * 100_000],
)
def test_finished_steps_that_cannot_be_read_are_done_again(data: bytes) -> None:
    """A phase could else never be done again."""
    assert read_steps(data, 0) == {}


def test_finished_steps_are_those_of_their_round() -> None:
    """What was done before a person had the phase done again does not count."""
    step = {"about": "1", "result": {"a": 1}}
    data = json.dumps({"round": 1, "steps": {"scout": step}}).encode()

    assert read_steps(data, 1) == {"scout": step}
    assert read_steps(data, 2) == {}


def test_a_coordinator_is_over_when_its_process_is(world: World) -> None:
    """What it left behind holds its output open, and the lock; it is ended."""
    left = world.flags / "left"
    begin(world, f"env -i setsid sleep 600 & echo $! > '{left}'; echo '{json.dumps(ASK)}'")

    ran = world.qloop("mission", "run")

    assert ran.code == 3
    assert status(world)["open_checkpoint"] == "cp-1-1"
    assert not Path("/proc", left.read_text("utf-8").strip()).exists()


def test_a_coordinator_that_minds_no_signal_is_ended_by_the_third(world: World) -> None:
    """Also one that has never read its order, and has closed its output."""
    on = world.flags / "on"
    begin(world, f"trap '' INT TERM; exec >&-; touch '{on}'; while :; do sleep 0.1; done")
    running = start(world)

    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        running.send_signal(signum)

    running.communicate()
    assert running.returncode == 130
    assert status(world)["status"] == "interrupted"


def test_ctrl_c_reaches_all_of_a_program_of_ones_own(world: World) -> None:
    """As it would at a terminal: a shell alone would wait for what it runs."""
    begin(world, f"touch '{world.flags}/on'; sleep 600; echo late")
    running = start(world)

    running.send_signal(signal.SIGINT)

    running.communicate()
    assert running.returncode == 130


def test_a_long_order_waits_for_whoever_reads_it_late(world: World) -> None:
    """The order and what is said are longer than a pipe holds, and neither waits for the other."""
    talk = "head -c 300000 /dev/zero | tr '\\0' '\\n'"
    command = f"{talk}; head -1 | wc -c > order.txt; echo '{json.dumps(ASK)}'"
    folder = begin(world, command)
    state = json.loads((folder / "state.json").read_text("utf-8"))
    state["directive"] = "tea " * 50_000
    (folder / "state.json").write_text(json.dumps(state), "utf-8")

    assert world.qloop("mission", "run").code == 3

    assert int((world.path / "order.txt").read_text("utf-8")) > 200_000


def test_a_mission_that_is_over_takes_no_answer(world: World) -> None:
    """Whichever way it was abandoned its intent is over, and nothing waits on its pages."""
    folder = begin(world, f"echo '{json.dumps(ASK)}'")
    assert world.qloop("mission", "run").code == 3

    assert world.qloop("answer", "cp-1-1", "abandon", "--note", "not\n## now").code == 0

    late = world.qloop("answer", "cp-1-1", "so")
    assert late.code == 65
    assert status(world)["status"] == "abandoned"
    index = (folder.parent / "INDEX.md").read_text("utf-8")
    assert f"## Abandoned\n\n- [1 — tea]({folder.name}/" in index
    assert "\n## now" not in (folder / "CHECKPOINT.md").read_text("utf-8")


def test_an_abandoned_mission_leaves_no_question(world: World) -> None:
    """A question that nobody answered is not one that waits."""
    folder = begin(world, f"echo '{json.dumps(ASK)}'")
    assert world.qloop("mission", "run").code == 3

    assert world.qloop("mission", "abandon").code == 0

    assert world.qloop("answer", "cp-1-1", "so").code == 65
    known = status(world)
    assert known["status"] == "abandoned"
    assert known["open_checkpoint"] is None
    assert "Nothing waits" in (folder / "CHECKPOINT.md").read_text("utf-8")


def test_of_two_people_that_answer_at_once_one_is_told_so(world: World) -> None:
    """The other one learns what was answered."""
    begin(world, f"echo '{json.dumps(ASK)}'")
    assert world.qloop("mission", "run").code == 3

    both = [world.start("answer", "cp-1-1", one) for one in ("so", "abandon")]

    for one in both:
        one.communicate()
    assert sorted(one.returncode for one in both) == [0, 65]
