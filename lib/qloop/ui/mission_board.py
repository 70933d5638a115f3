"""A mission live: its panel, and below it the board of the run that carries it out.

It looks at state, journal and feed by itself, like the board of a run. Units: seconds.
"""

import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Self

from rich.text import Text

from qloop.state.journal import Journal
from qloop.state.mission import Mission
from qloop.state.mission_feed import read_feed
from qloop.state.mission_store import as_it_stands, read_mission
from qloop.state.phases import PhaseName, PhaseStatus
from qloop.state.spending import Book, Spent
from qloop.system.clock import monotonic_s
from qloop.ui import console
from qloop.ui.board import BoardView
from qloop.ui.board_drawing import draw_board
from qloop.ui.board_reader import BoardReader
from qloop.ui.mission_panel import draw_head, draw_panel
from qloop.ui.screen import Screen

LOOK_EVERY_S = 0.25
WORK_SHARE = 4
FEWEST_BOARD_ROWS = 6
FEED_LINES = 200


class MissionReader:
    """Reads a mission at any number of moments."""

    def __init__(self, private: Path, folder: Path) -> None:
        self._private = private
        self._folder = folder
        self._run: BoardReader | None = None
        self._run_id = ""
        self._journal = Journal(private / "events.jsonl")
        self._offset = 0
        self._book = Book()

    def read(self) -> tuple[Mission, Spent, list[str], BoardView | None]:
        """The mission, what it has spent, its feed, and the run that is at work for it."""
        mission = as_it_stands(read_mission(self._folder))
        events, self._offset = self._journal.read_from(self._offset)
        self._book.take(events)
        spent = self._book.spent_by(mission.run_ids)
        feed = read_feed(self._folder, FEED_LINES)
        return mission, mission.since_reset(spent), feed, self._read_run(mission)

    def _read_run(self, mission: Mission) -> BoardView | None:
        run = mission.phase(PhaseName.EXECUTION)
        if run.status is not PhaseStatus.IN_PROGRESS or not run.run_ids:
            return None
        if run.run_ids[-1] != self._run_id or self._run is None:
            self._run_id = run.run_ids[-1]
            quantum = self._folder / "quantum.json"
            self._run = BoardReader(self._private, quantum, run=self._run_id)
        return self._run.read()


def draw_mission(
    mission: Mission,
    spent: Spent,
    feed: list[str],
    board: BoardView | None,
    width: int,
    height: int | None,
) -> list[Text]:
    """The panel, with the run's board in what room it leaves."""
    if board is None:
        return draw_panel(mission, spent, feed, width, height)
    head = draw_head(mission, spent)
    for row in head:
        row.truncate(width, overflow="ellipsis")
    room = None if height is None else height - len(head) - 1
    if room is not None and room < FEWEST_BOARD_ROWS:
        return draw_board(board, width, height)
    return [*head, Text(), *draw_board(board, width, room)]


class LiveMission:
    """While it is entered, a thread paints the mission onto standard error; its last picture stays.

    What goes wrong in it is told at the end, and ends no mission.
    """

    def __init__(self, private: Path, folder: Path) -> None:
        self._reader = MissionReader(private, folder)
        self._screen = Screen(sys.stderr)
        self._done = threading.Event()
        self._fault: Exception | None = None
        self._thread = threading.Thread(target=self._work, name="mission board", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        if self._fault is not None:
            console.crash(self._fault)

    def _work(self) -> None:
        try:
            pause_s = LOOK_EVERY_S
            while not self._done.wait(pause_s):
                pause_s = paint(self._reader, self._screen)
            paint(self._reader, self._screen)
        except OSError:
            return  # nobody can read this terminal any more
        except Exception as exc:  # noqa: BLE001 -- a board that cannot be drawn must end nothing
            self._fault = exc


def paint(reader: MissionReader, screen: Screen) -> float:
    """Paint what there is to see; returns how long to pause. Raises OSError without a terminal."""
    began_s = monotonic_s()
    screen.paint(partial(draw_mission, *reader.read()))
    return max(LOOK_EVERY_S, WORK_SHARE * (monotonic_s() - began_s))


def follow_mission(reader: MissionReader, is_on: Callable[[], bool]) -> None:
    """Paint a mission onto standard output for as long as *is_on* says that it runs."""
    import time

    screen = Screen(sys.stdout)
    while is_on():
        time.sleep(paint(reader, screen))
    paint(reader, screen)
