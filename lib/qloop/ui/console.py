"""Where words for people and scripts leave the program: results on stdout, all else on stderr.

Plain text unless the stream is a terminal that can do more. Text that agents or files had a hand
in is freed of control characters before it reaches a terminal. A standard error that nobody can
read any more (a closed terminal) never ends the work that writes to it.
"""

import contextlib
import os
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

from qloop import __version__
from qloop.system.errors import Faults, InternalFailure, QloopError

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_RED = "\x1b[1;31m"
_PLAIN = "\x1b[0m"


def prepare() -> None:
    """Make characters that the streams cannot encode come out escaped instead of as an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def is_fancy(stream: TextIO | None) -> bool:
    """Whether colours and moving text are welcome on *stream*."""
    if stream is None or stream.closed or not stream.isatty():
        return False
    if os.environ.get("NO_COLOR") or os.environ.get("CI"):
        return False
    return os.environ.get("TERM", "") not in ("dumb", "unknown")


def printable(text: str) -> str:
    """*text* without control characters other than line ends and tabs."""
    return _CONTROLS.sub("", text)


def say(line: str) -> None:
    """A line of progress or advice for a person, on standard error."""
    _tell(printable(line))


def result(text: str) -> None:
    """What the command was asked for, as it is, on standard output, at once.

    Raises OSError when it cannot be written.
    """
    if sys.stdout is not None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def print_json(value: Any) -> None:
    """A value as indented JSON on standard output. Raises TypeError for what is not JSON."""
    import json

    encoding = getattr(sys.stdout, "encoding", None) or ""
    is_utf8 = encoding.lower().replace("-", "") == "utf8"
    result(json.dumps(value, indent=2, ensure_ascii=not is_utf8))


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Rows under column names on standard output: drawn in a terminal, else aligned text."""
    cells = [[_cell(value) for value in row] for row in rows]
    if is_fancy(sys.stdout):
        _draw_table(columns, cells)
    else:
        result(_aligned([list(columns), *cells]))


def fail(error: QloopError) -> int:
    """Tell an expected failure; return its exit code. QLOOP_DEBUG=1 adds the traceback."""
    _trace_if_asked(error)
    _tell_error(_laid_out(error))
    if isinstance(error, Faults):
        for fault in error.faults:
            say(f"  {fault}")
    return error.exit_code


def crash(error: BaseException) -> int:
    """Save a report of a bug, tell where it lies, and return the exit code of a bug."""
    _trace_if_asked(error)
    kind = type(error).__name__
    saved = _save_report(_report(error))
    where = f"report saved in {saved}" if saved else "no report could be saved"
    _tell_error(f"a bug of qloop ({kind}: {error}), {where}, QLOOP_DEBUG=1 shows the traceback")
    return InternalFailure.exit_code


def close_output() -> None:
    """Flush standard output; where that fails, drop what nobody can read, without a complaint."""
    for stream in (sys.stdout, sys.stderr):
        if stream is None or stream.closed:
            continue
        try:
            stream.flush()
        except OSError:
            # The interpreter flushes again when it ends, and would then complain itself.
            with contextlib.suppress(OSError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)


def _laid_out(error: QloopError) -> str:
    """An error's message; at a terminal that is too narrow for it, each of its parts on a line."""
    import shutil

    message = str(error)
    if not is_fancy(sys.stderr) or len(message) < shutil.get_terminal_size().columns:
        return message
    return ",\n".join(error.parts)


def _tell_error(message: str) -> None:
    head = f"{_RED}error:{_PLAIN}" if is_fancy(sys.stderr) else "error:"
    _tell(f"{head} {printable(message)}".replace("\n", "\n  "))


def _tell(line: str) -> None:
    if sys.stderr is not None and not sys.stderr.closed:
        with contextlib.suppress(OSError):
            sys.stderr.write(line + "\n")
            sys.stderr.flush()


def _trace_if_asked(error: BaseException) -> None:
    if os.environ.get("QLOOP_DEBUG") == "1":
        import traceback

        _tell("".join(traceback.format_exception(error)).rstrip("\n"))


def _report(error: BaseException) -> str:
    import platform
    import traceback

    from qloop.system.clock import utc_now

    facts = (
        f"qloop {__version__}",
        f"Python {sys.version}",
        platform.platform(),
        f"arguments: {sys.argv[1:]}",
        f"time: {utc_now()}",
    )
    return "\n".join((*facts, "", *traceback.format_exception(error)))


def _save_report(text: str) -> Path | None:
    import tempfile

    import platformdirs

    from qloop.system.clock import utc_now

    name = f"crash-{utc_now().replace(':', '')}-{os.getpid()}.txt"
    state = platformdirs.user_state_path("qloop", appauthor=False) / "crashes"
    for folder in (state, Path(tempfile.gettempdir())):
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            report = folder / name
            report.write_text(text, encoding="utf-8", errors="backslashreplace")
            return report
    return None


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    if text.isprintable() and "  " not in text:
        return text.strip()
    return " ".join(printable(text).split())


def _aligned(lines: list[list[str]]) -> str:
    columns = [_padded(column) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(cells).rstrip() for cells in zip(*columns, strict=True))


def _padded(column: Sequence[str]) -> list[str]:
    """The cells of a column, all as wide as the widest one."""
    if "".join(column).isascii():
        longest = max(map(len, column))
        return [cell.ljust(longest) for cell in column]
    from rich.cells import cell_len

    widths = [cell_len(cell) for cell in column]
    widest = max(widths)
    return [cell + " " * (widest - width) for cell, width in zip(column, widths, strict=True)]


def _draw_table(columns: Sequence[str], rows: list[list[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        drawn.add_column(Text(name), overflow="fold")
    for row in rows:
        drawn.add_row(*map(Text, row))
    Console(file=sys.stdout, highlight=False).print(drawn)
