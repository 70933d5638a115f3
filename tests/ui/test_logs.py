"""A log on a terminal: nothing in it steers the terminal, nothing readable is lost."""

import os
import sys
import threading
import tty
from collections.abc import Callable
from pathlib import Path

import pytest

from qloop.ui.logs import LogPrinter, follow_log, print_log


def on_terminal(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> str:
    """What reaches the screen while *act* runs with a terminal for its standard output."""
    far, near = os.openpty()
    tty.setraw(near)
    shown: list[bytes] = []

    def read() -> None:
        while not (shown and shown[-1].endswith(b"\x03")):
            shown.append(os.read(far, 65_536))

    reader = threading.Thread(target=read)
    reader.start()
    with os.fdopen(near, "w", encoding="utf-8") as screen, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", screen)
        act()
        screen.write("\x03")
        screen.flush()
        reader.join()
    os.close(far)
    return b"".join(shown)[:-1].decode()


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
def test_codes_are_taken_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data: bytes, shown: str
) -> None:
    """Codes, other control characters and broken UTF-8 do not reach the screen."""
    log = tmp_path / "output.log"
    log.write_bytes(data)

    assert on_terminal(monkeypatch, lambda: print_log(log)) == shown


def test_what_comes_in_pieces_is_seen_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A code or a character that a block cuts in two is the same as in one piece."""

    def show() -> None:
        printer = LogPrinter()
        for byte in "a\x1b[1;31mé\x1b]0;t\x07\r\nb\x1b(B".encode():
            printer.write(bytes([byte]))
        printer.close()

    assert on_terminal(monkeypatch, show) == "aé\nb"


def test_an_endless_code_holds_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """What begins like a code and never ends is shown as text after a while."""
    text = "]" + "x" * 5_000

    shown = on_terminal(monkeypatch, lambda: LogPrinter().write(f"\x1b{text}".encode()))

    assert shown == text


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

    follow_log(lambda: log, is_over)

    assert capfdbinary.readouterr().out == b"one two two "


def test_follow_a_log_that_never_comes(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """A log that is not there shows nothing."""
    follow_log(lambda: tmp_path / "output.log", lambda: True)

    assert capfdbinary.readouterr().out == b""
