"""Who holds a repository: the run lock in the git directory, and run.json beside the state.

The lock's open file is inherited by coordinators, so whoever gets the lock knows that no old
coordinator lives. The lock file is never replaced or deleted, and never unlocked, only closed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from qloop.system import clock
from qloop.system.errors import RepositoryBusy
from qloop.system.files import Held, open_locked, read_optional, write_atomic

if TYPE_CHECKING:
    from pathlib import Path

    from qloop.repo.repository import Repository
    from qloop.system.identity import ProcessId


class Holder(NamedTuple):
    """The run that run.json names."""

    run_id: str
    process: ProcessId | None
    mode: str
    started_at: str
    ended_at: str | None

    @property
    def alive(self) -> bool:
        """Whether its driver is still there: same pid, start time and boot."""
        from qloop.system.identity import is_alive

        return self.ended_at is None and self.process is not None and is_alive(self.process)

    @property
    def label(self) -> str:
        """The holder, for people."""
        pid = self.process.pid if self.process else "?"
        return f"run {self.run_id} (pid {pid}, {self.mode}, since {self.started_at})"


def lock_path(repository: Repository) -> Path:
    """The run lock of a repository, the same for all its worktrees."""
    return repository.private / "run.lock"


def private_folder(repository: Repository) -> Path:
    """The `.qloop` folder of the main checkout."""
    return repository.root / ".qloop"


def read_holder(private: Path) -> Holder | None:
    """What run.json says, or None where it says nothing usable."""
    data = read_optional(private / "run.json")
    if data is None:
        return None
    import json

    from qloop.system.identity import parse_process_id

    try:
        value: Any = json.loads(data)
    except ValueError:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("run"), str):
        return None
    return Holder(
        run_id=value["run"],
        process=parse_process_id(value),
        mode=str(value.get("mode", "run")),
        started_at=str(value.get("startedAt", "?")),
        ended_at=value.get("endedAt"),
    )


def write_holder(private: Path, run_id: str, mode: str, *, ended: bool = False) -> None:
    """Name this process as the holder, or say that its run has ended."""
    import json

    from qloop.system.identity import this_process

    before = read_holder(private)
    started = before.started_at if before and before.run_id == run_id else clock.utc_now()
    value = {
        **this_process().to_json(),
        "mode": mode,
        "run": run_id,
        "startedAt": started,
        **({"endedAt": clock.utc_now()} if ended else {}),
    }
    data = json.dumps(value, indent=2).encode() + b"\n"
    write_atomic(private / "run.json", data)


def try_lock(repository: Repository) -> int | None:
    """The run lock's file descriptor, or None where another process has it.

    A lock file that somebody deleted is free for everyone; then a living holder counts.
    """
    try:
        descriptor = open_locked(lock_path(repository), wait=False)
    except Held:
        return None
    if _is_held_without_lock(private_folder(repository)):
        release(descriptor)
        return None
    return descriptor


def _is_held_without_lock(private: Path) -> bool:
    from qloop.system.identity import this_process

    found, own = read_holder(private), this_process()
    if found is None or found.process is None or found.process == own:
        return False
    # In another pid namespace nothing can be seen of it, and the lock alone tells.
    return found.process.namespace == own.namespace and found.alive


def busy(private: Path) -> RepositoryBusy:
    """The error that names who holds the repository."""
    holder = read_holder(private)
    name = holder.label if holder is not None else "another process"
    return RepositoryBusy(
        f"{name} holds this repository",
        where=str(private.parent),
        fix="wait for it, watch it with `qloop watch`, or end it with `qloop stop`",
    )


def release(descriptor: int) -> None:
    """Close the lock's file; it is free when no heir has it open either."""
    os.close(descriptor)
