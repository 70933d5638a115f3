"""TERM, INT and HUP as something a selector can wait for, instead of an exception anywhere."""

import os
import signal
from types import FrameType

from qloop.system.cancel import Cancel

HEARD = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Interrupts:
    """Counts the signals that ask this process to end; `fileno` is readable after each.

    A HUP that was ignored when the process started stays so: that is what nohup is for. One that
    is made while another one listens takes its place until it is closed.
    """

    def __init__(self) -> None:
        self.count = 0
        self.last = ""
        self.cancel = Cancel()
        """Set with the first signal."""
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        self._outer = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
        for signum in HEARD:
            if signum != signal.SIGHUP or signal.getsignal(signum) != signal.SIG_IGN:
                signal.signal(signum, self._hear)
        self._outer_fd = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)

    def fileno(self) -> int:
        """The end of a pipe that gets a byte with each signal."""
        return self._read

    def clear(self) -> None:
        """Forget the bytes, so that a selector waits again."""
        try:
            while os.read(self._read, 512):
                pass
        except BlockingIOError:
            return

    def close(self) -> None:
        """Back to the one that listened before, or to the system's own handling."""
        signal.set_wakeup_fd(self._outer_fd, warn_on_full_buffer=False)
        outer = self._outer._hear if isinstance(self._outer, Interrupts) else signal.SIG_DFL
        for signum in HEARD:
            if signal.getsignal(signum) == self._hear:
                signal.signal(signum, outer)
        os.close(self._read)
        os.close(self._write)
        self.cancel.close()

    def _hear(self, signum: int, _frame: FrameType | None) -> None:
        self.count += 1
        self.last = signal.Signals(signum).name
        self.cancel.set(f"{self.last} was sent")
