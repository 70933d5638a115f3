"""`qloop logs`: an attempt's output, whole or as it grows."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from look_world import RUN, World, story
from qloop.cli.main import main
from qloop.state.journal import EventKind
from repository import Repo

Captured = pytest.CaptureFixture[str]
CapturedBytes = pytest.CaptureFixture[bytes]


@pytest.fixture
def world(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> World:
    """A repository to stand in, with a plan of two stories."""
    monkeypatch.chdir(repo.path)
    made = World(repo)
    made.plan(story("A"), story("B"))
    return made


def follow(*args: str) -> subprocess.Popen[bytes]:
    """Start `qloop logs A --follow` here."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "qloop", "logs", "A", "--follow", *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_bytes_as_they_are(world: World, capfdbinary: CapturedBytes) -> None:
    """Into a pipe the output goes as it was, whatever its bytes; other logs are named aside."""
    data = b"\x1b[31mred\x1b[0m\r\n\xff\x00 no line end"
    world.log("A", 1, {"output.log": data, "verify-1.log": b"", "prompt.md": b""})

    assert main(["logs", "A"]) == 0
    out, err = capfdbinary.readouterr()

    assert out == data
    assert b"prompt.md, verify-1.log" in err


def test_the_newest_attempt_by_number(world: World, capfdbinary: CapturedBytes) -> None:
    """Attempts are counted, not sorted as words; --attempt names another one."""
    for number in (2, 9, 10):
        world.log("A", number, {"output.log": b"attempt %d" % number})
    main(["logs", "A"])
    assert capfdbinary.readouterr().out == b"attempt 10"
    main(["logs", "A", "--attempt", "2"])
    out, err = capfdbinary.readouterr()

    assert out == b"attempt 2"
    assert b"attempt 2 of A, its agent:" in err
    assert b"other attempts: qloop logs A --attempt 9 or 10" in err


def test_logs_outlive_their_plan(world: World, capfdbinary: CapturedBytes) -> None:
    """The logs of a story that no plan holds any more can be read."""
    world.log("OLD", 1, {"output.log": b"old"})
    world.quantum.unlink()

    assert main(["logs", "OLD"]) == 0
    assert capfdbinary.readouterr().out == b"old"


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["A"], 66, "no attempt at A was made yet"),
        (["B"], 66, "beside it in"),
        (["B"], 66, "setup-1.log"),
        (["B", "--attempt", "3"], 66, "those of attempts 1, 2 are there"),
        (["B", "--attempt", "1"], 66, "its agent was not started"),
        (["b"], 65, "did you mean B?"),
        (["../logs"], 65, "there is no story '../logs'"),
    ],
)
def test_no_such_log(
    world: World, capsys: Captured, args: list[str], code: int, words: str
) -> None:
    """What is not there is an error that names what is."""
    world.log("B", 1, {})
    world.log("B", 2, {"setup-1.log": b"red"})

    assert main(["logs", *args]) == code
    assert words in capsys.readouterr().err


def test_follow_until_the_attempt_has_settled(world: World) -> None:
    """A log is shown as it grows, to its last byte, until the journal tells the attempt's end."""
    world.hold()
    world.attempt("A", 1)
    folder = world.log("A", 1, {"output.log": b"first\n", "prompt.md": b""})
    with follow() as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"first\n"
        with (folder / "output.log").open("ab") as log:
            log.write(b"second\n")
        assert child.stdout.readline() == b"second\n"
        with (folder / "output.log").open("ab") as log:
            log.write(b"last")
        world.tell(EventKind.STORY_SETTLED, story="A", attempt=1, status="passed")
        out, err = child.communicate()

    assert (child.returncode, out) == (0, b"last")
    assert b"prompt.md" in err


def test_follow_what_people_read(world: World) -> None:
    """Where the output has structure its readable log is followed, from its beginning."""
    world.hold()
    world.attempt("A", 1)
    folder = world.log("A", 1, {})
    with follow() as child:
        assert child.stdout is not None
        (folder / "output.readable.log").write_bytes(b"I begin\n")
        (folder / "output.log").write_bytes(b"{}\n")
        assert child.stdout.readline() == b"I begin\n"
        with (folder / "output.readable.log").open("ab") as log:
            log.write(b"> Bash: true\n")
        assert child.stdout.readline() == b"> Bash: true\n"
        world.tell(EventKind.STORY_SETTLED, story="A", attempt=1, status="passed")
        out, err = child.communicate()

    assert (child.returncode, out) == (0, b"")
    assert b"output.log" in err


def test_follow_a_log_that_is_still_to_come(world: World) -> None:
    """An attempt whose agent was not started yet is waited for."""
    world.hold()
    world.attempt("A", 1)
    folder = world.log("A", 1, {})
    with follow() as child:
        time.sleep(0.3)
        (folder / "output.log").write_bytes(b"here\n")
        assert child.stdout is not None
        assert child.stdout.readline() == b"here\n"
        world.tell(EventKind.STORY_SETTLED, story="A", attempt=1, status="passed")
        child.communicate()

    assert child.returncode == 0


def test_ctrl_c_ends_following(world: World) -> None:
    """A person who has seen enough ends it as any command, without a traceback."""
    world.hold()
    world.attempt("A", 1)
    world.log("A", 1, {"output.log": b"first\n"})
    with follow() as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.send_signal(signal.SIGINT)
        _, err = child.communicate()

    assert (child.returncode, err) == (130, b"attempt 1 of A, its agent:\n")


@pytest.fixture
def deadline() -> Iterator[None]:
    """Nothing here may wait for ever."""
    timer = threading.Timer(60, os._exit, (1,))
    timer.start()
    yield
    timer.cancel()


@pytest.mark.usefixtures("deadline")
@pytest.mark.parametrize(
    ("kind", "wave", "run"),
    [
        (EventKind.WAVE_ENDED, "wave-1", RUN),
        (EventKind.RUN_ENDED, None, RUN),
    ],
)
def test_follow_ends_with_wave_or_run(
    world: World, capfdbinary: CapturedBytes, kind: EventKind, wave: str | None, run: str
) -> None:
    """An attempt that was never settled ends with its wave or run."""
    world.hold()
    world.attempt("A", 1)
    world.log("A", 1, {"output.log": b"all"})
    world.tell(kind, run=run, wave=wave)

    assert main(["logs", "A", "--follow"]) == 0
    assert capfdbinary.readouterr().out == b"all"


@pytest.mark.usefixtures("deadline")
def test_follow_of_a_run_that_is_gone(world: World, capfdbinary: CapturedBytes) -> None:
    """Where no run is on, nothing can come any more."""
    world.hold(dead=True)
    world.attempt("A", 1)
    world.log("A", 1, {"output.log": b"all"})

    assert main(["logs", "A", "--follow"]) == 0
    assert capfdbinary.readouterr().out == b"all"


def test_another_state_file(world: World, capsys: Captured, tmp_path: Path) -> None:
    """--quantum names the plan in which a story without logs is looked for."""
    other = tmp_path / "other.json"
    other.write_text('{"branchName": "b", "stories": [{"id": "Z"}]}')

    assert main(["logs", "Z", "--quantum", str(other)]) == 66
    assert "no attempt at Z was made yet" in capsys.readouterr().err
