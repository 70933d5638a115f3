"""The table of processes: who descends from whom, and what a process holds.

On Linux it is read from /proc, elsewhere through psutil. A process that is gone, or that may not
be looked at, is None or empty, never an error: processes end while they are being looked at.
Errors: InternalFailure where /proc shows the processes of another pid namespace, for there every
pid in it would name a stranger.
Source: proc(5).
"""

import contextlib
import functools
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from qloop.system.errors import InternalFailure

_PROC = Path("/proc")
_DELETED = " (deleted)"
_READ_BYTES = 65_536
_PSUTIL_STATES = {"zombie": "Z", "stopped": "T"}


@dataclass(frozen=True, slots=True)
class Row:
    """One process at the moment of looking."""

    pid: int
    parent: int
    group: int
    session: int
    state: str
    """One letter, as in proc(5): `Z` zombie, `T` stopped."""
    start: str
    """When it started: clock ticks since boot on Linux, seconds since 1970 elsewhere."""
    terminal: bool
    """Whether it has a controlling terminal."""
    threads: int

    @property
    def living(self) -> bool:
        """Whether it still runs: its main thread may have ended before the others."""
        return self.state not in "ZX" or self.threads > 1


def read_row(pid: int) -> Row | None:
    """The row of one process, or None when there is none."""
    if sys.platform != "linux":
        return row_from_psutil(pid)
    check_proc()
    return _row_from_proc(pid)


def read_table() -> dict[int, Row]:
    """The rows of all processes that can be seen, by pid."""
    if sys.platform != "linux":
        import psutil  # only here and below: it takes longer to load than a look at /proc

        rows = (row_from_psutil(pid) for pid in psutil.pids())
    else:
        check_proc()
        with os.scandir(_PROC) as entries:
            pids = [int(entry.name) for entry in entries if entry.name.isdecimal()]
        # The newest first: they are the likeliest to be gone in a moment.
        rows = (_row_from_proc(pid) for pid in sorted(pids, reverse=True))
    return {row.pid: row for row in rows if row is not None}


def lineage(row: Row, table: dict[int, Row]) -> Iterator[Row]:
    """*row*, its parent, that one's parent, and so on."""
    seen: set[int] = set()  # a table read while pids are reused could hold a circle
    current: Row | None = row
    while current is not None and current.pid not in seen:
        yield current
        seen.add(current.pid)
        current = table.get(current.parent)


def read_environment(pid: int) -> frozenset[bytes] | None:
    """The `NAME=value` entries a process was started with; None when they cannot be read."""
    if sys.platform != "linux":
        import psutil

        try:
            pairs = psutil.Process(pid).environ()
        except (psutil.Error, OSError):
            return None
        return frozenset(os.fsencode(f"{name}={value}") for name, value in pairs.items())
    try:
        return frozenset(_read(f"/proc/{pid}/environ").split(b"\0"))
    except OSError:
        return None


def read_folder(pid: int) -> str | None:
    """The path of a process's working folder, also of one that was deleted since."""
    if sys.platform != "linux":
        import psutil

        try:
            return psutil.Process(pid).cwd()
        except (psutil.Error, OSError):
            return None
    return _follow(f"/proc/{pid}/cwd")


def files_written(pid: int) -> Iterator[str]:
    """The files that a process has open for writing; none where only psutil can look.

    One that only reads is left out: it may be a person's pager on a log.
    """
    with contextlib.suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
        for entry in entries:
            # The link's own mode tells how the file was opened.
            if entry.stat(follow_symlinks=False).st_mode & 0o200:
                target = _follow(entry.path)
                if target is not None and target.startswith("/"):
                    yield target


def read_cpu_s(pid: int) -> float | None:
    """The processor time of a process and of the children that it waited for; None without one."""
    if sys.platform != "linux":
        import psutil

        try:
            times = psutil.Process(pid).cpu_times()
        except (psutil.Error, OSError):
            return None
        return float(times.user + times.system + times.children_user + times.children_system)
    try:
        raw = _read(f"/proc/{pid}/stat")
    except OSError:
        return None
    return sum(map(int, raw.rpartition(b")")[2].split()[11:15])) / os.sysconf("SC_CLK_TCK")


def check_proc() -> None:
    """Raise InternalFailure when /proc is not that of this process's pid namespace."""
    if sys.platform == "linux" and not _is_own_proc(os.getpid()):
        raise InternalFailure(
            "/proc shows the processes of another pid namespace",
            where=str(_PROC),
            fix="mount it anew there, as unshare --mount-proc does",
        )


def row_from_psutil(pid: int) -> Row | None:
    """The row of one process as psutil tells it, for systems without /proc."""
    import psutil

    try:
        seen = psutil.Process(pid)
        with seen.oneshot():
            return Row(
                pid=pid,
                parent=seen.ppid(),
                group=os.getpgid(pid),
                session=os.getsid(pid),
                state=_PSUTIL_STATES.get(seen.status(), "R"),
                start=repr(seen.create_time()),
                terminal=seen.terminal() is not None,
                threads=1,
            )
    except (psutil.Error, OSError):
        return None


def _row_from_proc(pid: int) -> Row | None:
    try:
        raw = _read(f"/proc/{pid}/stat")
    except OSError:
        return None
    # The command's name stands in parentheses and may itself hold blanks and parentheses.
    fields = raw.rpartition(b")")[2].split()
    return Row(
        pid=pid,
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        state=fields[0].decode(),
        start=fields[19].decode(),
        terminal=fields[4] != b"0",
        threads=int(fields[17]),
    )


def _read(path: str) -> bytes:
    """A whole small file, by the fewest calls: a look at the table reads hundreds of them."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        data = os.read(handle, _READ_BYTES)
        while more := os.read(handle, _READ_BYTES):
            data += more
        return data
    finally:
        os.close(handle)


def _follow(link: str) -> str | None:
    try:
        # A look at the table follows hundreds of them, and a Path takes three times as long.
        return os.readlink(link).removesuffix(_DELETED)  # noqa: PTH115
    except OSError:
        return None


@functools.cache
def _is_own_proc(pid: int) -> bool:
    return (_PROC / "self").readlink().name == str(pid)
