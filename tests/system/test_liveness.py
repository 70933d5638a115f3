"""Whether a command still does anything: what is a sign of it, and when it is stuck."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from qloop.system.cancel import Cancel
from qloop.system.liveness import IDLE_SHARE, LOOKS, Stillness, Vigil, fingerprint
from qloop.system.logged import Ended, run_logged
from qloop.system.table import read_cpu_s
from qloop.system.tree import Marks
from system.conftest import Zoo, is_running, until

LIMIT_S = 1000.0
SHORT_S = 0.6
"""A limit for real commands; those that go on take three times as long."""
BUSY = "import time; end = time.monotonic() + 1.8\nwhile time.monotonic() < end: pass"


def test_a_limit_without_any_sign_is_over() -> None:
    """It counts from the start where there never was a sign."""
    still = Stillness(LIMIT_S, since_s=50.0)

    assert not still.is_broken_by(0, 0.0)
    assert not still.is_over(50.0 + LIMIT_S - 1)
    assert still.is_over(50.0 + LIMIT_S)


@pytest.mark.parametrize(
    ("seen", "broken"),
    [
        ([(1, 0.0)], True),
        ([(1, 0.0), (1, 0.0)], False),
        ([(0, IDLE_SHARE * LIMIT_S)], True),
        ([(0, IDLE_SHARE * LIMIT_S * 0.6)], False),
        ([(0, IDLE_SHARE * LIMIT_S * 0.6), (0, IDLE_SHARE * LIMIT_S * 0.6)], True),
    ],
)
def test_signs(seen: list[tuple[int, float]], broken: bool) -> None:
    """New output is one, and processor time beyond what a waiting program takes."""
    still = Stillness(LIMIT_S, since_s=0.0)
    answers = [still.is_broken_by(*one) for one in seen]

    assert answers[-1] is broken


def test_a_sign_begins_the_limit_anew() -> None:
    """Processor time from before it counts no more."""
    still = Stillness(LIMIT_S, since_s=0.0)
    still.is_broken_by(0, IDLE_SHARE * LIMIT_S * 0.6)
    still.begin_anew(LIMIT_S - 1)

    assert not still.is_over(LIMIT_S)
    assert not still.is_broken_by(0, IDLE_SHARE * LIMIT_S * 0.6)
    assert still.is_over(2 * LIMIT_S - 1)


def test_a_vigil_by_a_clock(zoo: Zoo) -> None:
    """A sleeper is stuck once its limit is over; what changes meanwhile puts that off."""
    now, printed = [0.0], [0]
    pid = zoo.start(["sleep", "600"])
    until(lambda: is_running(pid))
    vigil = Vigil((pid,), zoo.by_env, zoo.folder, LIMIT_S, lambda: printed[0], lambda: now[0])

    def looked(until_s: float) -> list[bool]:
        answers = []
        while now[0] < until_s:
            now[0] += vigil.pause_s
            answers.append(vigil.is_stuck())
        return answers

    assert vigil.pause_s == LIMIT_S / LOOKS
    assert not any(looked(900))
    (zoo.folder / "new").touch()
    assert not any(looked(1800))
    printed[0] = 7
    assert not any(looked(2700))
    assert looked(4000)[-1]


def test_any_change_below_a_folder_is_seen(tmp_path: Path) -> None:
    """Made, written, removed, renamed, also deep down; looking at it changes nothing."""
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "loop").symlink_to(tmp_path)
    file = deep / "file"
    seen = [fingerprint(tmp_path)]
    changes: list[Callable[[], object]] = [
        file.touch,
        lambda: file.write_text("more"),
        lambda: file.rename(deep / "other"),
        (deep / "other").unlink,
    ]
    for change in changes:
        time.sleep(0.02)  # a file system's clock goes in steps
        change()
        seen.append(fingerprint(tmp_path))

    assert len(set(seen)) == len(seen)
    assert fingerprint(tmp_path) == seen[-1]
    assert fingerprint(tmp_path / "nowhere") == 0


def test_the_time_of_children_that_ended_counts(zoo: Zoo) -> None:
    """A shell that waits for one busy command after the other is not idle."""
    busy = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"
    pid = zoo.start(["sh", "-c", f"sh -c '{busy}'; touch done; sleep 600"])
    until((zoo.folder / "done").exists)

    assert (read_cpu_s(pid) or 0.0) > 0.0
    assert read_cpu_s(2**22 + 1) is None


def run(zoo: Zoo, *argv: str, cancel: Cancel | None = None) -> Ended:
    """Run a command with a short limit."""
    (zoo.folder / "tree").mkdir()
    return run_logged(
        argv,
        cwd=zoo.folder / "tree",
        env=zoo.env,
        stdin=b"",
        log=zoo.folder / "log",
        log_bytes=100_000,
        timeout_s=600,
        marks=Marks(env=zoo.by_env.env),
        cancel=cancel,
        stale_after_s=SHORT_S,
        grace_s=30,
    )


def test_a_command_that_only_waits_is_ended(zoo: Zoo) -> None:
    """It is stuck, which is neither a time limit nor a wish to stop."""
    ended = run(zoo, "sh", "-c", "sleep 600")

    assert ended.stuck
    assert (ended.timed_out, ended.cancelled, ended.lost) == (False, False, False)


@pytest.mark.parametrize(
    "argv",
    [
        (sys.executable, "-c", BUSY),
        ("sh", "-c", f"'{sys.executable}' -c '{BUSY}' & wait $!"),
        ("sh", "-c", "for i in 1 2 3 4 5 6; do sleep 0.3; echo $i; done"),
        ("sh", "-c", "for i in 1 2 3 4 5 6; do sleep 0.3; echo $i > note; done"),
    ],
    ids=["computes", "has a child that computes", "prints", "writes"],
)
def test_one_that_does_anything_goes_on(zoo: Zoo, argv: tuple[str, ...]) -> None:
    """Each sign alone is enough, for three times the limit."""
    ended = run(zoo, *argv)

    assert (ended.code, ended.stuck) == (0, False)
