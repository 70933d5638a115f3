"""An agent's output as it comes: read, and told to people in a log of its own.

Errors: OSError where that log cannot be written.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from qloop.agents.forms import TEXT
from qloop.agents.readable import readable_name, render_lines
from qloop.agents.readers.table import open_reader
from qloop.agents.reading import Line, Reading
from qloop.system.capped import CappedLog
from qloop.system.files import read_blocks
from qloop.system.logged import read_tail
from qloop.system.masking import mask_file

LONGEST_OUTPUT_BYTES = 100_000_000
STRAY_BYTES = 64_000


class AgentOutput:
    """Reads one call's output of the form that its runner prints."""

    def __init__(
        self,
        form: str,
        log: Path,
        log_bytes: int,
        *,
        file: Path | None,
        secrets: Sequence[bytes] = (),
    ) -> None:
        """*log* is that of what is printed; *file* the one that the agent writes instead.

        *secrets* are masked in that file; in what is printed they are masked already.
        """
        self._form = form
        self._log = log
        self._log_bytes = log_bytes
        self._file = file
        self._secrets = secrets
        self._reader = open_reader(form)
        self._readable = self._open_readable() if file is None else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._readable is not None:
            self._readable.close()

    def feed(self, data: bytes) -> None:
        """Take what was printed next."""
        if self._file is None:
            self._tell(self._reader.feed(data))

    def reading(self) -> Reading:
        """What it all came to; asked once, when nothing comes any more."""
        if self._file is not None:
            return self._read_file(self._file)
        return self._finish()

    def _finish(self) -> Reading:
        if self._form != TEXT:
            self._tell(self._reader.feed(b"\n"))  # the last line may have no end
        return self._reader.finish()

    def _open_readable(self) -> CappedLog | None:
        """The log for people; None where what is printed is readable already."""
        path = self._log.with_name(readable_name(self._log.name))
        return None if self._form == TEXT else CappedLog(path, self._log_bytes)

    def _tell(self, lines: list[Line]) -> None:
        if self._readable is not None:
            self._readable.write(render_lines(lines).encode("utf-8", "replace"))

    def _read_file(self, file: Path) -> Reading:
        """What the file says; what was printed stands outside of that."""
        mask_file(file, self._secrets, LONGEST_OUTPUT_BYTES)
        self._readable = self._open_readable()
        for block in read_blocks(file, LONGEST_OUTPUT_BYTES):
            self._tell(self._reader.feed(block))
        return replace(self._finish(), stray=read_tail(self._log, STRAY_BYTES))
