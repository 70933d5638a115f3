"""Killing a run's processes in tests: who they are, and what must be left when all is over."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterable, Sequence
from typing import Any

import psutil

from world import AGENT, World, processes_with, wait_until

FOUR = ("A-1", "B-1", "C-1", "D-1")
FOUR_FILES = {"README.md": "start", **{f"{one}.txt": one for one in FOUR}}
"""The files of an undisturbed run of `plan_four`."""


def plan_four(world: World, before: Sequence[list[Any]] = (), **top: Any) -> None:
    """A diamond of four stories that each write their own file; tasks and gates judge them.

    *before* are steps that the agent takes first for each.
    """
    edges = {"A-1": [], "B-1": ["A-1"], "C-1": ["A-1"], "D-1": ["B-1", "C-1"]}
    world.plan(
        *(
            {
                "id": one,
                "dependsOn": edges[one],
                "tasks": [{"id": "T-1", "commands": [f"test -e {one}.txt"]}],
            }
            for one in FOUR
        ),
        **top,
    )
    world.agent(
        **{
            one.replace("-", "_"): [
                [
                    *before,
                    ["write", f"{one}.txt", f"{one}\n"],
                    ["sleep", 0.1],
                    ["commit", f"add {one}"],
                ]
            ]
            for one in FOUR
        }
    )


def coordinators(driver: int) -> list[int]:
    """The coordinators that a driver has as children, newest last."""
    found = []
    with contextlib.suppress(psutil.Error):
        for child in psutil.Process(driver).children():
            with contextlib.suppress(psutil.Error):
                if "coordinator" in child.cmdline():
                    found.append(child.pid)
    return found


def fork_servers(driver: int) -> list[int]:
    """The children of a driver that its coordinators are forked from."""
    found = []
    with contextlib.suppress(psutil.Error):
        for child in psutil.Process(driver).children():
            with contextlib.suppress(psutil.Error):
                if "qloop.cli.forkserver" in child.cmdline():
                    found.append(child.pid)
    return found


def agents(world: World) -> list[int]:
    """The scripted agents at work."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            words = process.cmdline()
            if str(AGENT) in words and str(world.script) in words:
                found.append(process.pid)
    return found


def send(signum: int, *pids: int) -> None:
    """Send a signal to processes; those that are gone get none."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signum)


def kill(process: subprocess.Popen[str], world: World, who: str) -> None:
    """Kill the driver, or what belongs to its run as well, and wait for the driver's end."""
    below = coordinators(process.pid)
    send(signal.SIGKILL, process.pid)
    if who != "driver":
        send(signal.SIGKILL, *below)
    if who == "agents too":
        send(signal.SIGKILL, *agents(world))
    if who == "all":
        send(signal.SIGKILL, *processes_with(str(world.path.parent)))
    process.communicate()


def gone(pids: Iterable[int]) -> bool:
    """Whether none of these processes runs any more."""
    return not any(psutil.pid_exists(pid) and _is_running(pid) for pid in pids)


def _is_running(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def check_nothing_left(world: World) -> None:
    """No worktree, start commit, lock file of a reference, or active worktree is left."""
    assert world.worktrees() == [], [str(path) for path in world.worktrees()]
    assert world.refs("refs/qloop/start") == {}
    assert list((world.path / ".git").rglob("refs/**/*.lock")) == []
    assert world.document["execution"]["activeWorktrees"] == []
    wait_until(lambda: not list(processes_with(str(world.path.parent))))


def check_uncharged(world: World) -> None:
    """No story's attempts were charged."""
    charged = {
        one["id"]: one["retries"]
        for one in world.document["stories"]
        if one.get("retries", {}).get("attempts")
    }
    assert charged == {}, charged
