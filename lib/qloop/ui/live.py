"""The live board of a run: painted from a thread beside it, or followed from elsewhere.

The run is not asked and not woken: the board looks at journal, state file and logs by itself, and
less often where looking takes long. Units: seconds.
"""

import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from qloop.state.journal import Event, EventKind
from qloop.system.clock import monotonic_s
from qloop.ui import console
from qloop.ui.board import BoardView
from qloop.ui.board_drawing import draw_board
from qloop.ui.board_reader import BoardReader
from qloop.ui.progress import Follower, PlainLines
from qloop.ui.screen import Screen, make_console, render_row, terminal_size

LOOK_EVERY_S = 0.25
WORK_SHARE = 4
"""A look that took long is followed by a pause of so many times its length."""
PLAIN_WIDTH = 100


class LiveBoard:
    """While it is entered, a thread paints the run that starts next onto standard error.

    Its last picture stays. What goes wrong in it is told at the end, and ends no run.
    """

    def __init__(self, private: Path, state_file: Path, offset: int) -> None:
        """*offset* is where the journal ended before the run started, in bytes."""
        self._reader = BoardReader(private, state_file, offset=offset)
        self._screen = Screen(sys.stderr)
        self._notice = ""
        self._done = threading.Event()
        self._fault: Exception | None = None
        self._thread = threading.Thread(target=self._work, name="board", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        self._thread.join()
        if self._fault is not None:
            console.crash(self._fault)

    def tell(self, notice: str) -> None:
        """Have a sentence stand on the board from now on; it takes the place of an earlier one."""
        self._notice = notice

    def _work(self) -> None:
        try:
            pause_s = LOOK_EVERY_S
            while not self._done.wait(pause_s):
                pause_s = _look(self._reader, self._screen, notice=self._notice)
            _look(self._reader, self._screen, notice=self._notice)
        except OSError:
            return  # nobody can read this terminal any more
        except Exception as exc:  # noqa: BLE001 -- a board that cannot be drawn must not end a run
            self._fault = exc


def follow_board(reader: BoardReader, is_on: Callable[[], bool]) -> None:
    """Paint a run onto standard output until it has ended, or *is_on* says that it is gone."""
    screen = Screen(sys.stdout)
    over = False
    while not over:
        alive = is_on()  # asked before reading, so that nothing written before the end is missed
        pause_s = _look(reader, screen, alive=alive)
        over = not alive or _has_ended(reader.events)
        if not over:
            time.sleep(pause_s)


def follow_lines(journal: Path, run: str, is_on: Callable[[], bool]) -> None:
    """Print a run's events, past ones first, until it has ended or *is_on* says that it is gone."""
    lines = PlainLines(console.result)
    events: list[Event] = []

    def show(event: Event) -> None:
        if event.run == run:
            events.append(event)
            lines(event)

    follower = Follower(journal, show, 0)
    over = False
    while not over:
        alive = is_on()
        follower.look()
        over = not alive or _has_ended(events)
        if not over:
            time.sleep(LOOK_EVERY_S)


def print_board(view: BoardView) -> None:
    """The whole board once, on standard output, as tall as it is."""
    fancy = console.is_fancy(sys.stdout)
    width = terminal_size(sys.stdout)[0] if fancy else PLAIN_WIDTH
    drawing = make_console(sys.stdout, fancy=fancy)
    for row in draw_board(view, width, None):
        console.result(render_row(drawing, row, width).rstrip())


def _look(reader: BoardReader, screen: Screen, *, alive: bool = True, notice: str = "") -> float:
    """Paint what there is to see; returns how long to pause. Raises OSError without a terminal."""
    began_s = monotonic_s()
    view = reader.read(alive=alive)
    if view is not None:
        screen.paint(partial(draw_board, replace(view, notice=notice)))
    return max(LOOK_EVERY_S, WORK_SHARE * (monotonic_s() - began_s))


def _has_ended(events: Sequence[Event]) -> bool:
    return any(event.event is EventKind.RUN_ENDED for event in events)
