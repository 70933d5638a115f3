"""A flag that a waiting thread can poll together with what it waits for."""

import os
import select

from qloop.system.clock import epoch_s

LOOK_EVERY_S = 30.0
"""How often the clock is looked at: a machine may sleep, and its clock be set."""


class Cancel:
    """Set once for all, from any thread or from a signal handler; it takes no lock.

    `fileno()` becomes readable when it is set and stays so, for any number of waiters.
    """

    def __init__(self) -> None:
        self._read_end, write_end = os.pipe()
        self._write_ends = [write_end]
        self._reason: str | None = None

    def set(self, reason: str) -> None:
        """Raise the flag; the first reason given stays."""
        try:
            write_end = self._write_ends.pop()  # atomic: one caller gets it, all others nothing
        except IndexError:
            return
        self._reason = reason
        # The byte, and not the end of file alone: a forked process may hold the write end too.
        os.write(write_end, b"!")
        os.close(write_end)

    @property
    def is_set(self) -> bool:
        """Whether `set` was called."""
        return self._reason is not None

    @property
    def reason(self) -> str | None:
        """Why, or None while it is not set."""
        return self._reason

    def fileno(self) -> int:
        """The file descriptor to poll for reading; nothing is to be read from it."""
        return self._read_end

    def close(self) -> None:
        """Give the file descriptors back; to be called once, when nobody waits any more."""
        while self._write_ends:
            os.close(self._write_ends.pop())
        os.close(self._read_end)


def wait_until(cancel: Cancel, at_s: float) -> bool:
    """Wait for a moment, in seconds since the epoch; False where the flag is raised before it."""
    while not cancel.is_set and (left_s := at_s - epoch_s()) > 0:
        select.select([cancel], [], [], min(left_s, LOOK_EVERY_S))
    return not cancel.is_set
