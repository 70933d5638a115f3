"""An alarm at a moment of the wall clock, as something a selector can wait for.

A timeout counts the time that the machine is awake. This rings at its moment all the same: right
after the machine has slept over it, and early, to be set anew, where somebody has set the clock.
Where the system has no such timer it never rings, and a timeout beside it has to do.
Source: timerfd_create(2). Units: seconds since the epoch.
"""

import ctypes
import os
import sys
from contextlib import suppress

CLOCK_REALTIME = 0
ABSOLUTE_CANCEL_ON_SET = 1 | 2


class _Moment(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class _Setting(ctypes.Structure):
    _fields_ = (("interval", _Moment), ("value", _Moment))


class Alarm:
    """Readable from its moment on, until it is cleared."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
        self._read, self._write = self._open()
        self._at_s: float | None = None

    def fileno(self) -> int:
        """What becomes readable."""
        return self._read

    def set(self, at_s: float | None) -> None:
        """Ring at a moment, at once where it has passed; with None, do not ring."""
        if at_s == self._at_s or self._libc is None or self._write is not None:
            return
        self._at_s = at_s
        whole = 0 if at_s is None else max(1, int(at_s))
        rest = 0 if at_s is None else int(at_s % 1 * 1e9)
        setting = _Setting(_Moment(0, 0), _Moment(whole, rest))
        self._libc.timerfd_settime(self._read, ABSOLUTE_CANCEL_ON_SET, ctypes.byref(setting), None)

    def clear(self) -> None:
        """Forget that it rang; it has to be set anew."""
        self._at_s = None
        # Nothing to read, or the clock was set.
        with suppress(OSError):
            os.read(self._read, 8)

    def close(self) -> None:
        """Never ring any more."""
        os.close(self._read)
        if self._write is not None:
            os.close(self._write)

    def _open(self) -> tuple[int, int | None]:
        """A timer, or where there is none a pipe into which nobody writes."""
        if self._libc is not None:
            timer = self._libc.timerfd_create(CLOCK_REALTIME, os.O_CLOEXEC | os.O_NONBLOCK)
            if timer >= 0:
                return timer, None
        return os.pipe()
