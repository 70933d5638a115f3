"""Starting coordinator processes: forked from one that has loaded all, or anew.

Errors: OSError when a process cannot be started.
"""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Protocol

from qloop.run.forks import Forks, own_environment
from qloop.run.orders import Place, WaveOrder
from qloop.system import process


@dataclass(frozen=True, slots=True)
class Launched:
    """A coordinator process and the pipes to it."""

    pid: int
    control: int
    """The pipe on which it hears the driver; its end means the driver is gone."""
    reports: int
    """The pipe on which it answers."""
    out: Path
    """The file that its standard output goes to."""
    err: Path
    lasting: bool = False
    """It takes one wave after the other, until it is told that there is none."""


def launch(order: WaveOrder, inherited: tuple[int, ...]) -> Launched:
    """Start a coordinator for *order*; it inherits the descriptors given."""
    terms = order.terms
    words = _words(terms.place, order.wave, _stories(order))
    started = _start(
        lambda reports: [*words, str(reports)],
        terms.place,
        _folder(terms.place, terms.run_id) / order.wave,
        inherited,
    )
    send(started.control, order)
    return started


class Source(Protocol):
    """Where a driver has the processes from that work on its waves."""

    @property
    def mode(self) -> str:
        """As `execution.mode` tells it."""
        ...

    @property
    def one_by_one(self) -> bool:
        """Whether there is one wave at a time, of one story."""
        ...

    def take(self, order: WaveOrder) -> Launched | None:
        """The process that is ready, set to work on *order*; None where there is none."""
        ...

    def hand_over(self, *, gone: bool) -> None:
        """Have every other wave done by a coordinator of its own; *gone*: the process is."""
        ...

    def end(self) -> None:
        """End what is ready and has nothing to do."""
        ...


@dataclass(slots=True)
class Ahead:
    """Coordinators forked from a process that has loaded all ahead of the first wave."""

    place: Place
    forks: Forks
    inherited: tuple[int, ...]

    mode: ClassVar[str] = "coordinator"
    one_by_one: ClassVar[bool] = False

    def take(self, order: WaveOrder) -> Launched | None:
        """A coordinator at work on *order*; None where it cannot be had in this way."""
        words = _words(self.place, order.wave, _stories(order))

        def fork(streams: _Streams) -> int | None:
            descriptors = (*streams.standard, streams.far_reports, *self.inherited)
            return self.forks.fork(words, cwd=Path(self.place.root), descriptors=descriptors)

        name = _folder(self.place, self.forks.run_id) / order.wave
        launched = _launched(name, fork)
        if launched is not None:
            send(launched.control, order)
        return launched

    def hand_over(self, *, gone: bool) -> None:
        """It is so already."""

    def end(self) -> None:
        """Nothing of it is without work."""


def launch_orchestrator(place: Place, run_id: str, inherited: tuple[int, ...]) -> Launched:
    """Start an orchestrator, which waits for its first order."""
    name = _folder(place, run_id) / "orchestrator"

    def words(reports: int) -> list[str]:
        begin = [sys.executable, "-P", "-m", "qloop", "orchestrator"]
        return [*begin, *_where(place), "--reports", str(reports)]

    return replace(_start(words, place, name, inherited), lasting=True)


def launch_recognizer(
    place: Place, wave: str, forks: Forks, inherited: tuple[int, ...]
) -> Launched:
    """Start a recognizer, forked where that can be, which waits for its order."""
    words = [sys.executable, "-P", "-m", "qloop", "recognizer", "--wave", wave, *_where(place)]
    words = [*words, "--reports"]

    def fork(streams: _Streams) -> int | None:
        descriptors = (*streams.standard, streams.far_reports, *inherited)
        return forks.fork(words, cwd=Path(place.root), descriptors=descriptors)

    name = _folder(place, forks.run_id) / f"recognizer-{wave}"
    forked = _launched(name, fork)
    if forked is not None:
        return forked
    return _start(lambda reports: [*words, str(reports)], place, name, inherited)


def send(control: int, order: WaveOrder) -> None:
    """Send an order; a coordinator that died at once leaves it unread."""
    send_line(control, json.dumps(order.model_dump(mode="json")))


def send_line(control: int, line: str) -> None:
    """Send one line, all of it; one that is gone hears nothing."""
    data = line.encode() + b"\n"
    try:
        while data:
            data = data[os.write(control, data) :]
    except BrokenPipeError:
        return


@dataclass(frozen=True, slots=True)
class _Streams:
    """The far ends of what a coordinator is connected by."""

    standard: tuple[int, int, int]
    far_reports: int


def _start(
    argv: Callable[[int], list[str]], place: Place, name: Path, inherited: tuple[int, ...]
) -> Launched:
    """Start a process; *argv* is told the number of the pipe on which it is to report."""

    def start(streams: _Streams) -> int:
        asked, said, complaints = streams.standard
        return process.start(
            argv(streams.far_reports),
            cwd=Path(place.root),
            env=own_environment(),
            stdin=asked,
            output=said,
            errors=complaints,
            pass_fds=(streams.far_reports, *inherited),
        )

    launched = _launched(name, start)
    assert launched is not None  # or starting raised
    return launched


def _launched(name: Path, begin: Callable[[_Streams], int | None]) -> Launched | None:
    """Connect a process that *begin* makes; None where it makes none."""
    name.parent.mkdir(parents=True, exist_ok=True)
    out, err = (name.with_name(f"{name.name}.{kind}") for kind in ("out", "err"))
    control_read, control = os.pipe()
    reports, far_reports = os.pipe()
    pid = None
    try:
        with out.open("ab") as said, err.open("ab") as complaints:
            standard = (control_read, said.fileno(), complaints.fileno())
            pid = begin(_Streams(standard, far_reports))
    finally:
        os.close(control_read)
        os.close(far_reports)
        if pid is None:
            os.close(control)
            os.close(reports)
    if pid is None:
        return None
    os.set_blocking(reports, False)
    return Launched(pid, control, reports, out, err)


def _folder(place: Place, run_id: str) -> Path:
    return Path(place.private) / "waves" / run_id


def _stories(order: WaveOrder) -> str:
    return ",".join(one.story for one in order.dispatches)


def _words(place: Place, wave: str, stories: str) -> list[str]:
    """A coordinator's command line, but for the number of the pipe to report on."""
    words = [sys.executable, "-P", "-m", "qloop", "coordinator", "--wave", wave]
    return [*words, "--stories", stories, *_where(place), "--reports"]


def _where(place: Place) -> list[str]:
    return ["--quantum", place.quantum, *(["--prd", place.prd] if place.prd else [])]
