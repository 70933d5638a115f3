"""What the live board shows, as a value: a plan, its run's events, and the ends of its logs. Pure.

Units: seconds; timestamps are UTC, RFC 3339.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from qloop.plan.dag import levels, next_wave
from qloop.plan.model import Plan, Status, Story
from qloop.state.journal import Event, EventKind
from qloop.state.pauses import find_pauses
from qloop.system.clock import render_duration
from qloop.ui.history import first_line, parse_moment
from qloop.ui.pauses import render_pauses
from qloop.ui.progress import render_event
from qloop.ui.stages import (
    Stage,
    Work,
    find_gate,
    find_works,
    short_command,
)
from qloop.ui.status import StatusView, StoryView, build_status, explain
from qloop.ui.turns import Logs, LogView, find_turn, landing_queue, render_queue

NOTED = {
    EventKind.DELEGATE_ENDED,
    EventKind.STORY_LANDED,
    EventKind.STORY_SETTLED,
    EventKind.GUARD_BREACHED,
    EventKind.STATE_REPAIRED,
    EventKind.PERSON_CHANGED,
    EventKind.WAVE_RECOGNIZED,
}
RECENT = 6


class State(StrEnum):
    """Where a story stands on the board, the most urgent first."""

    AT_WORK = "at work"
    FAILED = "failed"
    BLOCKED = "blocked"
    READY = "ready"
    WAITING = "waiting"
    PASSED = "passed"


URGENCY = tuple(State)


@dataclass(frozen=True, slots=True)
class Card:
    """One story on the board."""

    id: str
    title: str
    state: State
    level: int
    """Its place in the DAG: 1 needs nothing, others come after what they need."""
    doing: str
    """What it does now, or why it does nothing."""
    wave: str | None = None
    attempt: int | None = None
    """The number of the dispatch at work."""
    seconds: float | None = None
    """Since its dispatch, or what its attempts took."""
    line: str = ""
    """The last line of its agent, or of the gate that judges it."""


@dataclass(frozen=True, slots=True)
class BoardView:
    """A run at one moment."""

    branch: str
    phase: str
    """What the run as a whole does, or how it ended."""
    seconds: float
    slots: int | None
    """How many implementers may be at work at once; None where the run did not say."""
    cards: tuple[Card, ...]
    """The most urgent first."""
    landing: str
    """What the landing queue waits for; empty where it is empty."""
    next_up: tuple[str, ...]
    recent: tuple[str, ...]
    """What happened lately and is worth knowing, newest last."""
    pauses: tuple[str, ...] = ()
    """The runners that pause, and for how long still."""
    notice: str = ""
    """What a person at the terminal must see, whatever else has no room."""

    @property
    def counts(self) -> Mapping[State, int]:
        """How many stories stand where."""
        return Counter(card.state for card in self.cards)


def build_board(
    plan: Plan,
    events: Sequence[Event],
    logs: Logs,
    now: datetime,
    *,
    alive: bool,
) -> BoardView:
    """The board of one run: *events* are that run's, in order; *logs* are by story.

    *alive* tells whether its driver is still there.
    """
    works = find_works(events) if alive else {}
    status = build_status(plan, events, None, None, now, alive=False)
    slots = _slots(events)
    over = not alive or ended_words(events) is not None
    up = [] if over else next_wave(plan, free_slots=slots or 1, running=works)
    return BoardView(
        branch=plan.branch_name,
        phase=_phase(plan, events, alive=alive),
        seconds=_seconds_of(events, now, alive=alive),
        slots=slots,
        cards=_cards(plan, status, works, logs, now, over=over),
        landing=render_queue(plan, landing_queue(works.values()), logs),
        next_up=tuple(story.id for story in up),
        recent=tuple(_recent(events))[-RECENT:],
        pauses=() if over else render_pauses(events, now.timestamp()),
    )


def ended_words(events: Sequence[Event]) -> str | None:
    """How a run ended, in words; None where the journal does not tell."""
    for event in reversed(events):
        if event.event is EventKind.RUN_ENDED:
            return f"ended {event.data.get('signal') or 'without a signal'}"
    return None


def _phase(plan: Plan, events: Sequence[Event], *, alive: bool) -> str:
    ended = ended_words(events)
    if ended is not None or not alive:
        return ended or "gone without an end"
    kinds = {event.event for event in events}
    if find_pauses(events) and not find_works(events):
        return "waits"
    if EventKind.ATTEMPT_STARTED in kinds:
        return "running"
    if plan.test_command and EventKind.GATE_ENDED not in kinds:
        return f"tests the branch first: {short_command(plan.test_command)}"
    return "starting"


def _slots(events: Iterable[Event]) -> int | None:
    for event in events:
        number = event.data.get("max_parallel")
        if event.event is EventKind.RUN_STARTED and isinstance(number, int):
            return number
    return None


def _seconds_of(events: Sequence[Event], now: datetime, *, alive: bool) -> float:
    """Since the run's first event, up to now or, for one that is over, to its newest."""
    if not events:
        return 0.0
    over = not alive or events[-1].event is EventKind.RUN_ENDED
    end = parse_moment(events[-1].ts) if over else now
    return _between(events[0].ts, end)


def _cards(
    plan: Plan,
    status: StatusView,
    works: Mapping[str, Work],
    logs: Logs,
    now: datetime,
    *,
    over: bool,
) -> tuple[Card, ...]:
    level = levels(plan.stories)
    queue = landing_queue(works.values())
    turn = find_turn(plan, queue, logs)
    cards = []
    for story, row in zip(plan.stories, status.stories, strict=True):
        work = works.get(story.id)
        if work is not None and story.status is not Status.PASSED:
            log = logs.get(story.id, LogView())
            card = Card(
                id=story.id,
                title=story.title or "",
                state=State.AT_WORK,
                level=level[story.id],
                doing=_doing(plan, story, work, log, turn),
                wave=work.wave,
                attempt=work.number,
                seconds=_between(work.started, now),
                line=log.line,
            )
        else:
            card = _resting(story, row, status, level[story.id], over=over)
        cards.append(card)
    return tuple(sorted(cards, key=lambda card: URGENCY.index(card.state)))


def _resting(story: Story, row: StoryView, status: StatusView, level: int, *, over: bool) -> Card:
    """A story without an attempt in the journal; one in progress is about to have one."""
    starts = story.status is Status.IN_PROGRESS and not over
    return Card(
        id=story.id,
        title=story.title or "",
        state=_state(row),
        level=level,
        doing="starts" if starts else explain(row, status),
        wave=row.wave,
        seconds=row.seconds or None,
    )


def _state(row: StoryView) -> State:
    match row.status:
        case Status.PASSED:
            return State.PASSED
        case Status.FAILED:
            return State.FAILED
        case Status.BLOCKED | Status.STALE:
            return State.BLOCKED
        case Status.IN_PROGRESS:
            return State.AT_WORK
        case Status.PENDING if row.blocked_by is not None:
            return State.BLOCKED
        case Status.PENDING:
            return State.WAITING if row.waits_for else State.READY


def _doing(plan: Plan, story: Story, work: Work, log: LogView, turn: Work | None) -> str:
    gate = find_gate(plan, story, work.stage, log.names)
    match work.stage:
        case Stage.SET_UP | Stage.JUDGED if gate is not None:
            return gate.label
        case Stage.AGENT | Stage.DELEGATED | Stage.REVIEWED | Stage.MERGED:
            return f"{work.agent} at work"
        case Stage.QUEUED if gate is not None:
            return f"landing, {gate.label}"
        case Stage.QUEUED if turn is work:
            return "landing"
        case Stage.QUEUED:
            return "waits to land" + (f" behind {turn.story}" if turn is not None else "")
        case Stage.TESTED:
            return "landing"
        case Stage.SET_UP | Stage.JUDGED | Stage.LANDED | Stage.ENDING:
            return str(work.stage)


def _recent(events: Sequence[Event]) -> Iterable[str]:
    """The events worth knowing in a line each, with the time since the run began."""
    for event in events:
        if event.event is EventKind.RUN_STARTED:
            yield from map(str, event.data.get("notes") or ())
        elif event.event in NOTED and not _is_usual(event):
            words = first_line(render_event(event))
            if words:
                moment = parse_moment(event.ts)
                yield f"{render_duration(_between(events[0].ts, moment)):>6}  {words}"


def _is_usual(event: Event) -> bool:
    """Whether it went as it should, which the cards tell."""
    return event.data.get("status") == Status.PASSED or event.data.get("green") is True


def _between(earlier: str, later: datetime | None) -> float:
    """Never negative: a wall clock may be set back."""
    moment = parse_moment(earlier)
    if moment is None or later is None:
        return 0.0
    return max(0.0, (later - moment).total_seconds())
