"""The state file's lock: one process or thread at a time, in the order in which they came.

Errors: StateLocked, InternalFailure. Units: seconds.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from qloop.system import clock, files
from qloop.system.errors import InternalFailure, RepositoryBusy

LOCK_POLL_S = 0.002


class StateLocked(RepositoryBusy):
    """Another process holds the state file's lock for longer than any write takes."""


@contextmanager
def locked(path: Path, private: Path, timeout_s: float) -> Iterator[None]:
    """Hold the lock of the state file *path*, which lies in *private*, for a block."""
    lock = FileLock(private / "quantum.lock", poll_interval=LOCK_POLL_S)
    try:
        private.mkdir(parents=True, exist_ok=True)
        _acquire(lock, private, timeout_s)
    except Timeout:
        raise StateLocked(
            "the state file is locked by another process",
            where=str(path),
            fix="end the qloop that hangs, or wait for it",
        ) from None
    except OSError as exc:
        raise InternalFailure(
            f"qloop's folder cannot be used: {exc.strerror}", where=str(private)
        ) from exc
    try:
        yield
    finally:
        lock.release()


def _acquire(lock: FileLock, private: Path, timeout_s: float) -> None:
    """Wait in a queue that the kernel keeps, since only its head should poll for the lock."""
    began = clock.monotonic_s()
    with files.locked(private / "quantum.queue"):
        waited = clock.monotonic_s() - began
        lock.acquire(timeout=max(0.0, timeout_s - waited))
