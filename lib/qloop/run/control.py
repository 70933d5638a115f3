"""The pipe by which a driver holds a coordinator: its words, and whether it is still there."""

import select
import threading
from typing import IO

from qloop.system.cancel import Cancel

DRAIN = "drain"
STOP = "stop"


def listen(control: IO[str], cancel: Cancel) -> None:
    """Obey the driver's words in a thread of their own: `drain S`, `stop`, or its end."""

    def obey() -> None:
        for line in control:
            word, _, seconds = line.strip().partition(" ")
            if word == DRAIN:
                timer = threading.Timer(float(seconds), cancel.set, ["the run was stopped"])
                timer.daemon = True
                timer.start()
            elif word == STOP:
                cancel.set("the run was stopped")
        cancel.set("the driver is gone")

    threading.Thread(target=obey, name="control", daemon=True).start()


def is_hung_up(control: IO[str]) -> bool:
    """Whether nobody holds the other end of a pipe, whatever is still to be read from it.

    Source: poll(2), POLLHUP.
    """
    look = select.poll()
    look.register(control, 0)
    return bool(look.poll(0))
