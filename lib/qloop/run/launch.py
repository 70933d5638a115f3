"""Starting coordinator processes: when a wave wants one, or ahead of the wave.

A coordinator that is started ahead has imported all it needs and waits for its words; it has
taken part in nothing, so that it may end at any moment without harm. When the driver is gone its
standard input ends, and so does it.
Errors: OSError when a process cannot be started.
"""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Protocol

from qloop.run.orders import Place, WaveOrder
from qloop.system import process
from qloop.system.title import MAY_BE_RENAMED

IDLE = ("-P", "-m", "qloop.cli.idle")
DIGITS = 10
"""More than the number of a file descriptor has."""
MOST_ROOM = 4000
"""The longest command line, in bytes, that is kept room for."""


@dataclass(frozen=True, slots=True)
class Launched:
    """A coordinator process and the pipes to it."""

    pid: int
    control: int
    """The pipe on which it hears the driver; its end means the driver is gone."""
    reports: int
    """The pipe on which it answers."""
    far_reports: int
    """The number that its end of *reports* has there."""
    out: Path
    """The file that its standard output goes to."""
    err: Path
    lasting: bool = False
    """It takes one wave after the other, until it is told that there is none."""


def launch(order: WaveOrder, inherited: tuple[int, ...]) -> Launched:
    """Start a coordinator for *order*; it inherits the descriptors given."""
    terms = order.terms
    stories = _stories(order)
    started = _start(
        lambda reports: _words(terms.place, order.wave, stories, reports),
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

    def ensure(self, wave: str, stories: tuple[str, ...]) -> None:
        """Have a process ready for *wave*, which may have to name as much as *stories*."""
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
    """The one coordinator that a driver has ready for its next wave, if it has one."""

    place: Place
    run_id: str
    inherited: tuple[int, ...]
    _wave: str = ""
    _room: int = 0
    _ready: Launched | None = field(default=None)

    mode: ClassVar[str] = "coordinator"
    one_by_one: ClassVar[bool] = False

    def ensure(self, wave: str, stories: tuple[str, ...]) -> None:
        """Have one ready for *wave*; *stories* are the longest that it may have to name.

        Where a process cannot be shown under other words than it was started with, or there are
        too many of them, none is started.
        """
        if self._ready is not None or not MAY_BE_RENAMED:
            return
        words = _words(self.place, wave, ",".join(stories), 10**DIGITS)
        self._room = _length(words)
        if self._room > MOST_ROOM:
            return
        begin = [sys.executable, *IDLE]
        argv = [*begin, " " * max(1, self._room - _length(begin) - 1)]
        self._wave = wave
        name = _folder(self.place, self.run_id) / wave
        self._ready = _start(lambda _: argv, self.place, name, self.inherited)

    def take(self, order: WaveOrder) -> Launched | None:
        """The ready coordinator, set to work on *order*; None where none can do it."""
        ready = self._ready
        if ready is None:
            return None
        words = _words(self.place, order.wave, _stories(order), ready.far_reports)
        is_dead = process.await_exit(ready.pid, timeout_s=0)
        if is_dead or order.wave != self._wave or _length(words) > self._room:
            self.end()
            return None
        self._ready = None
        send_line(ready.control, json.dumps(words))
        send(ready.control, order)
        return ready

    def hand_over(self, *, gone: bool) -> None:
        """It is so already."""

    def end(self) -> None:
        """End the coordinator that is ready, and what it left, without its having said a word."""
        ready, self._ready = self._ready, None
        if ready is None:
            return
        process.kill(ready.pid)
        os.close(ready.control)
        os.close(ready.reports)
        for file in (ready.out, ready.err):
            if file.exists() and file.stat().st_size == 0:
                file.unlink()


def launch_orchestrator(place: Place, run_id: str, inherited: tuple[int, ...]) -> Launched:
    """Start an orchestrator, which waits for its first order."""
    name = _folder(place, run_id) / "orchestrator"

    def words(reports: int) -> list[str]:
        begin = [sys.executable, "-P", "-m", "qloop", "orchestrator"]
        return [*begin, *_where(place), "--reports", str(reports)]

    return replace(_start(words, place, name, inherited), lasting=True)


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


def _start(
    argv: Callable[[int], list[str]], place: Place, name: Path, inherited: tuple[int, ...]
) -> Launched:
    """Start a process; *argv* is told the number of the pipe on which it is to report."""
    name.parent.mkdir(parents=True, exist_ok=True)
    out, err = (name.with_name(f"{name.name}.{kind}") for kind in ("out", "err"))
    control_read, control = os.pipe()
    reports, far_reports = os.pipe()
    try:
        with out.open("ab") as said, err.open("ab") as complaints:
            pid = process.start(
                argv(far_reports),
                cwd=Path(place.root),
                env=_environment(),
                stdin=control_read,
                output=said.fileno(),
                errors=complaints.fileno(),
                pass_fds=(far_reports, *inherited),
            )
    finally:
        os.close(control_read)
        os.close(far_reports)
    os.set_blocking(reports, False)
    return Launched(pid, control, reports, far_reports, out, err)


def _folder(place: Place, run_id: str) -> Path:
    return Path(place.private) / "waves" / run_id


def _stories(order: WaveOrder) -> str:
    return ",".join(one.story for one in order.dispatches)


def _words(place: Place, wave: str, stories: str, reports: int) -> list[str]:
    """A coordinator's command line."""
    words = [sys.executable, "-P", "-m", "qloop", "coordinator", "--wave", wave]
    return [*words, "--stories", stories, *_where(place), "--reports", str(reports)]


def _where(place: Place) -> list[str]:
    return ["--quantum", place.quantum, *(["--prd", place.prd] if place.prd else [])]


def _length(words: list[str]) -> int:
    """The bytes that a command line takes, the end of each word included."""
    return sum(len(os.fsencode(word)) + 1 for word in words)


def _environment() -> dict[str, str]:
    """qloop's own environment, in which this very package is imported; agents do not get it."""
    outer = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**outer, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
