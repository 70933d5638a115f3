"""The savepoint ledger of an intent, `savepoint.md`: what was reached when, a line for each.

A line is `{UTC time}  {class}  {milestone}`, with two blanks between. The class of a milestone is
a stage; other classes (`Lock`, `Review`, …) tell what happened on the way. Lines are only ever
added: a milestone of a stage once (the end once more where work followed it), other lines each
time. Whoever writes in an intent's folder holds its lock, so that no line is lost or torn.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from qloop.state.intent import encodable, one_line, plain_lines
from qloop.state.lifecycle import (
    CHECKLIST,
    OUTCOME,
    PLAN,
    SPEC,
    Disposition,
    Stage,
    document_of,
    read_real,
)
from qloop.system.clock import utc_now
from qloop.system.files import locked, read_optional, write_atomic

LEDGER = "savepoint.md"
STARTED = "started"
FOLDER_LOCK = ".folder.lock"

_STAGES = {stage.value: stage for stage in Stage}


@dataclass(frozen=True, slots=True)
class Savepoint:
    """One line of the ledger."""

    when: str
    kind: str
    """A stage, or another class of lines."""
    milestone: str

    @property
    def stage(self) -> Stage | None:
        """The stage that it tells of."""
        return _STAGES.get(self.kind)

    def to_line(self) -> str:
        """The line in the ledger, without its end."""
        return f"{self.when}  {self.kind}  {self.milestone}"


@contextmanager
def folder_locked(folder: Path) -> Iterator[None]:
    """Keep other processes from writing in an intent's folder meanwhile; do not nest."""
    with locked(folder / FOLDER_LOCK):
        yield


def created(name: str) -> str:
    """The milestone of a lifecycle file that came into being."""
    return f"{name} created"


def parse_line(line: str) -> Savepoint | None:
    """A line of the ledger; None for one of another form."""
    when, _, rest = line.partition("  ")
    kind, _, milestone = rest.partition("  ")
    words = (when, kind, milestone.strip())
    if not all(words) or any(" " in word for word in words[:2]):
        return None
    return Savepoint(*words)


def parse_ledger(text: str) -> list[Savepoint]:
    """All lines of the ledger that are of its form."""
    found = (parse_line(line.rstrip()) for line in plain_lines(text).split("\n"))
    return [point for point in found if point is not None]


def read_ledger(folder: Path) -> list[Savepoint]:
    """The ledger of an intent's folder; empty where there is none."""
    data = read_optional(folder / LEDGER) or b""
    return parse_ledger(data.decode("utf-8", "replace"))


def last_stage(ledger: Iterable[Savepoint]) -> Savepoint | None:
    """The newest line that tells of a stage."""
    return next((point for point in reversed(list(ledger)) if point.stage is not None), None)


def add_savepoint(folder: Path, kind: str, milestone: str) -> Savepoint | None:
    """Add a line with the present time, flushed to disk; None where the stage has it already."""
    with folder_locked(folder):
        return append_locked(folder, kind, milestone)


def append_locked(folder: Path, kind: str, milestone: str) -> Savepoint | None:
    """As `add_savepoint`, for who holds the folder's lock."""
    point = Savepoint(utc_now(), kind, one_line(encodable(milestone)))
    if _is_told(read_ledger(folder), point):
        return None
    path = folder / LEDGER
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    try:
        size = os.fstat(handle).st_size
        is_torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        data = (("\n" if is_torn else "") + point.to_line() + "\n").encode()
        while data:
            data = data[os.write(handle, data) :]
        os.fsync(handle)
    finally:
        os.close(handle)
    return point


def rebuild_ledger(folder: Path, ended: Disposition | None = None) -> bool:
    """Put lines that the files tell of, and the ledger lacks, where they belong.

    No line is lost, moved or changed. *ended* is how the index says that the intent ended. A
    missing line's time is its file's. True where something was added.
    """
    with folder_locked(folder):
        text = plain_lines((read_optional(folder / LEDGER) or b"").decode("utf-8", "replace"))
        lines = text.removesuffix("\n").split("\n") if text else []
        whole = weave(lines, _told_by_files(folder, ended))
        if whole == lines:
            return False
        write_atomic(folder / LEDGER, ("\n".join(whole) + "\n").encode())
        return True


def weave(lines: list[str], told: list[Savepoint]) -> list[str]:
    """The ledger's *lines*, and those of *told* that it lacks, before the first later milestone."""
    made = list(lines)
    for at, point in enumerate(told):
        known = [parse_line(line) for line in made]
        if _has((one for one in known if one is not None), point):
            continue
        later = {(one.kind, one.milestone) for one in told[at + 1 :]}
        places = (
            place
            for place, one in enumerate(known)
            if one is not None and ((one.kind, one.milestone) in later or _is_beyond(one, point))
        )
        made.insert(next(places, len(made)), point.to_line())
    return made


def _is_beyond(one: Savepoint, point: Savepoint) -> bool:
    order = list(Stage)
    if one.stage is None or point.stage is None:
        return False
    return order.index(one.stage) > order.index(point.stage)


def _is_told(ledger: list[Savepoint], point: Savepoint) -> bool:
    """Whether a line would say nothing new: an end that more work followed is one again."""
    if point.stage is Stage.DONE:
        newest = last_stage(ledger)
        return newest is not None and _has([newest], point)
    return point.stage is not None and _has(ledger, point)


def _has(ledger: Iterable[Savepoint], point: Savepoint) -> bool:
    return any((one.kind, one.milestone) == (point.kind, point.milestone) for one in ledger)


def _told_by_files(folder: Path, ended: Disposition | None) -> list[Savepoint]:
    document = document_of(folder)
    told: list[tuple[Path | None, Stage, tuple[str, ...]]] = [
        (document, Stage.WHAT, (document.name,) if document else ()),
        (document, Stage.WHY, (STARTED,)),
        (folder / SPEC, Stage.WHY, (created(SPEC),)),
        (folder / SPEC, Stage.HOW, (STARTED,)),
        (folder / PLAN, Stage.HOW, (created(PLAN),)),
        (folder / CHECKLIST, Stage.HOW, (created(CHECKLIST),)),
        (folder / CHECKLIST, Stage.EXEC, (STARTED,)),
        (folder / OUTCOME, Stage.EXEC, (created(OUTCOME),)),
        (folder / OUTCOME, Stage.DONE, () if ended is None else (ended.value,)),
    ]
    return [
        Savepoint(_written(path), stage.value, milestone)
        for path, stage, milestones in told
        for milestone in milestones
        if path is not None and read_real(path) is not None
    ]


def _written(path: Path) -> str:
    moment = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
