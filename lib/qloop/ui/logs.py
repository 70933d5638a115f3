"""An agent's output: its bytes as they are, or freed of terminal codes where a terminal shows them.

Units: bytes, seconds. Errors: OSError where the log cannot be read or the output not be written.
"""

import codecs
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

from qloop.ui import console

LOOK_EVERY_S = 0.2
_BLOCK_BYTES = 65_536
_LONGEST_CODE = 4_096  # what is longer was never ended, and is text

CODES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]+[0-~]|[0-OQ-WYZ\\`-~])"
)
"""What steers a terminal: colours, titles, movements."""
_CUT_SHORT = re.compile(r"(?:\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)|\r)\Z")


class LogPrinter:
    """Hands the bytes of a log on to standard output, block by block."""

    def __init__(self) -> None:
        self._plain = _PlainText() if sys.stdout.isatty() else None

    def write(self, data: bytes) -> None:
        """Show what came next."""
        if self._plain is not None:
            sys.stdout.write(self._plain.feed(data))
            sys.stdout.flush()
            return
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def close(self) -> None:
        """Show what was held back for being only half a character or code."""
        if self._plain is not None:
            sys.stdout.write(self._plain.feed(b"", last=True))
            sys.stdout.flush()


class _PlainText:
    """Bytes to text without terminal codes; what a block cuts short waits for the next one."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._held = ""

    def feed(self, data: bytes, *, last: bool = False) -> str:
        text = self._held + self._decode(data, last)
        cut = None if last else _CUT_SHORT.search(text, max(0, len(text) - _LONGEST_CODE))
        whole, self._held = (text, "") if cut is None else (text[: cut.start()], cut.group())
        # What a carriage return would overwrite is kept, on a line of its own.
        lines = CODES.sub("", whole).replace("\r\n", "\n").replace("\r", "\n")
        return console.printable(lines)


def plain_text(data: bytes) -> str:
    """Bytes as a terminal's text, without what would steer it."""
    return _PlainText().feed(data, last=True)


def print_log(log: Path) -> None:
    """Show a whole log. Raises FileNotFoundError where there is none."""
    printer = LogPrinter()
    with log.open("rb") as source:
        while block := source.read(_BLOCK_BYTES):
            printer.write(block)
    printer.close()


def follow_log(find_log: Callable[[], Path], is_over: Callable[[], bool]) -> None:
    """Show a log as it grows, until *is_over* says that it grows no more.

    The log may be missing at first; one that never comes shows nothing. *find_log* is asked until
    a log is there, as which one will come may not be known yet.
    """
    printer = LogPrinter()
    log = find_log()
    offset = 0
    over = False
    while not over:
        over = is_over()  # asked before reading, so that nothing written before the end is missed
        log = log if offset else find_log()
        offset = _show_from(log, offset, printer)
        if not over:
            time.sleep(LOOK_EVERY_S)
    printer.close()


def _show_from(log: Path, offset: int, printer: LogPrinter) -> int:
    """Show what stands in a log behind *offset*; returns where it ends."""
    try:
        source = log.open("rb")
    except FileNotFoundError:
        return offset
    with source:
        source.seek(offset)
        while block := source.read(_BLOCK_BYTES):
            printer.write(block)
        return source.tell()
