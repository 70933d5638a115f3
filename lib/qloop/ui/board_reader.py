"""What the live board is made of, read from the disk: journal, state file, ends of logs.

It only reads, takes no lock, and tells nothing to the run it looks at. A state file that cannot be
read at a moment, for somebody has just saved half of it, is taken as it was before.
"""

import os
from pathlib import Path

from qloop.plan.document import load_document
from qloop.plan.model import Plan
from qloop.plan.validate import check_plan
from qloop.state.journal import Event, EventKind, Journal
from qloop.system.clock import parse_utc, utc_now
from qloop.system.errors import QloopError
from qloop.ui.board import BoardView, build_board
from qloop.ui.logs import plain_text
from qloop.ui.stages import Work, find_works, log_of
from qloop.ui.turns import Logs, LogView

TAIL_BYTES = 4_096
TAILS = ("", ".tail0", ".tail1")
"""What a log is kept in while it grows: its head, and its end by turns in two files beside it."""


class BoardReader:
    """Reads one run of a repository, at any number of moments."""

    def __init__(
        self, private: Path, state_file: Path, *, run: str | None = None, offset: int = 0
    ) -> None:
        """*private* is the `.qloop` folder. Without *run* it is the next run that starts.

        *offset* is where the run's events begin in the journal, or a place before that, in bytes.
        """
        self.run = run
        self.events: list[Event] = []
        self._private = private
        self._plan = _PlanFile(state_file)
        self._journal = Journal(private / "events.jsonl")
        self._offset = offset

    def read(self, *, alive: bool = True) -> BoardView | None:
        """The board of now; None while the run has no events or there is no plan yet.

        *alive* tells whether the run's driver is still there.
        """
        # Events first: the state file is then never older than what they tell of it.
        events, self._offset = self._journal.read_from(self._offset)
        self.events += events
        if self.run is None:
            began = [one for one in self.events if one.event is EventKind.RUN_STARTED]
            self.run = began[0].run if began else None
        if self.run is None:
            return None
        self.events = [one for one in self.events if one.run == self.run]
        plan = self._plan.read()
        if plan is None or not self.events:
            return None
        logs = self._read_logs(plan)
        return build_board(plan, self.events, logs, parse_utc(utc_now()), alive=alive)

    def _read_logs(self, plan: Plan) -> Logs:
        works = find_works(self.events)
        return {name: _look_at(self._folder(work), plan, work) for name, work in works.items()}

    def _folder(self, work: Work) -> Path:
        return self._private / "logs" / work.story / str(work.number)


class _PlanFile:
    """The state file, parsed again only when it is another one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, int, int] | None = None
        self._plan: Plan | None = None

    def read(self) -> Plan | None:
        """The plan, as it was when it could last be read; None while it never could."""
        try:
            found = self._path.stat()
        except OSError:
            return self._plan
        stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
        if stamp != self._stamp:
            self._stamp = stamp
            self._parse()
        return self._plan

    def _parse(self) -> None:
        try:
            self._plan = check_plan(load_document(self._path), str(self._path))
        except QloopError:
            return


def last_line(folder: Path, name: str) -> str:
    """The last line that says something in a log that may still grow; empty where none does."""
    ends = [end for tail in TAILS if (end := _end_of(folder / f"{name}{tail}")) is not None]
    for _, data in sorted(ends, reverse=True):
        said = [line.strip() for line in plain_text(data).splitlines() if line.strip()]
        if said:
            return said[-1]
    return ""


def _look_at(folder: Path, plan: Plan, work: Work) -> LogView:
    try:
        names = frozenset(path.name for path in folder.iterdir())
    except OSError:
        return LogView()
    log = log_of(plan, work, names)
    return LogView(names, last_line(folder, log) if log is not None else "")


def _end_of(path: Path) -> tuple[int, bytes] | None:
    """When a file was last written to, and its last bytes; None where there is no such file."""
    try:
        with path.open("rb") as source:
            source.seek(max(source.seek(0, os.SEEK_END) - TAIL_BYTES, 0))
            return os.fstat(source.fileno()).st_mtime_ns, source.read(TAIL_BYTES)
    except OSError:
        return None
