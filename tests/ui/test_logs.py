"""A log on a terminal: nothing in it steers the terminal, nothing readable is lost."""

import os
import sys
import tty
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from qloop.ui.logs import LogPrinter, follow_log, print_log

Read = Callable[[], str]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Read]:
    """Standard output is a terminal; what reached it can be read once, at the end."""
    far, near = os.openpty()
    tty.setraw(near)
    screen = os.fdopen(near, "w", encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", screen)

    def read() -> str:
        screen.write("\N{END OF TEXT}")
        screen.flush()
        got = b""
        while not got.endswith(b"\x03"):
            got += os.read(far, 65_536)
        return got[:-1].decode()

    yield read
    monkeypatch.undo()
    screen.close()
    os.close(far)


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"plain\n", "plain\n"),
        (b"\x1b[1;31mred\x1b[0m\n", "red\n"),
        (b"\x1b]0;title\x07text", "text"),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"\x1bP1;2qdevice\x1b\\text", "text"),
        (b"\x1b7\x1b(Bsaved\x1b8", "saved"),
        (b"10%\r20%\r\ndone\r", "10%\n20%\ndone\n"),
        (b"tab\there\x08\x00\x7f", "tab\there"),
        (b"caf\xc3\xa9 \xff", "café \ufffd"),
        ("c1 \x9b2J".encode(), "c1 2J"),
        (b"cut \x1b[3", "cut [3"),
    ],
)
def test_codes_are_taken_out(terminal: Read, tmp_path: Path, data: bytes, shown: str) -> None:
    """Codes, other control characters and broken UTF-8 do not reach the screen."""
    log = tmp_path / "output.log"
    log.write_bytes(data)

    print_log(log)

    assert terminal() == shown


def test_what_comes_in_pieces_is_seen_as_one(terminal: Read) -> None:
    """A code or a character that a block cuts in two is the same as in one piece."""
    printer = LogPrinter()
    for byte in "a\x1b[1;31mé\x1b]0;t\x07\r\nb\x1b(B".encode():
        printer.write(bytes([byte]))
    printer.close()

    assert terminal() == "aé\nb"


def test_an_endless_code_holds_nothing_up(terminal: Read) -> None:
    """What begins like a code and never ends is shown as text after a while."""
    printer = LogPrinter()
    printer.write(b"\x1b]" + b"x" * 5_000)

    assert terminal() == "]" + "x" * 5_000


def test_follow_reads_once_more_at_the_end(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """What was written just before the end is still shown, and each byte only once."""
    log = tmp_path / "output.log"
    log.write_bytes(b"one ")

    def is_over() -> bool:
        with log.open("ab") as out:
            out.write(b"two ")
        return log.stat().st_size > 8

    follow_log(log, is_over)

    assert capfdbinary.readouterr().out == b"one two two "


def test_follow_a_log_that_never_comes(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """A log that is not there shows nothing."""
    follow_log(tmp_path / "output.log", lambda: True)

    assert capfdbinary.readouterr().out == b""
