"""Putting a file of the person's git directory back: by compare-and-swap on its very bytes.

Git's own lock of the file is held meanwhile, so that no git command writes it at the same time.
Errors: none; what cannot be put back stays as it is.
Source: git's lockfile.h, `<file>.lock` made with O_EXCL.
"""

import contextlib
import os
from dataclasses import dataclass, field
from pathlib import Path

from qloop.system import files


@dataclass(frozen=True, slots=True)
class Swap:
    """A file's bytes as they were, and as they were seen later; None: no such file."""

    path: Path
    before: bytes | None = field(repr=False)
    seen: bytes | None = field(repr=False)


def swap_back(swap: Swap) -> bool:
    """Put the bytes back if the file still holds those that were seen; True once it is as before.

    A link is not followed.
    """
    lock = swap.path.with_name(f"{swap.path.name}.lock")
    if swap.path.is_symlink():
        return False
    with contextlib.suppress(OSError):
        os.close(os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            return _swap(swap)
        finally:
            lock.unlink()
    return False


def _swap(swap: Swap) -> bool:
    now = files.read_optional(swap.path)
    if now == swap.seen and swap.before is None:
        swap.path.unlink(missing_ok=True)
    elif now == swap.seen and swap.before is not None:
        files.write_atomic(swap.path, swap.before)
    return now in (swap.seen, swap.before)
