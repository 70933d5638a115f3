"""The pipe by which a driver holds a coordinator: its words, and whether it is still there."""

import os
import select
import threading
from collections.abc import Callable
from typing import IO

from qloop.system.cancel import Cancel

DRAIN = "drain"
STOP = "stop"
OVER = "over"
"""There is nothing more to do."""


def listen(
    control: IO[str], cancel: Cancel, take: Callable[[str], object] = lambda _: None
) -> None:
    """Obey the driver's words in a thread of their own: `drain S`, `stop`, or its end.

    *take* is given every other line, and OVER at the end.
    """

    def obey() -> None:
        for line in control:
            if not line.endswith("\n"):
                break  # its writer died in the midst of it
            word, _, seconds = line.strip().partition(" ")
            if word == DRAIN:
                timer = threading.Timer(float(seconds), cancel.set, ["the run was stopped"])
                timer.daemon = True
                timer.start()
            elif word == STOP:
                cancel.set("the run was stopped")
            else:
                take(line.strip())
        cancel.set("the driver is gone")
        take(OVER)

    threading.Thread(target=obey, name="control", daemon=True).start()


def read_order(orders: IO[str]) -> str | None:
    """The line that says what is to be done; None where who was to say it is gone."""
    line = orders.readline()
    return line if line.endswith("\n") else None


def is_hung_up(control: IO[str]) -> bool:
    """Whether nobody holds the other end of a pipe, whatever is still to be read from it.

    Source: poll(2), POLLHUP.
    """
    look = select.poll()
    look.register(control, 0)
    return bool(look.poll(0))


def report_stream(descriptor: int) -> IO[str]:
    """The pipe to the driver, not handed on to what this process starts."""
    os.set_inheritable(descriptor, False)
    return os.fdopen(descriptor, "w", encoding="utf-8")
