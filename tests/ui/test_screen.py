"""Painting one place of a terminal, whatever happens to it."""

import io
import os
import pty
from collections.abc import Iterator
from typing import TextIO

import pytest
from rich.text import Text

from qloop.ui.screen import Screen, make_console, render_row, terminal_size
from terminal import Screen as Picture
from terminal import set_size


class Terminal:
    """A pseudo-terminal, and what came out of it."""

    def __init__(self) -> None:
        self.outside, inside = pty.openpty()
        self.stream: TextIO = os.fdopen(inside, "w", encoding="utf-8")

    def taken(self) -> str:
        """What was written since the last time."""
        self.stream.flush()
        os.set_blocking(self.outside, False)
        data = b""
        while True:
            try:
                data += os.read(self.outside, 65_536)
            except BlockingIOError:
                return data.decode()


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    """A terminal of 30 columns and 8 rows."""
    made = Terminal()
    set_size(made.outside, 30, 8)
    yield made
    made.stream.close()
    os.close(made.outside)


def rows(*texts: str) -> list[Text]:
    """Rows of a picture."""
    return [Text(text, "bold red") for text in texts]


def test_a_picture_takes_the_place_of_the_one_before(terminal: Terminal) -> None:
    """Longer and shorter pictures leave nothing of each other; earlier output is not lost."""
    picture = Picture(30, 8)
    picture.feed("$ before\r\n")
    screen = Screen(terminal.stream)
    for texts in (("one", "two", "three"), ("longer one",), ("a", "b")):
        shown = rows(*texts)
        screen.paint(lambda width, height, shown=shown: shown)  # type: ignore[misc]
        picture.feed(terminal.taken())

    assert picture.shown == ["a", "b", ""]
    assert "$ before" in picture.text


def test_the_same_picture_is_not_painted_again(terminal: Terminal) -> None:
    """What did not change costs nothing, also over a slow line."""
    screen = Screen(terminal.stream)
    screen.paint(lambda width, height: rows("one"))
    terminal.taken()
    screen.paint(lambda width, height: rows("one"))

    assert terminal.taken() == ""


def test_a_picture_leaves_a_row_for_the_cursor(terminal: Terminal) -> None:
    """It is drawn for the size of the moment, and what comes afterwards stands below it."""
    asked: list[tuple[int, int]] = []
    screen = Screen(terminal.stream)

    def draw(width: int, height: int) -> list[Text]:
        asked.append((width, height))
        return rows(*(f"row {number}" for number in range(height)))

    screen.paint(draw)
    set_size(terminal.outside, 20, 5)
    terminal.taken()
    screen.paint(draw)
    picture = Picture(20, 5)
    picture.feed(terminal.taken() + "error: told afterwards\r\n")

    assert asked == [(30, 7), (20, 4)]
    assert picture.shown == ["row 2", "row 3", "error: told afterwar", "ds", ""]


def test_rows_that_turn_out_too_wide_do_not_wrap(terminal: Terminal) -> None:
    """A terminal that became narrower while a picture was drawn still shows one row for one."""
    screen = Screen(terminal.stream)
    screen.paint(lambda width, height: rows("x" * 30, "y"))
    picture = Picture(10, 8)
    picture.feed(terminal.taken())

    assert picture.shown[:2] == ["x" * 10, "y"]


def test_what_follows_a_picture_wraps_again(terminal: Terminal) -> None:
    """The terminal is left as it was found."""
    screen = Screen(terminal.stream)
    screen.paint(lambda width, height: rows("x"))
    picture = Picture(10, 8)
    picture.feed(terminal.taken() + "0123456789ABC")

    assert picture.shown[1:3] == ["0123456789", "ABC"]


def test_a_terminal_without_a_size(terminal: Terminal) -> None:
    """One that does not know its size is taken for a usual one, as is what is no terminal."""
    set_size(terminal.outside, 0, 0)

    assert terminal_size(terminal.stream) == (80, 24)
    assert terminal_size(io.StringIO()) == (80, 24)


def test_a_row_in_what_the_stream_can_encode() -> None:
    """What an encoding does not have becomes a question mark, as wide as a character."""
    with io.TextIOWrapper(io.BytesIO(), encoding="ascii") as stream:
        row = render_row(make_console(stream, fancy=False), Text("▸ US-1 \udc80é"), 20)

    assert row == "? US-1 ??"


@pytest.mark.parametrize("fancy", [True, False])
def test_colours_are_for_terminals(fancy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a terminal gets codes."""
    monkeypatch.setenv("TERM", "xterm")
    row = render_row(make_console(io.StringIO(), fancy=fancy), rows("one")[0], 20)

    assert ("\x1b[" in row, "one" in row) == (fancy, True)
