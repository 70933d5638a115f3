"""The live board of real runs in a terminal of their own, and what there is where there is none."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from terminal import Screen, Session
from world import World, wait_until

SIZE = (80, 24)


@pytest.fixture
def held(world: World) -> Iterator[World]:
    """Two stories: the agent of the first waits until the flag `go` is there."""
    world.plan({"id": "A", "title": "First"}, {"id": "B", "title": "Second", "dependsOn": ["A"]})
    steps = [["print", "\u001b[32mreading\u001b[0m the code"], ["wait-for", str(go(world))]]
    end = [["say", "STORY_PASSED"]]
    world.agent(A=[[*steps, ["write", "a.txt", "a"], *end]], B=[[["write", "b.txt", "b"], *end]])
    yield world
    go(world).touch()


def go(world: World) -> Path:
    """The flag that the first story's agent waits for."""
    return world.flags / "go"


def test_a_run_in_a_terminal(held: World) -> None:
    """The board shows the agent's last line; its last picture stays, and the summary follows."""
    session = Session(["run"], held.path, size=SIZE)
    session.wait_for("reading the code")
    at_work = session.picture(SIZE).shown
    go(held).touch()
    code = session.end()
    end = session.picture(SIZE)

    assert code == 0, end.text
    assert at_work[0].startswith("ql/feature  running, ")
    assert at_work[0].endswith("1 of 4 slots")
    assert any(row.startswith("▸ A") and "double at work" in row for row in at_work)
    assert any(row.startswith("- B") and "waits for A" in row for row in at_work)
    assert_ended(end, "ended COMPLETE")


def assert_ended(picture: Screen, phase: str) -> None:
    """The last picture whole, then the summary, then the signal; nothing was too wide."""
    text = picture.text
    last = text.rindex(phase)

    assert text.count(phase) == 1
    assert "level 1  1 of 1 passed  wave-1" in text[last:]
    assert "✓ A" in text[last:]
    assert text.index("attempts", last) > text.index("✓ B", last)
    assert text.rstrip().splitlines()[-1] == "<quantum>COMPLETE</quantum>"


@pytest.mark.parametrize("size", [(20, 6), (40, 5), (200, 50)])
def test_terminals_of_all_sizes(held: World, size: tuple[int, int]) -> None:
    """However narrow and flat, the board shows what is at work, and nothing wraps."""
    session = Session(["run"], held.path, size=size)
    session.wait_for("▸ ")
    wait_until(lambda: any(row.startswith("▸ A") for row in session.picture(size).shown))
    screen = session.picture(size)
    go(held).touch()

    assert session.end() == 0
    assert screen.wrapped == 0


def test_a_terminal_that_changes_its_size(held: World) -> None:
    """Each picture is drawn for the size of its moment, over whatever the change left."""
    session = Session(["run"], held.path, size=(120, 40))
    session.wait_for("reading the code")
    for columns, rows in ((40, 10), (100, 30)):
        before = len(session.output)
        session.resize(columns, rows)
        session.wait_for("reading the code", after=before)
        shown = session.output[before:]
        picture = Screen(columns, rows)
        picture.feed(shown[shown.index("\x1b[?7l\x1b[H\x1b[2J") :])

        assert any(row.startswith("▸ A") for row in picture.shown)
        assert picture.wrapped == 0
    go(held).touch()

    assert session.end() == 0


def test_ctrl_c_at_the_board(held: World) -> None:
    """It says what happens now, the run ends as it does without a board, and the picture stays."""
    session = Session(["run"], held.path, size=SIZE)
    session.wait_for("reading the code")
    os.kill(session.process.pid, signal.SIGINT)
    session.wait_for("stopping: nothing new starts")
    os.kill(session.process.pid, signal.SIGINT)
    code = session.end()
    picture = session.picture(SIZE)

    assert code == 130
    assert "ended INTERRUPTED" in picture.text
    assert picture.text.rstrip().splitlines()[-1] == "<quantum>INTERRUPTED</quantum>"


def test_an_error_before_the_run_began(world: World) -> None:
    """No board is drawn, and the error is seen."""
    world.plan({"id": "A", "dependsOn": ["A"]})
    session = Session(["run"], world.path, size=SIZE)
    code = session.end()

    assert code == 65
    assert "\x1b[H" not in session.output
    assert "error:" in session.output


def test_an_error_in_the_midst_of_a_run(held: World) -> None:
    """A state file that nothing can restore ends the run; the error stands below the board."""
    session = Session(["run"], held.path, size=SIZE)
    session.wait_for("reading the code")
    held.quantum.unlink()
    (held.path / ".qloop").joinpath("generations").rename(held.flags / "gone")
    held.quantum.mkdir()
    go(held).touch()
    code = session.end()
    rows = [row for row in session.picture(SIZE).text.splitlines() if row]

    assert code not in (0, 130)
    assert any(row.startswith(("▸ A", "✗ A")) for row in rows)
    assert "error:" in "\n".join(rows[-6:])


@pytest.mark.parametrize("name", ["NO_COLOR", "CI"])
def test_plain_lines_where_a_person_wants_them(held: World, name: str) -> None:
    """In a terminal with NO_COLOR, or in CI, progress is plain lines."""
    go(held).touch()
    session = Session(["run"], held.path, size=SIZE, **{name: "1"})

    assert session.end() == 0
    assert "\x1b" not in session.output
    assert "A attempt 1: double at work" in session.output


def test_plain_lines_in_a_dumb_terminal(held: World) -> None:
    """A terminal that can do nothing gets lines."""
    go(held).touch()
    session = Session(["run"], held.path, size=SIZE, TERM="dumb")

    assert session.end() == 0
    assert "\x1b" not in session.output


def test_plain_lines_without_a_terminal(held: World) -> None:
    """Into a pipe progress is plain lines."""
    go(held).touch()
    ran = held.run()

    assert ran.code == 0
    assert "\x1b" not in ran.out + ran.err
    assert "A attempt 1: double at work" in ran.err


def test_json_in_a_terminal_is_json_alone(held: World) -> None:
    """With --json there is no board to spoil it."""
    go(held).touch()
    session = Session(["run", "--json"], held.path, size=SIZE)

    assert session.end() == 0
    assert all(line.startswith("{") for line in session.output.splitlines())


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_an_idle_driver_without_a_terminal_sleeps(held: World) -> None:
    """While an agent works, the driver has one thread, and that does not wake up."""
    process = held.start("run")
    wait_until(lambda: held.events("agent.started"))
    status = Path(f"/proc/{process.pid}/status")

    def switches() -> list[str]:
        lines = status.read_text(encoding="utf-8").splitlines()
        return [line for line in lines if "ctxt_switches" in line or "Threads" in line]

    def sleeps() -> bool:
        before = switches()
        time.sleep(1)
        return before == switches()

    wait_until(sleeps)
    told = switches()
    go(held).touch()

    _, lines = process.communicate(timeout=120)

    assert process.returncode == 0, lines
    assert "Threads:\t1" in told


def test_a_pause_is_counted_down(world: World) -> None:
    """The board tells how long a runner pauses still, and that the run waits for it."""
    world.plan({"id": "A"})
    say = 'echo "Claude AI usage limit reached|$(($(date +%s) + 4))"'
    world.agent(A=[[["sh", say], ["exit", 1]], [["write", "a.txt", "a"]]])
    session = Session(["run"], world.path, size=SIZE)
    session.wait_for("double pauses for 2s")
    waiting = session.picture(SIZE).shown
    session.wait_for("double pauses for 1s")
    code = session.end()

    assert code == 0, session.picture(SIZE).text
    assert waiting[0].startswith("ql/feature  waits, ")
    assert any("(usage limit): " in row for row in waiting)
