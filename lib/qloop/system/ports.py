"""Network ports lent out: a block of them to one holder at a time, for all processes of a user.

A lease is the lock of a file, so that it ends with the process that holds it, however that ends.
The folder of the files is the same for every process of the user, whatever its TMPDIR or HOME.
Source: flock(2); ip_local_port_range (the blocks lie below it). Errors: OSError for a
folder that cannot be written to.
"""

import contextlib
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qloop.system import files

BLOCK = 100
"""How many ports a lease is for."""
FIRST, LAST = 20_000, 32_000

_PLACE = Path("/tmp")
_NAMES = 10
"""So many names are tried for the folder: whoever else made one cannot keep ports from a user."""


@contextmanager
def leased_ports() -> Iterator[int | None]:
    """The first port of a block that is this holder's for the length of a block, and free now.

    None where every block is taken, or no folder can be had to note that in.
    """
    held = _lease()
    try:
        yield None if held is None else held[0]
    finally:
        if held is not None:
            os.close(held[1])


def _lease() -> tuple[int, int] | None:
    """A block's first port, and the descriptor that holds it."""
    folder = _own_folder()
    if folder is None:
        return None
    for base in range(FIRST, LAST, BLOCK):
        try:
            handle = files.open_locked(folder / str(base), wait=False)
        except files.Held:
            continue
        if is_free(base):
            return base, handle
        os.close(handle)
    return None


def is_free(base: int) -> bool:
    """Whether nobody listens on any port of a block."""
    return all(_is_free(port) for port in range(base, base + BLOCK))


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True


def _own_folder() -> Path | None:
    """The folder of the leases: the first of its names that nobody else has."""
    for number in range(_NAMES):
        folder = _PLACE / f"qloop-ports-{os.getuid()}{f'.{number}' if number else ''}"
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
            found = folder.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid():
                return folder
    return None
