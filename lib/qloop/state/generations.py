"""The generations of a state file: whole copies, each named by its `updatedAt`, the newest 32.

A write goes through four steps, so that one that is cut short at any of them is understood:
1. the new bytes, as the pending generation `<name>.pending`, flushed;
2. the new bytes once more, as `next.tmp`, flushed;
3. `next.tmp` takes the state file's name, and the file that had it becomes `next.tmp`;
4. the pending generation renamed to its name.
A pending generation whose stamp stands in the state file has passed step 3, any other has not.
All calls need the state file's lock. Errors: OSError.
"""

import contextlib
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import orjson

from qloop.plan.memory import collector_paused
from qloop.state.exchange import exchange
from qloop.system import clock, files

KEPT = 32

_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_PENDING = ".json.pending"
_NEXT = "next.tmp"
_SETTLING_ROUNDS = 30
_SETTLING_ROUND_S = 0.01


@dataclass(frozen=True, slots=True)
class Swap:
    """What a write met: what the state file held, and whether it was replaced."""

    found: bytes | None
    replaced: bool


class Generations:
    """The folder of one state file's generations, on the same file system as the file."""

    def __init__(self, folder: Path, path: Path) -> None:
        self._folder = folder
        self._path = path

    def last(self) -> str | None:
        """The newest generation's stamp, or None where there is none."""
        stamps = self._stamps()
        return stamps[-1] if stamps else None

    def has(self, stamp: object) -> bool:
        """Whether *stamp*, which may be anything that a file says, names a kept generation."""
        return (
            isinstance(stamp, str)
            and _STAMP.fullmatch(stamp) is not None
            and self._file(stamp).is_file()
        )

    def load(self, stamp: str) -> bytes:
        """The bytes of a kept generation."""
        return self._file(stamp).read_bytes()

    def holds(self, stamp: str, data: bytes) -> bool:
        """Whether a kept generation has just these bytes."""
        return files.holds(self._file(stamp), data)

    def recover(self, disk: bytes | None) -> None:
        """Finish or forget a write that was cut short; *disk* is what the state file holds."""
        for name in self._names():
            stamp = name.removesuffix(_PENDING).replace("_", ":")
            if name == _NEXT:
                (self._folder / name).unlink()
            elif name.endswith(_PENDING) and disk is not None and stamp.encode() in disk:
                (self._folder / name).rename(self._file(stamp))
            elif name.endswith(_PENDING):
                (self._folder / name).unlink()

    def write(self, stamp: str, data: bytes, expected: bytes | None) -> Swap:
        """Make *data* the state file and its generation *stamp*, unless somebody else wrote.

        The file is replaced only where it still holds *expected* (None: where there is none).
        What somebody wrote into the replaced file at the last moment is `found` as well.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        pending = self._folder / f"{_to_name(stamp)}{_PENDING}"
        _write_flushed(pending, data, 0o644)
        _write_flushed(self._folder / _NEXT, data, _mode_of(self._path))
        swap = self._replace(expected)
        if swap.replaced:
            files.sync_folder(self._path.parent)
            pending.rename(self._file(stamp))
            self._prune()
        else:
            pending.unlink()
            (self._folder / _NEXT).unlink()
        return swap

    def _replace(self, expected: bytes | None) -> Swap:
        following = self._folder / _NEXT
        found = settled(lambda: _read(self._path, expected), expected)
        if found != expected:
            return Swap(found, replaced=False)
        if expected is None or not exchange(following, self._path):
            following.replace(self._path)
            return Swap(expected, replaced=True)
        # An editor may have put another file there since, or be writing to this one just now.
        found = settled(lambda: _read(following, expected), expected)
        following.unlink()
        return Swap(found, replaced=True)

    def _stamps(self) -> list[str]:
        """The kept generations, oldest first; stamps are of one length, so text sorts as time."""
        stamps = (name.removesuffix(".json").replace("_", ":") for name in self._names())
        return sorted(stamp for stamp in stamps if _STAMP.fullmatch(stamp))

    def _names(self) -> list[str]:
        with contextlib.suppress(FileNotFoundError):
            return [path.name for path in self._folder.iterdir()]
        return []

    def _file(self, stamp: str) -> Path:
        return self._folder / f"{_to_name(stamp)}.json"

    def _prune(self) -> None:
        for stamp in self._stamps()[:-KEPT]:
            self._file(stamp).unlink(missing_ok=True)


def next_stamp(*earlier: object) -> str:
    """A stamp later than all of *earlier*, which may be anything that a file says."""
    return max(_stamp_after(moment) for moment in earlier)


def _stamp_after(moment: object) -> str:
    if isinstance(moment, str):
        with contextlib.suppress(ValueError, OverflowError):
            return clock.utc_after(moment)
    return clock.utc_after(None)


def settled(read: Callable[[], bytes | None], expected: bytes | None = None) -> bytes | None:
    """What *read* gives once it is *expected* or JSON, or after a third of a second as it is.

    An editor that saves in place, or that moves the old file away first, leaves a moment in which
    half a file or none is there; taking that for the person's edit would lose it.
    """
    data = read()
    for _ in range(_SETTLING_ROUNDS):
        if data == expected or (data is not None and _is_json(data)):
            break
        time.sleep(_SETTLING_ROUND_S)
        data = read()
    return data


def _read(path: Path, expected: bytes | None) -> bytes | None:
    """What *path* holds; no second copy where that is *expected*."""
    if expected is not None and files.holds(path, expected):
        return expected
    return files.read_optional(path)


def _is_json(data: bytes) -> bool:
    try:
        with collector_paused():
            orjson.loads(data)
    except orjson.JSONDecodeError:
        return False
    return True


def _to_name(stamp: str) -> str:
    return stamp.replace(":", "_")


def _write_flushed(path: Path, data: bytes, mode: int) -> None:
    with path.open("wb") as out:
        os.fchmod(out.fileno(), mode)
        out.write(data)
        out.flush()
        os.fsync(out.fileno())


def _mode_of(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        return 0o644
