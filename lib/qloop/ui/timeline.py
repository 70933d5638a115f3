"""Which attempt was at work when, and in which slot: the values that a timeline is drawn from.

Pure. Units: seconds since the run's first event.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from qloop.state.journal import Event, EventKind
from qloop.system.clock import parse_utc
from qloop.ui.history import parse_moment

UNSETTLED = "unsettled"
"""The status of an attempt that ended without a verdict, or has not ended."""


class Bar(BaseModel):
    """An attempt at work."""

    model_config = ConfigDict(frozen=True)

    story: str
    attempt: int
    wave: str | None
    row: int
    """The slot that it took, as a row of the drawing."""
    start_s: float
    end_s: float
    status: str
    """`passed`, `failed`, or UNSETTLED."""
    phase: str | None
    """Where it failed."""


class Timeline(BaseModel):
    """One run's attempts."""

    model_config = ConfigDict(frozen=True)

    run: str
    started_at: str
    seconds: float
    slots: tuple[int, ...]
    """The slots that were used, one for each row, counted from 0."""
    bars: tuple[Bar, ...]


@dataclass(slots=True)
class _Work:
    """An attempt, as far as the events have come."""

    event: Event
    slot: int
    start_s: float
    end_s: float | None = None
    status: str = UNSETTLED
    phase: str | None = None


@dataclass(slots=True)
class _Board:
    """The attempts of a run while its events are read."""

    zero: datetime
    works: dict[tuple[str, int], _Work] = field(default_factory=dict)
    last_s: float = 0.0

    def read(self, event: Event) -> None:
        """Take in what an event says."""
        moment = parse_moment(event.ts)
        if moment is not None:
            self.last_s = max(self.last_s, (moment - self.zero).total_seconds())
        key = (event.story or "", event.attempt or 0)
        if event.event is EventKind.ATTEMPT_STARTED:
            self.works[key] = _Work(event, self._slot(event), self.last_s)
        elif event.event is EventKind.STORY_SETTLED and key in self.works:
            work = self.works[key]
            work.end_s = self.last_s
            work.status = "passed" if event.data.get("status") == "passed" else "failed"
            phase = event.data.get("phase")
            work.phase = phase if isinstance(phase, str) else None
        elif event.event is EventKind.WAVE_ENDED:
            for work in self._open():
                if work.event.wave == event.wave:
                    work.end_s = self.last_s

    def _open(self) -> Iterable[_Work]:
        return (work for work in self.works.values() if work.end_s is None)

    def _slot(self, event: Event) -> int:
        """The slot as the journal tells it; older journals do not: then the lowest one free."""
        told = event.data.get("slot")
        if isinstance(told, int) and not isinstance(told, bool):
            return told
        taken = {work.slot for work in self._open()}
        return next(slot for slot in range(len(taken) + 1) if slot not in taken)


def build_timeline(events: Sequence[Event]) -> Timeline | None:
    """The timeline of one run's events, which are in order; None where there was no attempt."""
    if not events or parse_moment(events[0].ts) is None:
        return None
    board = _Board(parse_utc(events[0].ts))
    for event in events:
        board.read(event)
    if not board.works:
        return None
    slots = tuple(sorted({work.slot for work in board.works.values()}))
    rows = {slot: row for row, slot in enumerate(slots)}
    return Timeline(
        run=events[0].run,
        started_at=events[0].ts,
        seconds=board.last_s,
        slots=slots,
        bars=tuple(_bar(work, rows[work.slot], board.last_s) for work in board.works.values()),
    )


def _bar(work: _Work, row: int, last_s: float) -> Bar:
    return Bar(
        story=work.event.story or "?",
        attempt=work.event.attempt or 0,
        wave=work.event.wave,
        row=row,
        start_s=work.start_s,
        end_s=last_s if work.end_s is None else work.end_s,
        status=work.status,
        phase=work.phase,
    )
