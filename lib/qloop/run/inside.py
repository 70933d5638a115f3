"""Whether this process belongs to an implementer of this repository's run.

What changes state is a person's or the driver's to do; an agent that calls qloop is refused,
also when it hides its variables: its ancestors tell.
"""

import os
from pathlib import Path

import psutil

from qloop.repo.checkout import Repository
from qloop.run import holder
from qloop.system.errors import UsageWrong


def check_outside(repository: Repository, what: str) -> None:
    """Raise UsageWrong where *what* is asked for from inside an implementer's process tree."""
    found = holder.read_holder(holder.private_folder(repository))
    parents = psutil.Process().parents()
    if _is_of_attempt(parents, found) or _is_below_driver(parents, found):
        raise UsageWrong(
            f"{what} is refused inside an implementer's process tree",
            where=str(Path.cwd()),
            fix="leave it to the person who started the run",
        )


def _is_of_attempt(parents: list[psutil.Process], found: holder.Holder | None) -> bool:
    """Whether this process or an ancestor has the variables of an attempt of this repository."""
    run_ids = {env.get("QLOOP_RUN") for env in _environments(parents) if env.get("QLOOP_ATTEMPT")}
    return None in run_ids or (found is not None and found.run_id in run_ids)


def _is_below_driver(parents: list[psutil.Process], found: holder.Holder | None) -> bool:
    """Whether the living driver is an ancestor: whoever lost its own parent falls to qloop."""
    if found is None or found.process is None or not found.alive:
        return False
    return any(process.pid == found.process.pid for process in parents)


def _environments(parents: list[psutil.Process]) -> list[dict[str, str]]:
    """The environments of this process and of its ancestors, as far as they can be read."""
    found: list[dict[str, str]] = [dict(os.environ)]
    for process in parents:
        try:
            found.append(process.environ())
        except psutil.Error:
            continue
    return found
