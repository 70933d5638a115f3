"""Whether this process belongs to an agent of this repository's run.

What changes state is a person's or the driver's to do; an agent that calls qloop is refused,
also when it hides its variables: its ancestors tell.
"""

import os
from collections.abc import Container
from pathlib import Path

import psutil

from qloop.repo.checkout import Repository
from qloop.run import holder
from qloop.run.known_missions import known_missions
from qloop.system.errors import UsageWrong
from qloop.system.identity import is_alive, parse_process_id

DEPTH = "QLOOP_DEPTH"
"""The variable of a delegate's environment that says how deep it is: one level."""


def check_outside(repository: Repository, what: str) -> None:
    """Raise UsageWrong where *what* is asked for from inside an implementer's process tree."""
    found = holder.read_holder(holder.private_folder(repository))
    parents = psutil.Process().parents()
    environments = _environments(parents)
    if (
        _is_of_attempt(environments, found)
        or _is_below_driver(parents, found)
        or _is_of_mission(environments, parents, repository)
    ):
        raise UsageWrong(
            f"{what} is refused inside an implementer's process tree",
            where=str(Path.cwd()),
            fix="leave it to the person who started the run",
        )
    _check_depth(parents, what, ())


def check_depth(what: str, askers: Container[int]) -> None:
    """Raise UsageWrong where *what* is asked for from inside a delegate's process tree.

    *askers* are the processes that have asked for delegates and wait for them.
    """
    _check_depth(psutil.Process().parents(), what, askers)


def _check_depth(parents: list[psutil.Process], what: str, askers: Container[int]) -> None:
    marked = any(DEPTH in env for env in _environments(parents))
    if marked or any(process.pid in askers for process in parents):
        raise UsageWrong(
            f"{what} is refused inside a delegate's process tree",
            where=str(Path.cwd()),
            fix="delegates go one level deep; ask from outside of it",
        )


def _is_of_attempt(environments: list[dict[str, str]], found: holder.Holder | None) -> bool:
    """Whether this process or an ancestor has the variables of an attempt of this repository."""
    run_ids = {env.get("QLOOP_RUN") for env in environments if env.get("QLOOP_ATTEMPT")}
    return None in run_ids or (found is not None and found.run_id in run_ids)


def _is_below_driver(parents: list[psutil.Process], found: holder.Holder | None) -> bool:
    """Whether the living driver is an ancestor: whoever lost its own parent falls to qloop."""
    if found is None or found.process is None or not found.alive:
        return False
    return any(process.pid == found.process.pid for process in parents)


def _is_of_mission(
    environments: list[dict[str, str]], parents: list[psutil.Process], repository: Repository
) -> bool:
    """Whether a mission of this repository started it, which starts nothing that is a person's."""
    names = {env.get("QLOOP_RUN") for env in environments}
    pids = {process.pid for process in parents}
    for mission in known_missions(repository):
        runs = parse_process_id(mission.process)
        if not mission.run_ids.isdisjoint(names) or (runs and runs.pid in pids and is_alive(runs)):
            return True
    return False


def _environments(parents: list[psutil.Process]) -> list[dict[str, str]]:
    """The environments of this process and of its ancestors, as far as they can be read."""
    found: list[dict[str, str]] = [dict(os.environ)]
    for process in parents:
        try:
            found.append(process.environ())
        except psutil.Error:
            continue
    return found
