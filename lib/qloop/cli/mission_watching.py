"""A mission for who looks: live, or as it stands; the way on from there."""

import os
import shlex
import sys
import time
from pathlib import Path

from qloop.cli.context import STATE_FILE, repository_here
from qloop.repo.repository import Repository
from qloop.run.holder import read_holder
from qloop.state.active import find_active
from qloop.state.mission import Mission, MissionStatus
from qloop.state.mission_store import is_running, read_mission
from qloop.system.errors import QloopError
from qloop.ui import console

LOOK_EVERY_S = 0.25
PLAIN_WIDTH = 100


def watch_mission_here() -> bool:
    """Show the active mission until it stands still; False where a plan's run is to be seen.

    That is so where no mission goes on, or it stands still without a question and there is a plan
    besides.
    """
    try:
        root = repository_here().root
    except QloopError:
        return False
    found = find_unfinished(root / ".qloop")
    if found is None:
        return False
    folder, mission = found
    if is_running(mission):
        _follow(folder)
        return True
    holder = read_holder(root / ".qloop")
    if holder is not None and holder.alive:
        return False
    print_mission(folder)
    if not (root / STATE_FILE).exists():
        return True
    console.result("")
    if mission.open_checkpoint is None:
        return False
    plan = shlex.quote(os.path.relpath(root / STATE_FILE))
    console.result(f"there is a plan beside it: qloop watch --quantum {plan}")
    return True


def find_unfinished(private: Path) -> tuple[Path, Mission] | None:
    """The active mission and its folder, where it is not over."""
    folder = find_active(private)
    if folder is None:
        return None
    try:
        mission = read_mission(folder)
    except QloopError:
        return None
    return None if mission.status.is_over else (folder, mission)


def print_mission(folder: Path) -> None:
    """The mission once, on standard output."""
    for line in mission_lines(folder):
        console.result(console.printable(line))


def mission_lines(folder: Path) -> tuple[str, ...]:
    """Where the mission stands, and its question, in lines of plain text."""
    from qloop.ui.mission_board import MissionReader
    from qloop.ui.mission_panel import draw_panel

    mission, spent, _, _ = MissionReader(_private(), folder).read()
    return tuple(row.plain.rstrip() for row in draw_panel(mission, spent, (), PLAIN_WIDTH, None))


def ways_on(mission: Mission) -> tuple[tuple[str, str], tuple[str, str], tuple[str, str]]:
    """The three commands that come next, with what they do."""
    status = ("qloop mission status", "each phase, and what it came to")
    if is_running(mission):
        stop = ("qloop stop", "end it; it can be taken up again")
        return ("qloop watch", "the mission as it goes, live"), status, stop
    waiting = mission.open_checkpoint
    if waiting is not None:
        command = f"qloop answer {waiting.id} {waiting.options[0].id}"
        answer = (command, waiting.options[0].description)
        return answer, ("qloop mission resume", "then: go on by the answer"), status
    verb = "begin" if mission.status is MissionStatus.INITIALIZED else "go on"
    abandon = ("qloop mission abandon", "end it for good; what has landed stays")
    return ("qloop mission run", verb), status, abandon


def tell_waiting(repository: Repository, mission: Mission) -> None:
    """Name the questions of other missions, which are not the active one any more."""
    from qloop.run.known_missions import known_missions

    for other in known_missions(repository):
        asked = None if other.status.is_over or other.id == mission.id else other.open_checkpoint
        if asked is not None:
            look = f"qloop mission status {other.id}"
            console.say(f"mission {other.id} still waits for an answer to {asked.id}: {look}")


def _private() -> Path:
    return repository_here().root / ".qloop"


def _follow(folder: Path) -> None:
    from qloop.ui.mission_board import MissionReader, follow_mission

    def is_on() -> bool:
        return is_running(read_mission(folder))

    if console.is_fancy(sys.stdout):
        follow_mission(MissionReader(_private(), folder), is_on)
        return
    from qloop.state.mission_feed import FeedTail

    tail = FeedTail(folder)
    over = False
    while not over:
        over = not is_on()  # asked before reading, so that nothing said before the end is missed
        for line in tail.read():
            console.result(console.printable(line))
        if not over:
            time.sleep(LOOK_EVERY_S)
