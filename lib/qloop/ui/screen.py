"""Painting the same place of a terminal again and again, whatever happens to its size.

rich.live moves up by the rows that it drew, which a terminal that was resized, or in which keys
were typed, has moved elsewhere. Here each painting starts at the terminal's top left corner, and
changes no mode that would have to be undone: a process that is killed leaves a usable terminal.

Source: ECMA-48 (CUP, ED, EL); DECAWM from DEC's VT100: with ?7l nothing wraps, whatever a
terminal holds for the width of a character.
"""

import os
from collections.abc import Callable, Sequence
from typing import TextIO

from rich.console import Console
from rich.text import Text

FALLBACK = (80, 24)

Draw = Callable[[int, int], Sequence[Text]]
"""Rows for a width and a height that they must not exceed."""

_HOME = "\x1b[H"
_CLEAR = "\x1b[2J"
_CLEAR_ROW = "\x1b[2K"
_CLEAR_BELOW = "\x1b[J"
_NO_WRAP = "\x1b[?7l"
_WRAP = "\x1b[?7h"


class Screen:
    """A terminal that shows one picture; what it showed before is scrolled away, not lost."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._console = make_console(stream, fancy=True)
        self._size: tuple[int, int] | None = None
        self._shown = ""

    def paint(self, draw: Draw) -> None:
        """Show a picture for the size of now; the cursor stands below it afterwards.

        Raises OSError where the terminal is gone.
        """
        size = terminal_size(self._stream)
        rows = [render_row(self._console, row, size[0]) for row in draw(size[0], size[1] - 1)]
        picture = "".join(f"{_CLEAR_ROW}{row}\r\n" for row in rows)
        if (size, picture) == (self._size, self._shown):
            return
        start = _HOME if size == self._size else self._first(size)
        # In one write, so that no half picture is seen.
        self._stream.write(f"{_NO_WRAP}{start}{picture}{_CLEAR_BELOW}{_WRAP}")
        self._stream.flush()
        self._size, self._shown = size, picture

    def _first(self, size: tuple[int, int]) -> str:
        """What makes room for the first picture in a terminal of this size."""
        return "\r\n" * size[1] + _HOME if self._size is None else _HOME + _CLEAR


def terminal_size(stream: TextIO) -> tuple[int, int]:
    """Columns and rows of the terminal behind *stream*; a usual size where it does not know."""
    try:
        columns, rows = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return FALLBACK
    return columns or FALLBACK[0], rows or FALLBACK[1]


def render_row(console: Console, row: Text, width: int) -> str:
    """A row as text with the codes for its colours, in what the console's stream can encode."""
    console.width = width
    with console.capture() as captured:
        console.print(row, end="", no_wrap=True, overflow="crop", crop=True)
    encoding = console.encoding
    return captured.get().encode(encoding, "replace").decode(encoding)


def make_console(stream: TextIO, *, fancy: bool) -> Console:
    """A console that only makes codes: *fancy* ones in the colours that the terminal has."""
    return Console(
        file=stream,
        force_terminal=fancy,
        force_jupyter=False,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
    )
