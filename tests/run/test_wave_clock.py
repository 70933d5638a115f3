"""The clock of a wave: it runs, but not while a story waits for its turn to land."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from qloop.run.orders import Limits, Place, Report, Terms, WaveOrder
from qloop.run.wave import Wave
from qloop.system import process
from qloop.system.clock import monotonic_s

LIMIT_S = 1000.0


@pytest.fixture
def wave(tmp_path: Path) -> Iterator[tuple[Wave, int]]:
    """A wave whose coordinator sleeps, and the end of the pipe on which it would report."""
    place = Place(
        root=str(tmp_path),
        git_dir=str(tmp_path),
        private=str(tmp_path),
        base=str(tmp_path / "base"),
        quantum=str(tmp_path / "quantum.json"),
        prd=None,
        branch="ql/feature",
    )
    limits = Limits(gate_timeout_s=600, stale_after_s=600, log_bytes=10_000, file_bytes=10_000)
    terms = Terms(run_id="r-1", lease="", place=place, limits=limits, settings={})
    control_read, control = os.pipe()
    reports, reports_write = os.pipe()
    os.set_blocking(reports, False)
    out = tmp_path / "out"
    with out.open("wb") as said:
        pid = process.start(
            [sys.executable, "-c", "import time; time.sleep(600)"],
            cwd=tmp_path,
            env=os.environ,
            stdin=control_read,
            output=said.fileno(),
        )
    made = Wave(
        order=WaveOrder(wave="wave-1", terms=terms, dispatches=()),
        pid=pid,
        control=control,
        reports=reports,
        out=out,
        left_s=LIMIT_S,
        running_since=monotonic_s(),
    )
    yield made, reports_write
    made.end_tree(grace_s=5)
    made.close({pid})
    os.close(control_read)
    os.close(reports_write)


def report(wave: Wave, pipe: int, *kinds: str) -> None:
    """Let the coordinator report, and the wave hear it."""
    for kind in kinds:
        line = Report.model_validate({"kind": kind}).model_dump_json() + "\n"
        os.write(pipe, line.encode())
    assert [one.kind for one in wave.read_reports()] == list(kinds)


def test_the_clock_stands_while_a_story_waits_for_its_turn(wave: tuple[Wave, int]) -> None:
    """There is no deadline then; afterwards it is later by as long as the story waited."""
    one, pipe = wave
    before = one.deadline()
    report(one, pipe, "queued")
    standing = one.deadline()
    time.sleep(0.2)
    report(one, pipe, "landing")
    after = one.deadline()

    assert before is not None
    assert standing is None
    assert after is not None
    assert after >= before + 0.2


def test_the_clock_stands_until_the_last_one_has_its_turn(wave: tuple[Wave, int]) -> None:
    """Two stories of one wave may wait at the same time."""
    one, pipe = wave
    report(one, pipe, "queued", "queued", "landing")
    standing = one.deadline()
    report(one, pipe, "landing", "event")

    assert standing is None
    assert one.deadline() is not None


def test_what_a_coordinator_tells_half_is_heard_when_it_is_whole(wave: tuple[Wave, int]) -> None:
    """A report may come in pieces, and what is none is passed over."""
    one, pipe = wave
    os.write(pipe, b'nonsense\n{"kind": "que')
    first = list(one.read_reports())
    os.write(pipe, b'ued"}\n')

    assert first == []
    assert [one.kind for one in one.read_reports()] == ["queued"]
