"""A turn in the repository: the run lock, waited for as long as another run is on.

Errors: RepositoryBusy where nobody can be waited for, KeyboardInterrupt where the wait is ended.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from qloop.mission.phase_desk import PhaseDesk
from qloop.run import holder
from qloop.run.recover import take_lock
from qloop.system import process
from qloop.system.errors import RepositoryBusy


@contextmanager
def turn(desk: PhaseDesk) -> Iterator[None]:
    """Hold the run lock, once what a dead run left is ended and a living one is over."""
    lock = take_turn(desk)
    try:
        yield
    finally:
        holder.release(lock)


def await_other(desk: PhaseDesk, busy: RepositoryBusy) -> None:
    """Sleep until the run that holds the repository is gone. Raises *busy* where none is known."""
    other = holder.read_holder(holder.private_folder(desk.repository))
    if other is None or other.process is None or not other.alive:
        raise busy
    desk.tell(f"waits for {other.label} to end")
    process.await_exit(other.process.pid, timeout_s=None, wake=desk.cancel.fileno())
    if desk.cancel.is_set:
        raise KeyboardInterrupt


def take_turn(desk: PhaseDesk) -> int:
    """The run lock; it is for the caller to release."""
    while True:
        try:
            return take_lock(desk.repository, desk.journal, desk.cancel)
        except RepositoryBusy as busy:
            await_other(desk, busy)
