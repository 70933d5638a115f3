"""Starts one after the other: what starts often keeps a distance, across processes.

Units: seconds. Errors: OSError where the file cannot be written.
"""

import contextlib
import os
import select
from pathlib import Path

from qloop.system.cancel import Cancel
from qloop.system.clock import monotonic_s
from qloop.system.files import locked

_LONGEST_QUEUE_S = 600.0  # a moment further ahead is of the time before a reboot


def await_turn(file: Path, gap_s: float, cancel: Cancel) -> None:
    """Wait until *gap_s* have passed since the last start that *file* notes, and note this one.

    Who comes first, or late enough, does not wait. *cancel* ends the wait.
    """
    if gap_s <= 0:
        return
    ends = select.poll()
    ends.register(cancel, select.POLLIN)
    ends.poll(max(0.0, _take_turn(file, gap_s) - monotonic_s()) * 1000)


def _take_turn(file: Path, gap_s: float) -> float:
    """The moment of this start, on the clock that all processes of the machine share."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with locked(file) as handle:
        now = moment = monotonic_s()
        with contextlib.suppress(ValueError):
            last = float(os.pread(handle, 64, 0))
            if last <= now + _LONGEST_QUEUE_S:
                moment = max(now, last + gap_s)
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{moment:.6f}".encode(), 0)
    return moment
