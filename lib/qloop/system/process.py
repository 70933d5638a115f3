"""Starting short commands of qloop's own, and reading exit statuses that nothing can steal.

Units: seconds. Errors: StatusLost when the kernel no longer has an exit status, which is a
fault of the machine and never success; CommandTimeout when a command outran its limit.
Source: waitpid(2), pidfd_open(2).
"""

import contextlib
import math
import os
import select
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from qloop.system.clock import monotonic_s
from qloop.system.errors import InternalFailure
from qloop.system.table import read_row

SHORT_COMMAND_LIMIT_S = 600.0

_LONGEST_POLL_MS = 2**31 - 1
_LOOK_EVERY_S = 0.05
_STATUS_LOST = -(2**31)

# The children that this module started and nobody has reaped yet. The lock is held from before
# a child exists until it is in the set, so that none is taken for a stranger in between.
_starting = threading.Lock()
_own: set[int] = set()


class StatusLost(InternalFailure):
    """An exit status could not be read: something else reaped the process."""


class CommandTimeout(InternalFailure):
    """A short command did not end within its limit and was killed."""


@dataclass(frozen=True, slots=True)
class Completed:
    """A command that ended: its words, exit code (negative: killed by that signal), output."""

    argv: tuple[str, ...]
    code: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        """Standard output as text, without the final line end."""
        return os.fsdecode(self.out).rstrip("\n")

    @property
    def complaint(self) -> str:
        """Standard error as text for a message."""
        return self.err.decode("utf-8", "replace").strip()


def run(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes | Path = b"",
    timeout_s: float = SHORT_COMMAND_LIMIT_S,
) -> Completed:
    """Run a short command to its end, its output in memory; *stdin* may be a file's path.

    Raises CommandTimeout, StatusLost, and OSError when it cannot be started.
    """
    with _opened(stdin) as source, _starting:
        child = _Child(
            argv,
            cwd=cwd,
            env=env,
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        _own.add(child.pid)
    with child:
        try:
            data = None if isinstance(stdin, Path) else stdin
            out, err = child.communicate(data, timeout=timeout_s)
        except subprocess.TimeoutExpired:
            child.kill_group()
            raise CommandTimeout(
                f"{argv[0]} did not end within {timeout_s:g} seconds", where=" ".join(argv[:6])
            ) from None
        except BaseException:
            child.kill_group()
            raise
    return Completed(tuple(argv), child.returncode, out, err)


def start(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: int,
    output: int,
    errors: int | None = None,
    pass_fds: Sequence[int] = (),
) -> int:
    """Start a command in a session of its own, without a controlling terminal; return its pid.

    *stdin*, *output* and *errors* (default: where output goes) are file descriptors, *pass_fds*
    those that it inherits besides. Its end is to be read with `wait_status`, once. Raises OSError
    when it cannot be started.
    """
    with _starting:
        child = subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=stdin,
            stdout=output,
            stderr=output if errors is None else errors,
            pass_fds=pass_fds,
            start_new_session=True,
        )
        child.returncode = 0  # keeps Popen from ever waiting: it reads a lost status as 0
        _own.add(child.pid)
    return child.pid


def adopt(pid: int) -> None:
    """Take a process that became this one's child as one that `start` started."""
    with _starting:
        _own.add(pid)


def fork() -> int:
    """Fork this process: 0 in the child, here its pid, whose end is read with `wait_status`."""
    with _starting:
        pid = os.fork()
        if pid:
            _own.add(pid)
    return pid


def kill(pid: int) -> None:
    """Kill a child that `start` started and nobody has reaped yet, and reap it."""
    os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(StatusLost):
        wait_status(pid)


def send_signal(pid: int, signum: int, *, to_group: bool = False) -> None:
    """Signal a child that `start` started and nobody has reaped yet, or all of its group."""
    with contextlib.suppress(ProcessLookupError):
        (os.killpg if to_group else os.kill)(pid, signum)


def own_children() -> frozenset[int]:
    """The pids of the children that `run` and `start` started and that are not reaped yet."""
    with _starting:
        return frozenset(_own)


def wait_status(pid: int) -> int:
    """Wait for a child and return its exit code, negative for a signal. Raises StatusLost."""
    try:
        status = os.waitpid(pid, 0)[1]
    except ChildProcessError:
        _own.discard(pid)
        raise StatusLost(f"the exit status of process {pid} was lost") from None
    _own.discard(pid)
    return os.waitstatus_to_exitcode(status)


def await_exit(pid: int, *, timeout_s: float | None, wake: int | None = None) -> bool:
    """Wait until a process has exited; reap nothing, and sleep until something happens.

    False when *timeout_s* (None: no limit) is over, or the file descriptor *wake* is readable,
    while it still runs.
    """
    deadline = math.inf if timeout_s is None else monotonic_s() + timeout_s
    try:
        handle = open_pidfd(pid)
    except ProcessLookupError:
        return True
    if handle is None:
        return _await_by_looking(pid, deadline, wake)
    try:
        ends = select.poll()
        for descriptor in (handle, *(() if wake is None else (wake,))):
            ends.register(descriptor, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in ends.poll(_poll_ms(deadline))}
            if handle in ready:
                return True
            if wake in ready or monotonic_s() >= deadline:
                return False
    finally:
        os.close(handle)


def open_pidfd(pid: int) -> int | None:
    """A file descriptor that stands for a process; None where the system gives none.

    Raises ProcessLookupError when there is no such process.
    """
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        raise
    except OSError:  # an old kernel, a sandbox that forbids it, too many open files
        return None


class _Child(subprocess.Popen[bytes]):
    """A child whose status is read by `wait_status`: Popen's own wait reads a lost one as 0."""

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code. Raises StatusLost, and TimeoutExpired as Popen does."""
        if self.returncode is None:
            if not await_exit(self.pid, timeout_s=timeout):
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
            self.returncode = _STATUS_LOST
            self.returncode = wait_status(self.pid)
        return self.returncode

    def kill_group(self) -> None:
        """End it and its process group, unless its pid may already be another's."""
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)


def _await_by_looking(pid: int, deadline: float, wake: int | None) -> bool:
    """`await_exit` where no file descriptor tells of a process's end."""
    ends = select.poll()
    if wake is not None:
        ends.register(wake, select.POLLIN)
    while True:
        row = read_row(pid)
        if row is None or not row.living:
            return True
        if monotonic_s() >= deadline or ends.poll(_LOOK_EVERY_S * 1000):
            return False


@contextlib.contextmanager
def _opened(stdin: bytes | Path) -> Iterator[int]:
    """What a command's standard input is to be: a pipe, or an open file."""
    if isinstance(stdin, bytes):
        yield subprocess.PIPE
        return
    with stdin.open("rb") as file:
        yield file.fileno()


def _poll_ms(deadline: float) -> int:
    return math.ceil(min(max(deadline - monotonic_s(), 0) * 1000, _LONGEST_POLL_MS))
