"""Handing out stories: their numbers, their slots, the wave's order, and its first step."""

import heapq
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from qloop.plan.model import Plan, Story
from qloop.repo.landing import landing_lock
from qloop.repo.names import attempt_id, attempt_of
from qloop.repo.numbers import highest_attempts
from qloop.run import prepare, recover
from qloop.run.desk import logs_folder
from qloop.run.launch import Source
from qloop.run.leading import led_by_agent
from qloop.run.opening import Opened
from qloop.run.orders import Dispatch, Reserved, WaveOrder
from qloop.run.records import execution_of
from qloop.run.resolvers import MERGES
from qloop.run.reviewers import most_calls
from qloop.run.settle import End
from qloop.run.wave import Wave, start_wave
from qloop.state.journal import EventKind
from qloop.state.ownership import DRIVER
from qloop.system.clock import utc_now
from qloop.system.errors import BadInput, RunnerUnavailable

NOTHING: Mapping[str, tuple[Reserved, ...]] = {}


@dataclass(slots=True)
class Slots:
    """The places for implementers at work, numbered from 0."""

    total: int
    _free: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._free = list(range(self.total))

    @property
    def free(self) -> int:
        """How many places are free."""
        return len(self._free)

    def take(self) -> int:
        """The lowest free place."""
        return heapq.heappop(self._free)

    def release(self, slot: int) -> None:
        """Give a place back."""
        heapq.heappush(self._free, slot)


@dataclass(slots=True)
class Counter:
    """The highest number that each story was ever dispatched under."""

    highest: dict[str, int]

    def peek(self, story: str) -> int:
        """The number that `next` would give."""
        return self.highest.get(story, 0) + 1

    def next(self, story: str) -> int:
        """A number that this story never had."""
        number = self.highest[story] = self.peek(story)
        return number


def read_counter(opened: Opened) -> Counter:
    """Numbers used so far, from the references, the logs and the journal."""
    highest = highest_attempts(opened.repository)

    def seen(story: str, number: int) -> None:
        highest[story] = max(highest.get(story, 0), number)

    for folder in (opened.private / "logs").glob("*/*"):
        if folder.name.isdecimal():
            seen(folder.parent.name, int(folder.name))
    for event in opened.journal.events():
        if event.story is not None and event.attempt is not None:
            seen(event.story, event.attempt)
    return Counter(highest)


def find_refused(opened: Opened, stories: Sequence[Story]) -> dict[str, str]:
    """Stories that cannot be handed out, and why: their runner was changed, or is gone."""
    refused: dict[str, str] = {}
    for story in stories:
        try:
            opened.chooser.choose(story)
        except (BadInput, RunnerUnavailable) as exc:
            refused[story.id] = str(exc)
    return refused


def start(
    opened: Opened,
    plan: Plan,
    stories: Sequence[Story],
    slots: Slots,
    counter: Counter,
    source: Source,
    reserved: Mapping[str, tuple[Reserved, ...]],
) -> Wave:
    """Mark the stories, journal their attempts, and set the wave's process to work.

    *reserved* is what there is for each story's agents.
    """
    number = (plan.execution.current_wave or 0) + 1
    order = hand_out(opened, f"wave-{number}", stories, slots, counter, reserved)
    limit_s = _limit_s(opened, plan, order)
    if opened.wanted.coordinator_agent:
        order, limit_s = led_by_agent(opened, order, number, limit_s)
    _mark(opened, order, number, source.mode)
    wave = start_wave(order, limit_s, (opened.lock,), source)
    opened.journal.append(
        EventKind.WAVE_STARTED,
        wave=order.wave,
        stories=list(wave.stories),
        process=wave.identity(),
    )
    return wave


def hand_out(
    opened: Opened,
    wave_id: str,
    stories: Sequence[Story],
    slots: Slots,
    counter: Counter,
    reserved: Mapping[str, tuple[Reserved, ...]] = NOTHING,
) -> WaveOrder:
    """A wave's order, each of its attempts numbered, named and journaled."""
    dispatches = tuple(
        _dispatch(opened, story, slots.take(), counter, reserved.get(story.id, ()))
        for story in stories
    )
    for one in dispatches:
        logs_folder(opened.terms, one).mkdir(parents=True, exist_ok=True)
        opened.journal.append(
            EventKind.ATTEMPT_STARTED,
            wave=wave_id,
            story=one.story,
            attempt=one.attempt,
            attempt_id=one.attempt_id,
            branch=opened.terms.place.branch,
            runner=one.runner.name,
            model=one.model,
            slot=one.slot,
        )
    return WaveOrder(wave=wave_id, terms=opened.terms, dispatches=dispatches)


def tidy(opened: Opened, wave: Wave, end: End) -> None:
    """Salvage and remove what a coordinator left that is gone; it may have died removing."""
    left = wave.order.dispatches if wave.gone else wave.unsettled.values()
    names = {one.attempt_id for one in left}
    names |= {wave.order.leader.name} if wave.order.leader is not None else set()
    with landing_lock(opened.repository):  # no living coordinator moves the line meanwhile
        told = recover.remove_dead_locks(opened.repository, opened.terms.place.branch)
    told += recover.tidy_workspaces(
        opened.repository, lambda name: attempt_of(name) in names, f"the coordinator {end.how}"
    )
    for text in told:
        opened.journal.append(EventKind.STATE_REPAIRED, wave=wave.wave_id, text=text)


def _dispatch(
    opened: Opened, story: Story, slot: int, counter: Counter, reserved: tuple[Reserved, ...]
) -> Dispatch:
    number = counter.next(story.id)
    chosen = opened.chooser.choose(story)
    return Dispatch(
        story=story.id,
        attempt=number,
        attempt_id=attempt_id(story.id, number, secrets.token_hex(4)),
        runner=chosen.runner,
        model=chosen.model,
        timeout_s=prepare.story_timeout_s(story, opened.wanted, opened.config),
        slot=slot,
        reserved=reserved,
        reviewers=chosen.reviewers,
        resolver=chosen.resolver,
        delegates=chosen.delegates,
    )


def _mark(opened: Opened, order: WaveOrder, number: int, mode: str) -> None:
    """The wave's stories in_progress, with when and where, in one write."""
    ids = {one.story: one for one in order.dispatches}
    now = utc_now()
    base = Path(opened.terms.place.base)
    with opened.store.transaction(DRIVER, ids) as draft:
        for story in draft["stories"]:
            if story.get("id") in ids:
                story["status"] = "in_progress"
                story["startedAt"] = now
        execution = execution_of(draft)
        execution["mode"] = mode if order.leader is None else "coordinator-agent"
        execution["currentWave"] = number
        trees = [str(base / one.attempt_id) for one in order.dispatches]
        execution["activeWorktrees"] = [*(execution.get("activeWorktrees") or []), *trees]


def _limit_s(opened: Opened, plan: Plan, order: WaveOrder) -> float:
    """How long the coordinator may take: as set, or all its stories one after the other."""
    for limit in (opened.wanted.wave_timeout_s, opened.config.wave_timeout):
        if limit is not None:
            return limit
    gate_s = opened.terms.limits.gate_timeout_s
    common = len(plan.setup_commands) + len(plan.quality_commands) + 1
    total = 0.0
    for one in order.dispatches:
        story = plan.story(one.story)
        own = sum(len(task.commands) for task in story.tasks) + len(story.verify) if story else 0
        reviews_s = sum(most_calls(reviewer) * reviewer.timeout_s for reviewer in one.reviewers)
        total += one.timeout_s + gate_s * (common + own) + reviews_s
        if one.delegates:
            total += sum(other.timeout_s for other in one.delegates) + gate_s * (common + own)
        if one.resolver is not None:
            total += MERGES * (one.resolver.timeout_s + gate_s * (common + own))
    return total + 60.0
