"""Output kept to a size: its head at once in the log, its tail at the end.

However much comes, memory holds one block and the disk no more than the cap.
Units: bytes. Errors: OSError where the log cannot be opened; what goes wrong later is told by
`Pump.finish`, for the one who writes must never be held up by a full disk.
"""

import fcntl
import os
import select
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from qloop.system.cancel import Cancel
from qloop.system.errors import InternalFailure
from qloop.system.masking import Mask

_BLOCK_BYTES = 65_536
_NOTE_BYTES = 64  # more than the line that tells how much was left out


class CappedLog:
    """A log of at most *limit_bytes*: the first half of them from the start of what came.

    The other half holds the end of it, kept until `close` in two files beside the log, of which
    the older is overwritten in turn. Between the two a line says how much was left out.
    """

    def __init__(self, path: Path, limit_bytes: int) -> None:
        self._path = path
        self._head_left = limit_bytes // 2
        self._segment_bytes = max((limit_bytes // 2 - _NOTE_BYTES) // 2, 1)
        self._segments: list[BinaryIO] = []  # older first, newer last
        self._lost_bytes = 0
        self.taken_bytes = 0
        """How much came so far."""
        self._log = path.open("wb", buffering=0)

    def write(self, data: bytes) -> None:
        """Take what came next."""
        self.taken_bytes += len(data)
        head, rest = data[: self._head_left], data[self._head_left :]
        self._head_left -= len(head)
        _write_all(self._log, head)
        while rest:
            room = self._room()
            _write_all(self._segments[-1], rest[:room])
            rest = rest[room:]

    def close(self) -> None:
        """Put the tail behind the head; the files beside the log are gone then."""
        try:
            if self._lost_bytes:
                note = f"\n[qloop: {self._lost_bytes} bytes left out here]\n"
                _write_all(self._log, note.encode())
            for segment in self._segments:
                segment.seek(0)
                while block := segment.read(_BLOCK_BYTES):
                    _write_all(self._log, block)
        finally:
            for segment in self._segments:
                segment.close()
                Path(segment.name).unlink(missing_ok=True)
            self._log.close()

    def _room(self) -> int:
        """How much the newest segment takes, after making room where it is full."""
        if self._segments and self._segments[-1].tell() < self._segment_bytes:
            return self._segment_bytes - self._segments[-1].tell()
        if len(self._segments) < 2:
            name = f"{self._path.name}.tail{len(self._segments)}"
            self._segments.append(self._path.with_name(name).open("w+b", buffering=0))
        else:
            self._lost_bytes += self._segments[0].tell()
            self._segments.reverse()
            self._segments[-1].seek(0)
            self._segments[-1].truncate()
        return self._segment_bytes


class Pump:
    """A thread that moves all that comes out of a pipe into a log, without secrets."""

    def __init__(
        self,
        read_end: int,
        log: CappedLog,
        on_output: Callable[[bytes], object] | None = None,
        secrets: Sequence[bytes] = (),
    ) -> None:
        """Start to read; *read_end* is the pump's to close from now on. *secrets* are masked.

        *on_output* is told each block, in the pump's thread; what it raises comes out of `finish`.
        """
        fcntl.fcntl(read_end, fcntl.F_SETFL, os.O_NONBLOCK)
        self._read_end = read_end
        self._log = log
        self._on_output = on_output
        self._mask = Mask(secrets)
        self._stop = Cancel()
        self._error: OSError | None = None
        self._fault: Exception | None = None
        self._thread = threading.Thread(target=self._pump, name="pump", daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Take what is in the pipe now, and close pipe and log, whoever still holds the other end.

        Raises InternalFailure when a part of the output could not be written, or read by whom it
        was told to.
        """
        self._stop.set("finish")
        self._thread.join()
        self._stop.close()
        os.close(self._read_end)
        try:
            self._log.close()
        except OSError as error:
            self._error = self._error or error
        if self._error is not None:
            raise InternalFailure(
                f"the log cannot be written: {self._error.strerror}",
                where=str(self._error.filename or ""),
                fix="see that the disk has room",
            ) from self._error
        if self._fault is not None:
            raise InternalFailure(f"the output cannot be read: {self._fault}") from self._fault

    def _pump(self) -> None:
        self._read()
        self._keep(self._mask.finish())

    def _read(self) -> None:
        ends = select.poll()
        ends.register(self._read_end, select.POLLIN)
        ends.register(self._stop, select.POLLIN)
        left_bytes: int | None = None
        while left_bytes is None or left_bytes > 0:
            ready = {descriptor for descriptor, _ in ends.poll()}
            if left_bytes is None and self._stop.fileno() in ready:
                # More than a full pipe was not written before; who floods it on is not awaited.
                left_bytes = _capacity_bytes(self._read_end)
            if self._read_end in ready:
                block = os.read(self._read_end, _BLOCK_BYTES)
                if not block:
                    return
                self._keep(self._mask.feed(block))
                left_bytes = None if left_bytes is None else left_bytes - len(block)
            elif left_bytes is not None:
                return

    def _keep(self, block: bytes) -> None:
        """Write a block; after a failure the rest is read all the same, and thrown away."""
        if not block:
            return
        if self._error is None:
            try:
                self._log.write(block)
            except OSError as error:
                self._error = error
        self._tell(block)

    def _tell(self, block: bytes) -> None:
        """Hand a block on; who cannot read one is told no more, and the pipe is emptied on."""
        if self._on_output is not None and self._fault is None:
            try:
                self._on_output(block)
            except Exception as fault:  # noqa: BLE001 -- told by `finish`; the writer must not hang
                self._fault = fault


def _capacity_bytes(pipe: int) -> int:
    if hasattr(fcntl, "F_GETPIPE_SZ"):
        return fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ)
    return _BLOCK_BYTES


def _write_all(out: BinaryIO, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[out.write(left) :]
