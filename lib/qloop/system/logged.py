"""Running one foreign command to its end, its output in a log and its whole tree gone.

The end is that of the process, never that of its pipe, which a server left behind may hold for
ever. Units: seconds and bytes.
Errors: OSError when the command cannot be started or its log not be opened; InternalFailure when
its output could not be kept.
"""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from enum import Enum, auto
from pathlib import Path

from qloop.system import process
from qloop.system.cancel import Cancel
from qloop.system.capped import CappedLog, Pump
from qloop.system.clock import monotonic_s
from qloop.system.identity import ProcessId, identify
from qloop.system.liveness import Vigil
from qloop.system.masking import find_secrets
from qloop.system.table import check_proc
from qloop.system.tree import Marks, end_tree


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int | None
    """Its exit code, negative for a signal; None when lost, or when it was never started."""
    timed_out: bool = False
    stuck: bool = False
    """It did nothing for longer than it may."""
    cancelled: bool = False
    lost: bool = False
    """The exit status could not be read: a fault of the machine, and neither good nor bad."""
    seconds: float = 0.0
    """From its start to its end, or to the moment it was given up."""
    survivors: tuple[ProcessId, ...] = ()
    """Members of its tree that could not be ended."""


def run_logged(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes | Path,
    log: Path,
    log_bytes: int,
    timeout_s: float,
    marks: Marks,
    cancel: Cancel | None = None,
    stale_after_s: float | None = None,
    grace_s: float = 5.0,
    on_start: Callable[[ProcessId], None] | None = None,
    on_output: Callable[[bytes], object] | None = None,
) -> Ended:
    """Run a command in its own session and end its whole tree, however it ends.

    Its standard input is *stdin*, then end of file; output and errors go to *log*, of at most
    *log_bytes* (see `CappedLog`), without secrets (see `masking`). After *timeout_s*, once *cancel*
    is set, or when for *stale_after_s* it did nothing (see `Vigil`; its files are in *cwd*), it
    gets SIGTERM, and SIGKILL *grace_s* later. With no time, or cancelled before, it is not started.
    *on_start* is told the process, *on_output* all of the output, masked, in another thread.
    """
    refused = _not_started(timeout_s, cancel)
    if refused is not None:
        return refused
    kept = CappedLog(log, log_bytes)
    begun = monotonic_s()
    with ExitStack() as stack:
        pid, pump = _start(argv, cwd, env, stdin, kept, on_output)
        stack.callback(pump.finish)
        try:
            _announce(pid, on_start)
            stop = _await_end(pid, timeout_s, cancel, _vigil(pid, marks, cwd, stale_after_s, kept))
            seconds = monotonic_s() - begun
        finally:
            survivors = end_tree([pid], marks, grace_s=grace_s)
            code = _read_code(pid)
    return replace(_how(code, stop), seconds=seconds, survivors=survivors)


def _not_started(timeout_s: float, cancel: Cancel | None) -> Ended | None:
    """How a command ends that must not be started at all; None for one that may."""
    if cancel is not None and cancel.is_set:
        return Ended(None, cancelled=True)
    if timeout_s <= 0:
        return Ended(None, timed_out=True)
    check_proc()  # before there is a process that could not be ended
    return None


class _Stop(Enum):
    """Why a command that still ran was ended."""

    TIMEOUT = auto()
    STUCK = auto()
    CANCELLED = auto()


def _vigil(
    pid: int, marks: Marks, folder: Path, stale_after_s: float | None, kept: CappedLog
) -> Vigil | None:
    if stale_after_s is None:
        return None
    return Vigil((pid,), marks, folder, stale_after_s, lambda: kept.taken_bytes)


def _await_end(
    pid: int, timeout_s: float, cancel: Cancel | None, vigil: Vigil | None
) -> _Stop | None:
    """Wait until the command ends by itself: None; or until it is to be ended, and why."""
    deadline = monotonic_s() + timeout_s
    while True:
        left_s = max(0.0, deadline - monotonic_s())
        pause_s = left_s if vigil is None else min(left_s, vigil.pause_s)
        if process.await_exit(pid, timeout_s=pause_s, wake=_wake_of(cancel)):
            return None
        if cancel is not None and cancel.is_set:
            return _Stop.CANCELLED
        if monotonic_s() >= deadline:
            return _Stop.TIMEOUT
        if vigil is not None and vigil.is_stuck():
            return _Stop.STUCK


def _how(code: int | None, stop: _Stop | None) -> Ended:
    return Ended(
        code,
        timed_out=stop is _Stop.TIMEOUT,
        stuck=stop is _Stop.STUCK,
        cancelled=stop is _Stop.CANCELLED,
        lost=code is None,
    )


def read_tail(log: Path, limit_bytes: int) -> str:
    """The end of a log as text, from the start of a line; empty where there is no log."""
    try:
        with log.open("rb") as source:
            # One byte more: where it is a line end, the limit falls on the start of a line.
            skip = max(source.seek(0, os.SEEK_END) - limit_bytes - 1, 0)
            source.seek(skip)
            data = source.read(limit_bytes + 1)
    except FileNotFoundError:
        return ""
    if len(data) > limit_bytes:
        whole_lines = data.partition(b"\n")[2]
        data = whole_lines or data[-limit_bytes:]
    return data.decode("utf-8", "replace")


def _start(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes | Path,
    kept: CappedLog,
    on_output: Callable[[bytes], object] | None,
) -> tuple[int, Pump]:
    """Start the command and what reads its output; the log is closed when that fails."""
    read_end, write_end = os.pipe()
    try:
        with _opened(stdin) as given:
            pid = process.start(argv, cwd=cwd, env=env, stdin=given, output=write_end)
    except BaseException:
        os.close(read_end)
        kept.close()
        raise
    finally:
        os.close(write_end)
    return pid, Pump(read_end, kept, on_output, find_secrets({**os.environ, **env}))


@contextmanager
def _opened(stdin: bytes | Path) -> Iterator[int]:
    """Standard input as a file: a pipe would need somebody to feed a child that never reads."""
    with ExitStack() as stack:
        if isinstance(stdin, bytes):
            copy = stack.enter_context(tempfile.NamedTemporaryFile())
            copy.write(stdin)
            copy.flush()
            stdin = Path(copy.name)
        yield stack.enter_context(stdin.open("rb")).fileno()


def _announce(pid: int, on_start: Callable[[ProcessId], None] | None) -> None:
    started = identify(pid)
    if on_start is not None and started is not None:
        on_start(started)


def _wake_of(cancel: Cancel | None) -> int | None:
    return None if cancel is None else cancel.fileno()


def _read_code(pid: int) -> int | None:
    """The exit code of a child whose tree was ended; None when it cannot be had."""
    if not process.await_exit(pid, timeout_s=0):
        return None  # it outlived SIGKILL, and waiting for it could take for ever
    try:
        return process.wait_status(pid)
    except process.StatusLost:
        return None
