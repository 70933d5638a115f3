"""Whether this process belongs to an implementer of this repository's run.

What changes state is a person's or the driver's to do; an agent that calls qloop is refused,
also when it hides its variables: its ancestors' environments tell.
"""

import os
from pathlib import Path

import psutil

from qloop.repo.checkout import Repository
from qloop.run import holder
from qloop.system.errors import UsageWrong


def check_outside(repository: Repository, what: str) -> None:
    """Raise UsageWrong where *what* is asked for from inside an implementer's process tree."""
    run_ids = {env.get("QLOOP_RUN") for env in _environments() if env.get("QLOOP_ATTEMPT")}
    if not run_ids:
        return
    found = holder.read_holder(holder.private_folder(repository))
    if None in run_ids or (found is not None and found.run_id in run_ids):
        raise UsageWrong(
            f"{what} is refused inside an implementer's process tree",
            where=str(Path.cwd()),
            fix="leave it to the person who started the run",
        )


def _environments() -> list[dict[str, str]]:
    """The environments of this process and of its ancestors, as far as they can be read."""
    found: list[dict[str, str]] = [dict(os.environ)]
    for process in psutil.Process().parents():
        try:
            found.append(process.environ())
        except psutil.Error:
            continue
    return found
