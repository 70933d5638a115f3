"""Whether a command's processes still do anything: output, processor time, changed files.

A command that shows none of the three for a whole limit is stuck. It is looked at a few times
within the limit, so that the end of a stuck one may come a fifth of the limit late. Files are
looked at only where the other two are silent.
Units: seconds, bytes.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from qloop.system.clock import monotonic_s
from qloop.system.table import read_cpu_s
from qloop.system.tree import Marks, find_members

LOOKS = 10
"""How often a command is looked at within the limit."""
IDLE_SHARE = 0.005
"""A program that only waits wakes up now and then: less of one processor than this is nothing."""


@dataclass(slots=True)
class Stillness:
    """Since when nothing was seen. Decides from what it is told, and looks at nothing itself."""

    limit_s: float
    since_s: float
    """The moment of the last sign, on a clock that only goes forward."""
    output_bytes: int = 0
    cpu_s: float = 0.0
    """Processor time since the last sign."""

    def is_broken_by(self, output_bytes: int, cpu_s: float) -> bool:
        """Take how much output there is in all, and what was computed since the last time."""
        self.cpu_s += cpu_s
        moved = output_bytes != self.output_bytes
        self.output_bytes = output_bytes
        return moved or self.cpu_s >= IDLE_SHARE * self.limit_s

    def begin_anew(self, now_s: float) -> None:
        """There was a sign."""
        self.since_s, self.cpu_s = now_s, 0.0

    def is_over(self, now_s: float) -> bool:
        """Whether there was none for the whole limit."""
        return now_s - self.since_s >= self.limit_s


@dataclass(slots=True)
class Vigil:
    """Looks at one command while somebody waits for its end."""

    roots: tuple[int, ...]
    marks: Marks
    folder: Path
    """Where its files are."""
    limit_s: float
    count_output: Callable[[], int]
    """How many bytes it has printed so far."""
    clock: Callable[[], float] = monotonic_s
    _still: Stillness = field(init=False)
    _cpu: dict[tuple[int, str], float] = field(default_factory=dict)
    _files: int | None = None

    def __post_init__(self) -> None:
        self._still = Stillness(self.limit_s, self.clock())

    @property
    def pause_s(self) -> float:
        """How long to wait before the next look."""
        return self.limit_s / LOOKS

    def is_stuck(self) -> bool:
        """Look once; whether it has done nothing for the whole limit."""
        if self._still.is_broken_by(self.count_output(), self._computed_s()):
            self._files = None
            self._still.begin_anew(self.clock())
        elif self._have_files_changed():
            self._still.begin_anew(self.clock())
        return self._still.is_over(self.clock())

    def _computed_s(self) -> float:
        """The processor time that its processes took since the last look."""
        before, self._cpu = self._cpu, {}
        for one in find_members(self.roots, self.marks, ()):
            cpu_s = read_cpu_s(one.pid)
            if cpu_s is not None:
                self._cpu[one.pid, one.start] = cpu_s
        return sum(max(0.0, cpu_s - before.get(one, 0.0)) for one, cpu_s in self._cpu.items())

    def _have_files_changed(self) -> bool:
        """Whether the folder is another than at the last look; when it was not seen, it may be."""
        before, self._files = self._files, fingerprint(self.folder)
        return self._files != before


def fingerprint(folder: Path) -> int:
    """A number that is another one when anything below *folder* was made, changed or removed.

    No link is followed.
    """
    return sum(hash(entry) for entry in _entries(folder))


def _entries(folder: Path) -> Iterator[tuple[str, int, int, int]]:
    waiting = [str(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    seen = entry.stat(follow_symlinks=False)
                    yield entry.path, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:  # gone while it was looked at, or closed to us
            continue
