"""Ending a run from outside: the same signals as a person's Ctrl-C, to the very process."""

import signal
import time
from collections.abc import Callable

from qloop.repo.checkout import Repository
from qloop.run import holder
from qloop.run.known_missions import known_missions
from qloop.system.clock import monotonic_s
from qloop.system.errors import InputMissing, RepositoryBusy
from qloop.system.identity import ProcessId, is_alive, parse_process_id, send_signal

STOP_LIMIT_S = 90.0
LOOK_EVERY_S = 0.1


def stop_run(repository: Repository, *, now: bool, say: Callable[[str], None]) -> None:
    """Stop the mission or the run that is at work here, and wait for its end.

    Raises InputMissing where there is no run, RepositoryBusy where it does not end.
    """
    found = _find(repository)
    if found is None:
        raise InputMissing("no run holds this repository", where=str(repository.root))
    label, process = found
    say(f"stopping {label}")
    send_signal(process, signal.SIGINT)
    if now:
        # Not the same signal again: two of a kind are one to a process that is busy.
        send_signal(process, signal.SIGTERM)
    if not _await_end(process):
        raise RepositoryBusy(f"{label} does not end", fix="qloop stop --now")


def _find(repository: Repository) -> tuple[str, ProcessId] | None:
    """What is to be stopped: a mission, which hands it on to what it started, else a run."""
    for mission in known_missions(repository):
        process = parse_process_id(mission.process)
        if process is not None and is_alive(process):
            return f"mission {mission.id} (pid {process.pid})", process
    held = holder.read_holder(holder.private_folder(repository))
    if held is None or held.process is None or not held.alive:
        return None
    return held.label, held.process


def _await_end(process: ProcessId) -> bool:
    deadline = monotonic_s() + STOP_LIMIT_S
    while monotonic_s() < deadline:
        if not is_alive(process):
            return True
        time.sleep(LOOK_EVERY_S)
    return False
