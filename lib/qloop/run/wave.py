"""A wave as the driver sees it: a coordinator process, its reports, its clock."""

import os
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from qloop.agents.signals import parse_signal
from qloop.repo.names import review_name
from qloop.run.launch import Source, launch
from qloop.run.orders import Dispatch, Report, WaveOrder
from qloop.run.settle import CRASHED, OUT_OF_TIME, STOPPED, End
from qloop.system import files, process
from qloop.system.clock import monotonic_s
from qloop.system.identity import identify
from qloop.system.tree import Marks, end_tree

READ_BYTES = 65536
COORDINATOR_GRACE_S = 5.0
EXIT_S = 5.0
REMNANT_GRACE_S = 2.0


@dataclass(slots=True)
class Wave:
    """One coordinator at work for the driver."""

    order: WaveOrder
    pid: int
    control: int
    """The pipe on which the coordinator hears the driver; its end means the driver is gone."""
    reports: int
    out: Path
    left_s: float
    """How much of its time limit is left."""
    running_since: float | None
    """When its clock last began to run; None while it waits for its turn to land."""
    waiting: int = 0
    cause: str | None = None
    unsettled: dict[str, Dispatch] = field(default_factory=dict)
    landed: set[str] = field(default_factory=set)
    lasting: bool = False
    """Its process goes on to other waves."""
    over: Report | None = None
    """What such a process said at this wave's end."""
    gone: bool = False
    """The reports have ended, and so has the coordinator, which alone could write them."""
    _rest: bytes = b""

    @property
    def wave_id(self) -> str:
        """Such as `wave-3`."""
        return self.order.wave

    @property
    def stories(self) -> tuple[str, ...]:
        """The ids of all its stories."""
        return tuple(one.story for one in self.order.dispatches)

    def identity(self) -> dict[str, object]:
        """The coordinator's process, as the journal records it."""
        found = identify(self.pid)
        return found.to_json() if found is not None else {"pid": self.pid}

    def deadline(self) -> float | None:
        """When it is out of time, on the monotonic clock; None while its clock stands."""
        return None if self.running_since is None else self.running_since + self.left_s

    def read_reports(self) -> Iterator[Report]:
        """The reports that came in since the last call."""
        while True:
            try:
                data = os.read(self.reports, READ_BYTES)
            except BlockingIOError:
                return
            if not data:
                self.gone = True
                return
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                yield from self._report(line)

    def tell(self, word: str) -> None:
        """Say a word to the coordinator; one that is gone hears nothing."""
        try:
            os.write(self.control, word.encode() + b"\n")
        except BrokenPipeError:
            return

    def end_tree(self, cause: str | None = None, grace_s: float = COORDINATOR_GRACE_S) -> None:
        """End the coordinator and all that belongs to its attempts."""
        if cause is not None and self.cause is None:
            self.cause = cause
        end_tree([self.pid], self._marks, grace_s=grace_s)

    @property
    def _marks(self) -> Marks:
        """What tells that a process belongs to its attempts."""
        base = Path(self.order.terms.place.base)
        names = [one.attempt_id for one in self.order.dispatches]
        names += [self.order.leader.name] if self.order.leader is not None else []
        return Marks(
            env=tuple(f"QLOOP_ATTEMPT_ID={name}" for name in names),
            folders=tuple(
                base / f"{folder}{end}"
                for name in names
                for folder in (name, review_name(name))
                for end in ("", ".tmp")
            ),
        )

    def end_so_far(self) -> End | None:
        """Why it is being ended, while its last reports come in; None where it is not."""
        return None if self.cause is None else End(None, _how(None, self.cause), self.cause)

    def close(self, coordinators: Container[int]) -> End:
        """After its end: its last word and how it went. Nothing of it is left running.

        What it started became this process's children; *coordinators* are those that did not.
        """
        process.await_exit(self.pid, timeout_s=EXIT_S)
        end_tree([self.pid], self._marks, grace_s=REMNANT_GRACE_S, spare=coordinators, orphans=True)
        code = _read_code(self.pid)  # only now: until then its pid is no other's
        os.close(self.control)
        os.close(self.reports)
        said = files.read_optional(self.out) or b""  # an agent may have removed it
        signal = parse_signal(said.decode("utf-8", "replace")).signal
        return End(signal, _how(code, self.cause), _cause(code, signal, self.cause))

    def leave(self, over: Report) -> End:
        """The end of a wave whose process goes on: its word."""
        return End(over.signal, "goes on")

    def _report(self, line: bytes) -> Iterator[Report]:
        try:
            report = Report.model_validate_json(line)
        except ValidationError:
            return
        if report.kind == "queued":
            self._queue(1)
        elif report.kind == "landing":
            self._queue(-1)
        elif report.kind == "ended":
            self.over = report
        yield report

    def _queue(self, change: int) -> None:
        """Count stories that wait for their turn to land; the clock stands while one does."""
        now = monotonic_s()
        if self.running_since is not None:
            self.left_s -= now - self.running_since
        self.waiting += change
        self.running_since = None if self.waiting > 0 else now


def _read_code(pid: int) -> int | None:
    try:
        return process.wait_status(pid)
    except process.StatusLost:
        return None


def start_wave(
    order: WaveOrder, limit_s: float, inherited: tuple[int, ...], source: Source
) -> Wave:
    """Set a process to work on *order*: the one that is ready, or a new coordinator.

    It inherits the run lock's descriptor.
    """
    launched = source.take(order) or launch(order, inherited)
    return Wave(
        order=order,
        pid=launched.pid,
        control=launched.control,
        reports=launched.reports,
        out=launched.out,
        left_s=limit_s,
        running_since=monotonic_s(),
        unsettled={one.story: one for one in order.dispatches},
        lasting=launched.lasting,
    )


def _how(code: int | None, cause: str | None) -> str:
    if cause == OUT_OF_TIME:
        return "ran out of time"
    if cause == STOPPED:
        return "was stopped"
    if code is None:
        return "ended with an exit status that was lost"
    return f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"


def _cause(code: int | None, signal: str | None, cause: str | None) -> str | None:
    if cause is not None:
        return cause
    return None if code in (0, 1, 3) and signal else CRASHED
