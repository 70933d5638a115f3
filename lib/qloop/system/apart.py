"""Work in a process of its own that ends with it, for what takes memory that would stay taken.

Errors: whatever the work raises; StatusLost, InternalFailure where the process ends before it has
told its result.
"""

import os
import pickle
import signal
import traceback
from collections.abc import Callable
from typing import NoReturn, TypeVar

from qloop.system import process
from qloop.system.errors import InternalFailure

T = TypeVar("T")

_INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_apart(work: Callable[[], T]) -> T:
    """The result of *work*, which may write files but changes nothing in this process.

    Result or exception come back by value. An interrupt is for this process alone; the work is
    done to its end.
    """
    here, there = os.pipe()
    pid = process.fork()
    if pid == 0:
        os.close(here)
        _work(work, there)
    os.close(there)
    with os.fdopen(here, "rb") as results:
        told = results.read()
    code = process.wait_status(pid)
    if code != 0 or not told:
        raise InternalFailure(f"a process that was forked for a short work ended with {code}")
    is_good, value = pickle.loads(told)
    if not is_good:
        raise value
    result: T = value
    return result


def _work(work: Callable[[], T], there: int) -> NoReturn:
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        for signum in _INTERRUPTS:
            signal.signal(signum, signal.SIG_IGN)
        try:
            told = pickle.dumps((True, work()))
        except BaseException as exc:  # noqa: BLE001 -- it is raised in the other process
            exc.add_note("".join(traceback.format_exception(exc)))
            told = pickle.dumps((False, exc))
        with os.fdopen(there, "wb") as results:
            results.write(told)
        code = 0
    finally:
        os._exit(code)
