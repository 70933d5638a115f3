"""The loop over all registered projects: a process for each, all at once, round after round.

A project's process ends with this one: its standard input is held open here.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from qloop.mission.project_loop import INTERRUPTED, RoundResult, read_result
from qloop.repo.checkout import find_repository
from qloop.run.forks import own_environment
from qloop.run.holder import private_folder
from qloop.state.projects import Project, ProjectStatus
from qloop.system import process
from qloop.system.errors import QloopError
from qloop.system.identity import ProcessId, identify, send_signal
from qloop.system.interrupts import Interrupts

LOG = "main.log"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one project in a round."""

    name: str
    trouble: str = ""
    """Why nothing was done there; empty where something was."""
    result: RoundResult | None = None


@dataclass(frozen=True, slots=True)
class _Started:
    project: Project
    pid: int
    identity: ProcessId | None
    private: Path


def run_round(
    projects: list[Project],
    words: Sequence[str],
    interrupts: Interrupts,
    say: Callable[[str], None],
) -> list[Outcome]:
    """Let every project's process do its part, and tell what came of it.

    *words* are options that each of them gets.
    """
    outcomes = []
    with _held_input() as held:
        started = []
        for one in projects:
            try:
                begun = None if interrupts.count else _start(one, held, words)
            except (QloopError, OSError) as exc:
                outcomes.append(Outcome(one.name, trouble=str(exc)))
                continue
            if begun is not None:
                say(f"{one.name}: at work, its log: {begun.private / LOG}")
                started.append(begun)
        _await_all(started, interrupts)
        outcomes += [_read(one) for one in started]
    return outcomes


@contextmanager
def _held_input() -> Iterator[int]:
    """A pipe's reading end, which comes to its end when this process does."""
    reading, writing = os.pipe()
    try:
        yield reading
    finally:
        os.close(reading)
        os.close(writing)


def _start(project: Project, held: int, words: Sequence[str]) -> _Started | None:
    if project.status is not ProjectStatus.ACTIVE:
        return None
    if not project.path.is_dir():
        raise FileNotFoundError(f"its folder is not there: {project.path}")
    private = private_folder(find_repository(project.path))
    private.mkdir(exist_ok=True)
    argv = [sys.executable, "-P", "-m", "qloop", "main", "--project", project.name, *words]
    with (private / LOG).open("ab") as log:
        pid = process.start(
            argv, cwd=project.path, env=own_environment(), stdin=held, output=log.fileno()
        )
    return _Started(project, pid, identify(pid), private)


def _await_all(started: list[_Started], interrupts: Interrupts) -> None:
    """Until all have ended; a person's wish to stop is handed on, the second one at once."""
    heard = 0
    for one in started:
        while not process.await_exit(one.pid, timeout_s=None, wake=interrupts.fileno()):
            interrupts.clear()
            for _ in range(interrupts.count - heard):
                signum = signal.SIGINT if heard == 0 else signal.SIGTERM
                for other in started:
                    if other.identity is not None:
                        send_signal(other.identity, signum)
                heard += 1


def _read(one: _Started) -> Outcome:
    code = process.wait_status(one.pid)
    if code in (INTERRUPTED, -signal.SIGINT, -signal.SIGTERM):
        return Outcome(one.project.name, trouble="it was stopped")
    if code:
        return Outcome(one.project.name, trouble=f"it ended with {code}: {one.private / LOG}")
    try:
        return Outcome(one.project.name, result=read_result(one.private))
    except QloopError as exc:
        return Outcome(one.project.name, trouble=str(exc))
