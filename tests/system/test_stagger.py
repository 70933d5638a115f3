"""Starts that keep a distance, also between processes."""

import sys
import threading
import time
from pathlib import Path

import pytest

from qloop.system import process
from qloop.system.cancel import Cancel
from qloop.system.stagger import await_turn

STARTER = """
import sys, time
from pathlib import Path
from qloop.system.cancel import Cancel
from qloop.system.stagger import await_turn
cancel = Cancel()
for _ in range(2):
    await_turn(Path(sys.argv[1]), 0.1, cancel)
    print(time.monotonic())
"""


@pytest.fixture
def cancel() -> Cancel:
    """A flag that nobody raises unless a test does."""
    return Cancel()


def test_starts_of_several_processes_keep_their_distance(tmp_path: Path) -> None:
    """Whoever starts, in whatever process, no two start within the gap."""
    outputs: list[str] = []

    def run() -> None:
        done = process.run([sys.executable, "-c", STARTER, str(tmp_path / "f" / "starts")])
        outputs.append(done.text + done.complaint)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    moments = sorted(float(line) for output in outputs for line in output.splitlines())
    turns = sorted(moments[number] - moments[0] for number in range(len(moments)))
    assert len(moments) == 6
    assert turns[-1] >= 0.45  # a late wake-up may shorten a distance, never the whole


def test_one_alone_does_not_wait(tmp_path: Path, cancel: Cancel) -> None:
    """The first start, one long after, and one after a reboot come at once."""
    file = tmp_path / "starts"
    for noted in ("", "garbage", "0.5", str(time.monotonic() + 1_000_000)):
        if noted:
            file.write_text(noted, encoding="utf-8")
        await_turn(file, 3600.0 if noted != "0.5" else 0.1, cancel)

        assert abs(float(file.read_text("utf-8")) - time.monotonic()) < 600


def test_without_a_gap_nothing_is_noted(tmp_path: Path, cancel: Cancel) -> None:
    """A runner that starts as it likes leaves no file."""
    await_turn(tmp_path / "starts", 0.0, cancel)

    assert list(tmp_path.iterdir()) == []


def test_a_wait_ends_when_the_run_is_stopped(tmp_path: Path, cancel: Cancel) -> None:
    """Nobody waits for a turn that is not wanted any more."""
    await_turn(tmp_path / "starts", 3600.0, cancel)
    cancel.set("stop")

    await_turn(tmp_path / "starts", 500.0, cancel)

    assert cancel.is_set
