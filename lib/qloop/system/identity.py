"""Which process is meant: a pid alone names another process after a while.

A process is its pid together with its start time, the boot it started in, and the pid namespace
that counts it. Errors: InternalFailure as in `table`.
"""

import contextlib
import functools
import os
import signal
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from qloop.system.table import Row, read_row

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_NAMESPACE = Path("/proc/self/ns/pid")


@dataclass(frozen=True, slots=True)
class ProcessId:
    """One process among all that ever had its pid."""

    pid: int
    start: str
    """When it started, in the words of `table.Row.start`."""
    boot: str
    namespace: str
    """The pid namespace that the pid is counted in; empty where there are none."""

    def to_json(self) -> dict[str, Any]:
        """The form that `parse_process_id` reads."""
        return asdict(self)


def parse_process_id(value: object) -> ProcessId | None:
    """What `to_json` gave, read back; None for anything else."""
    if not isinstance(value, Mapping):
        return None
    pid = value.get("pid")
    words = [value.get(name) for name in ("start", "boot", "namespace")]
    if not isinstance(pid, int) or isinstance(pid, bool) or pid <= 0:
        return None
    start, boot, namespace = (word if isinstance(word, str) else None for word in words)
    if start is None or boot is None or namespace is None:
        return None
    return ProcessId(pid, start, boot, namespace)


def identify(pid: int) -> ProcessId | None:
    """The process that has *pid* now, be it a zombie; None when there is none."""
    row = read_row(pid)
    return None if row is None else id_of(row)


def id_of(row: Row) -> ProcessId:
    """The identity of a process in this machine's table."""
    return ProcessId(row.pid, row.start, _this_boot(), _this_namespace())


def this_process() -> ProcessId:
    """The process that asks."""
    own = identify(os.getpid())
    assert own is not None  # it is running this line
    return own


def is_alive(which: ProcessId) -> bool:
    """Whether that very process still runs; a zombie does not.

    One in another pid namespace of the same boot cannot be seen from here, and counts as alive.
    """
    if which.boot != _this_boot():
        return False
    if which.namespace != _this_namespace():
        return True
    row = read_row(which.pid)
    return row is not None and row.living and row.start == which.start


def send_signal(which: ProcessId, signum: int) -> None:
    """Send a signal to that very process; nothing happens when it is gone or not ours to signal.

    The pid is pinned by a pidfd before the identity is looked at, so that a process that got the
    pid anew is not hit.
    """
    from qloop.system.process import open_pidfd

    if which.namespace != _this_namespace():
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        handle = open_pidfd(which.pid)
        try:
            if not is_alive(which):
                return
            if handle is None:
                os.kill(which.pid, signum)
            else:
                signal.pidfd_send_signal(handle, signum)
        finally:
            if handle is not None:
                os.close(handle)


@functools.cache
def _this_boot() -> str:
    try:
        return _BOOT_ID.read_text("ascii").strip()
    except OSError:
        import psutil

        return str(int(psutil.boot_time()))


@functools.cache
def _this_namespace() -> str:
    try:
        return str(_NAMESPACE.readlink())
    except OSError:
        return ""
