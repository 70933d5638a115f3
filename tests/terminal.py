"""A terminal for tests: what qloop draws in it, as a person would see it."""

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading
from collections.abc import Sequence
from pathlib import Path

from rich.cells import cell_len

from world import QLOOP, wait_until

_TOKEN = re.compile(r"\x1b\[(\??)([0-9;]*)([A-Za-z])|\r|\n|[^\x1b\r\n]")


class Screen:
    """A picture of a terminal: understands what the live board and rich's tables put out."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns = columns
        self.rows = rows
        self.lines: list[str] = [""]
        """All rows, those that were scrolled away first."""
        self.top = 0
        self.row = 0
        self.column = 0
        self.wrapped = 0
        """How many rows were longer than the terminal is wide."""
        self._wraps = True

    @property
    def shown(self) -> list[str]:
        """The rows that are seen now."""
        return [line.rstrip() for line in self.lines[self.top : self.top + self.rows]]

    @property
    def text(self) -> str:
        """Everything, also what was scrolled away."""
        return "\n".join(line.rstrip() for line in self.lines)

    def feed(self, text: str) -> None:
        """Take output; it holds whole codes only."""
        for found in _TOKEN.finditer(text):
            private, numbers, command = found.groups()
            if command is not None:
                self._obey(private, numbers, command)
            elif found.group() == "\r":
                self.column = 0
            elif found.group() == "\n":
                self._down()
            else:
                self._put(found.group())

    def resize(self, columns: int, rows: int) -> None:
        """Another size; what was drawn stays where it was."""
        self.columns, self.rows = columns, rows
        self.row = min(self.row, rows - 1)

    def _obey(self, private: str, numbers: str, command: str) -> None:
        if command == "m":
            return
        if (private, numbers, command) in (("?", "7", "l"), ("?", "7", "h")):
            self._wraps = command == "h"
        elif command == "H" and not numbers:
            self.row = self.column = 0
        elif (numbers, command) == ("2", "J"):
            self.lines[self.top :] = [""]
        elif (numbers, command) == ("2", "K"):
            self._set("")
        elif (numbers, command) == ("", "J"):
            self._set(self._line[: self.column])
            del self.lines[self.top + self.row + 1 :]
        else:
            raise AssertionError(f"an unknown code: {private}{numbers}{command}")

    def _down(self) -> None:
        self._set(self._line)
        if self.row == self.rows - 1:
            self.top += 1
        else:
            self.row += 1
        self._set(self._line)

    def _put(self, character: str) -> None:
        if cell_len(self._line[: self.column]) + cell_len(character) > self.columns:
            self.wrapped += 1
            if not self._wraps:
                return
            self._down()
            self.column = 0
        line = self._line.ljust(self.column)
        self._set(line[: self.column] + character + line[self.column + 1 :])
        self.column += 1

    @property
    def _line(self) -> str:
        number = self.top + self.row
        return self.lines[number] if number < len(self.lines) else ""

    def _set(self, text: str) -> None:
        number = self.top + self.row
        self.lines += [""] * (number + 1 - len(self.lines))
        self.lines[number] = text


def set_size(terminal: int, columns: int, rows: int) -> None:
    """Give a pseudo-terminal a size."""
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


class Session:
    """qloop at work in a terminal of its own."""

    def __init__(
        self,
        words: Sequence[str],
        cwd: Path,
        *,
        size: tuple[int, int] = (80, 24),
        **env: str | None,
    ) -> None:
        """Start it; *size* is columns and rows. An environment variable of None is taken away."""
        self._terminal, end = pty.openpty()
        self.resize(*size)
        wanted = {**os.environ, "TERM": "xterm-256color", "CI": None, "NO_COLOR": None, **env}
        self.process = subprocess.Popen(
            [*QLOOP, *words],
            cwd=cwd,
            stdin=end,
            stdout=end,
            stderr=end,
            env={name: value for name, value in wanted.items() if value is not None},
            start_new_session=True,
        )
        os.close(end)
        self._shown = b""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def output(self) -> str:
        """All that came so far, up to the last line end."""
        return self._shown[: self._shown.rfind(b"\n") + 1].decode("utf-8", "replace")

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size, as a window that is dragged does."""
        set_size(self._terminal, columns, rows)

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._terminal, text.encode())

    def wait_for(self, text: str, *, after: int = 0) -> None:
        """Until *text* was put out, behind the first *after* characters of the output."""
        wait_until(lambda: text in self.output[after:])

    def picture(self, size: tuple[int, int] = (80, 24), start: int = 0) -> Screen:
        """What a terminal of that size shows of the output from *start* on."""
        screen = Screen(*size)
        screen.feed(self.output[start:])
        return screen

    def end(self) -> int:
        """Wait for its end; returns its exit code."""
        code = self.process.wait(120)
        self._thread.join(120)
        os.close(self._terminal)
        return code

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            while data := os.read(self._terminal, 65_536):
                self._shown += data
