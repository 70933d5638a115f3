"""Ending a run from outside: the same signals as a person's Ctrl-C, to the very process."""

import signal
import time
from collections.abc import Callable

from qloop.repo.checkout import Repository
from qloop.run import holder
from qloop.system.clock import monotonic_s
from qloop.system.errors import InputMissing, RepositoryBusy
from qloop.system.identity import ProcessId, is_alive, send_signal

STOP_LIMIT_S = 90.0
LOOK_EVERY_S = 0.1


def stop_run(repository: Repository, *, now: bool, say: Callable[[str], None]) -> None:
    """Stop the run that holds the repository and wait for its end.

    Raises InputMissing where there is no run, RepositoryBusy where it does not end.
    """
    private = holder.private_folder(repository)
    found = holder.read_holder(private)
    if found is None or found.process is None or not found.alive:
        raise InputMissing("no run holds this repository", where=str(repository.root))
    say(f"stopping {found.label}")
    send_signal(found.process, signal.SIGINT)
    if now:
        # Not the same signal again: two of a kind are one to a process that is busy.
        send_signal(found.process, signal.SIGTERM)
    if not _await_end(found.process):
        raise RepositoryBusy(f"{found.label} does not end", fix="qloop stop --now")


def _await_end(process: ProcessId) -> bool:
    deadline = monotonic_s() + STOP_LIMIT_S
    while monotonic_s() < deadline:
        if not is_alive(process):
            return True
        time.sleep(LOOK_EVERY_S)
    return False
