"""How a mission shows itself while it runs: live at a terminal, else a line for each thing."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Self, TypeVar

from qloop.ui import console
from qloop.ui.mission_board import LiveMission

One = TypeVar("One")
Other = TypeVar("Other")


class MissionShow:
    """What a person sees of a mission from its start to its end."""

    def __init__(self, private: Path, folder: Path) -> None:
        self._private, self._folder = private, folder
        self._is_fancy = console.is_fancy(sys.stderr)
        self._board: LiveMission | None = None

    def __enter__(self) -> Self:
        self._begin()
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def say(self, text: str) -> None:
        """Show a line; a live board finds it by itself."""
        if self._board is None:
            console.say(console.printable(text))

    def paused(self, ask: Callable[[One], Other]) -> Callable[[One], Other]:
        """*ask*, with the terminal to itself."""

        def alone(about: One) -> Other:
            self._end()
            try:
                return ask(about)
            finally:
                self._begin()

        return alone

    def _begin(self) -> None:
        if self._is_fancy:
            self._board = LiveMission(self._private, self._folder)
            self._board.__enter__()

    def _end(self) -> None:
        board, self._board = self._board, None
        if board is not None:
            board.__exit__(None, None, None)
