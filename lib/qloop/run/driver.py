"""The driver: the only owner of story status; it believes git and its own eyes.

It starts a wave wherever a slot and a ready story exist, settles each story as soon as that is
told and true, and ends when nothing can run. Waiting is for pipes, processes and signals; there
are no periodic wake-ups.
"""

import selectors
from collections.abc import Callable
from dataclasses import dataclass, field

from qloop.plan.frontier import Frontier
from qloop.plan.model import Plan, Story
from qloop.plan.outline import StoryOutline
from qloop.run import dispatch, ledger
from qloop.run.affording import afford
from qloop.run.base import gate_base
from qloop.run.ending import Ending, Halt, conclude
from qloop.run.given_up import GivenUp
from qloop.run.launch import Source
from qloop.run.opening import Opened
from qloop.run.orders import Reserved, Settled
from qloop.run.pausing import Pausing
from qloop.run.purse import RAISE_IT
from qloop.run.recognizing import Recognizing
from qloop.run.settle import OUT_OF_TIME, STOPPED, End, disagreement, settle
from qloop.run.wave import Wave
from qloop.system.clock import monotonic_s
from qloop.system.interrupts import Interrupts

DRAIN_S = 10.0
STOP_S = 20.0
AT_ONCE_S = 0.5
LONGEST_SLEEP_S = 86_400.0


@dataclass(slots=True)
class Driver:
    """One run of the outer loop."""

    opened: Opened
    interrupts: Interrupts
    on_progress: Callable[[], None]
    on_interrupt: Callable[[int], None]
    """Told how often the run was interrupted while waves are at work."""
    slots: dispatch.Slots
    counter: dispatch.Counter
    source: Source
    """Where the processes come from that work on waves."""
    pausing: Pausing
    recognizing: Recognizing
    frontier: Frontier[StoryOutline]
    """What may start."""
    given_up: GivenUp
    """What may not."""
    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    waves: dict[str, Wave] = field(default_factory=dict)
    """Those at work, by id."""
    started: int = 0
    gated: bool = False
    """The base was proved, or need not be."""
    waiting: str | None = None
    """What a person must decide before anything more can start."""
    heard: int = 0
    """Interrupts that were acted on."""
    kill_at: float | None = None
    """When what still runs is ended, on the monotonic clock."""

    def run(self) -> Ending:
        """Drive waves until nothing can run any more."""
        alarm = self.pausing.alarm
        try:
            self.selector.register(self.interrupts, selectors.EVENT_READ, self._interrupted)
            self.selector.register(alarm, selectors.EVENT_READ, alarm.clear)
            while True:
                self.pausing.end_due()
                self._dispatch()
                self._recognize()
                is_idle = not (self.waves or self.recognizing.pids)
                if is_idle and self._resumes_at() is None:
                    return self._ending()
                self._wait()
        except BaseException:
            for wave in self.waves.values():
                wave.end_tree(STOPPED, grace_s=AT_ONCE_S)
            self.recognizing.end()
            raise
        finally:
            self.selector.close()
            alarm.close()
            self.source.end()

    def _may_go_on(self) -> bool:
        """Whether another wave may be started, now or later."""
        # The count, and not what the loop has heard of it: opening and gates take their time.
        if self.interrupts.count or self.waiting or self.recognizing.red:
            return False
        if self.given_up.stuck or self.pausing.refused:
            return False
        wanted = self.opened.wanted
        return wanted.max_iterations is None or self.started < wanted.max_iterations

    def _may_dispatch(self) -> bool:
        if not self._may_go_on():
            return False
        wanted = self.opened.wanted
        strict = wanted.strict_waves or self.slots.total == 1 or self.source.one_by_one
        if self.recognizing.keeps_back(strict=wanted.strict_waves):
            return False
        return not (strict and self.waves) and self.slots.free > 0

    def _dispatch(self) -> None:
        """Start waves while there are stories and slots for them."""
        while self._may_dispatch():
            plan = self.opened.outline()
            self.frontier.follow(plan)
            picked = self.frontier.next_wave(
                free_slots=1 if self.source.one_by_one else self.slots.free,
                running=self._at_work(),
                excluded={*self.given_up.stories, *self.pausing.held(plan)},
            )
            if not picked:
                return
            if not self.gated:
                self._gate()
                continue
            part = self.opened.chosen([one.id for one in picked])
            stories = [story for one in picked if (story := part.story(one.id)) is not None]
            refused = dispatch.find_refused(self.opened, stories)
            if refused:
                self.given_up.stories |= refused
                continue
            found = afford(self.opened, stories, self.counter)
            self.given_up.add_unpaid(found.stopped)
            if found.granted:
                self._start(part, stories, found.granted)
            elif found.refused is not None:
                if not (self.waves and found.refused.may_change):
                    self.waiting = f"{found.refused.text}; {RAISE_IT}"
                return

    def _gate(self) -> None:
        """Prove the base before anything is built on it."""
        whole = self.opened.chosen(())
        self.waiting = gate_base(self.opened, whole, self.interrupts.cancel)
        self.gated = True
        self.on_progress()

    def _recognize(self) -> None:
        """Have what has landed looked at once more, beside all else."""
        if not self.recognizing.is_due or self.interrupts.count:
            return
        if not self.gated:
            self._gate()
        if self.waiting and not self.started:
            self.recognizing.drop()  # a base that cannot be built on says enough
        else:
            self.recognizing.begin(self.selector, self._coordinators)

    def _coordinators(self) -> set[int]:
        return {wave.pid for wave in self.waves.values()}

    def _start(
        self, plan: Plan, stories: list[Story], paid: dict[str, tuple[Reserved, ...]]
    ) -> None:
        """Start a wave of the stories that are paid for."""
        chosen = [story for story in stories if story.id in paid]
        wave = dispatch.start(
            self.opened, plan, chosen, self.slots, self.counter, self.source, paid
        )
        self.started += 1
        self.waves[wave.wave_id] = wave
        self.selector.register(wave.reports, selectors.EVENT_READ, lambda: self._hear(wave))
        self.on_progress()

    def _resumes_at(self) -> float | None:
        """On the monotonic clock, when more can start because a pause ends; None for never."""
        if not self.pausing.pauses.by_runner or not self._may_go_on():
            return None
        return self.pausing.next_end(self.opened.outline(), self.given_up.stories)

    def _wait(self) -> None:
        """Sleep until something happens or a limit is reached, then act on it."""
        limits = [limit for wave in self.waves.values() if (limit := wave.deadline()) is not None]
        limits += [at for at in (self.kill_at, self._resumes_at()) if at is not None]
        timeout = min(LONGEST_SLEEP_S, max(0.0, min(limits) - monotonic_s())) if limits else None
        for key, _ in self.selector.select(timeout):
            key.data()
        now = monotonic_s()
        for wave in list(self.waves.values()):
            limit = wave.deadline()
            if limit is not None and now >= limit:
                self._listen(wave)  # what it told before its end began still counts
                wave.end_tree(OUT_OF_TIME)
            elif self.kill_at is not None and now >= self.kill_at:
                self._listen(wave)
                wave.end_tree(STOPPED, grace_s=AT_ONCE_S)
        if self.kill_at is not None and now >= self.kill_at:
            self.recognizing.end()

    def _interrupted(self) -> None:
        """Once: start nothing, give what runs a short time. Twice: end it now."""
        self.interrupts.clear()
        if self.interrupts.count == 0:
            return
        first, self.heard = self.heard == 0, self.interrupts.count
        self.on_interrupt(self.heard)
        self.recognizing.stop()
        word = f"drain {DRAIN_S:g}" if first and self.heard == 1 else "stop"
        self._wind_up(word, DRAIN_S + STOP_S if self.heard == 1 else 1.0)

    def _wind_up(self, word: str, within_s: float) -> None:
        """Have what runs come to an end; what has not by then is ended."""
        for wave in self.waves.values():
            wave.tell(word)
        self.kill_at = monotonic_s() + within_s

    def _listen(self, wave: Wave) -> None:
        for report in wave.read_reports():
            if report.settled is not None:
                self._settle(wave, report.settled.story, report.settled, wave.end_so_far())
        self.on_progress()

    def _hear(self, wave: Wave) -> None:
        self._listen(wave)
        if wave.gone:
            self._end(wave, wave.close(self._coordinators() | self.recognizing.pids))
        elif wave.over is not None:
            self._end(wave, wave.leave(wave.over))

    def _end(self, wave: Wave, end: End) -> None:
        """A wave is over: settle what it left, and check its word against the truth."""
        self.selector.unregister(wave.reports)
        del self.waves[wave.wave_id]
        if end.signal == "BLOCKED" and end.cause is None:
            self._blocked(wave)
        elif wave.unsettled or (wave.gone and end.signal is None):
            dispatch.tidy(self.opened, wave, end)
            for story in list(wave.unsettled):
                self._settle(wave, story, None, end)
        told = disagreement(end.signal, frozenset(wave.landed), wave.stories)
        ledger.end_wave(self.opened, wave, end, told)
        self.recognizing.note_end(wave)
        why = end.how if wave.gone else wave.over.gives_up if wave.over else ""
        if wave.lasting and why:
            self.source.hand_over(gone=wave.gone)
            if not self.interrupts.count:
                ledger.note_hand_over(self.opened, wave, why)
        self.on_progress()

    def _settle(self, wave: Wave, story: str, told: Settled | None, end: End | None) -> None:
        one = wave.unsettled.pop(story, None)
        if one is None:
            return
        landed = ledger.find_landed(self.opened, one)
        if landed is not None and told is None:
            ledger.fill_records(self.opened, one)
        self.opened.purse.close(one, died=told is None)
        told = self.pausing.charge(told)
        settlement = settle(landed, told, end)
        ledger.write_settlement(self.opened, wave.wave_id, one, settlement, landed, told)
        self.slots.release(one.slot)
        if landed is not None:
            wave.landed.add(story)
        if told is not None and told.waiting is not None:
            self.waiting = told.waiting
        self.given_up.count(one.story, settlement.failed)
        if self.pausing.note(one.runner.name, settlement.failed, told.met if told else ()):
            self._wind_up("stop", STOP_S)

    def _blocked(self, wave: Wave) -> None:
        """The coordinator found a precondition unmet: its stories are pending again."""
        for one in list(wave.unsettled.values()):
            self.opened.purse.close(one, died=False)
            ledger.write_back(self.opened, one)
            self.slots.release(one.slot)
        wave.unsettled.clear()
        self.given_up.count_blocked(wave.stories)

    def _at_work(self) -> list[str]:
        return [story for wave in self.waves.values() for story in wave.unsettled]

    def _ending(self) -> Ending:
        plan = self.opened.outline()
        halt = Halt(
            interrupted=self.interrupts.count > 0,
            refused=self.pausing.refused,
            waiting=self.waiting,
            red=self.recognizing.red,
            given_up=self.given_up,
            pauses=self.pausing.reasons(plan, self.given_up.stories),
            started=self.started,
            may_start=self._may_go_on(),
        )
        return conclude(plan, halt).noting(self.recognizing.unseen)
