"""Files: replaced whole or not at all, appended durably, locked for as long as a process lives.

Errors: OSError as the system gives it; `Held` when a lock is somebody else's.
"""

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_BLOCK_BYTES = 65_536


class Held(Exception):
    """The lock is held by another process."""


def write_atomic(path: Path, data: bytes) -> None:
    """Replace *path* by *data*, flushed to disk; a reader sees the old bytes or the new.

    Its folder is made where it is missing.
    """
    import tempfile  # which takes long to load, and readers do without

    folder = path.parent
    folder.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=folder)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            os.fchmod(out.fileno(), _mode_of(path))
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(folder)


def read_blocks(path: Path, limit_bytes: int) -> Iterator[bytes]:
    """The first *limit_bytes* of a file that somebody else wrote, piece by piece.

    Nothing where there is no file, or something that is none: a link, a pipe, a folder.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    try:
        left = limit_bytes if stat.S_ISREG(os.fstat(handle).st_mode) else 0
        while left > 0 and (block := os.read(handle, min(left, _BLOCK_BYTES))):
            left -= len(block)
            yield block
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries, so that a rename in it outlives a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def open_locked(path: Path, *, wait: bool) -> int:
    """Open *path*, take its exclusive flock, and return the file descriptor.

    The lock lives as long as any process has this open file; it is never unlocked, only closed.
    Raises Held when another process has it and *wait* is false.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        os.close(handle)
        raise Held(str(path)) from None
    except BaseException:
        os.close(handle)
        raise
    return handle


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """Hold the flock of *path* for the length of a block, waiting for it."""
    handle = open_locked(path, wait=True)
    try:
        yield handle
    finally:
        os.close(handle)


def read_optional(path: Path) -> bytes | None:
    """The bytes of *path*, or None where there is no such file."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def holds(path: Path, data: bytes) -> bool:
    """Whether *path* holds just these bytes, seen without a second copy of them in memory."""
    at = 0
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK_BYTES):
                if not data.startswith(block, at):
                    return False
                at += len(block)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return at == len(data)


def _mode_of(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        return 0o644
