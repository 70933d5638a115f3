"""The mission process: it spawns phase coordinators, one at a time, and nothing else.

It owns the mission's state, budget, questions and warmth, reads no source and starts no agent.
Errors: RepositoryBusy where another process runs the mission; those of its state.
"""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from qloop.mission import flow
from qloop.mission.action_plan import tick_done
from qloop.mission.budget import find_budget_question
from qloop.mission.choosing import PhaseChoice, choose_phase
from qloop.mission.direct_plan import ensure_direct_plan
from qloop.mission.held import check_no_outcome, set_aside_outcome, settle_cut_off
from qloop.mission.intent_end import Ending, check_not_over, end_intent
from qloop.mission.mission_lock import end_dead_runs, take_mission_lock
from qloop.mission.owning import delegated, owning, stage_of
from qloop.mission.phase_call import PhaseCall
from qloop.mission.phase_order import make_order
from qloop.mission.records import MissionRecords
from qloop.repo.checkout import Repository
from qloop.run.config import load_config
from qloop.run.forks import new_run_id
from qloop.run.recover import end_processes
from qloop.state.active import activate
from qloop.state.insights import add_insight
from qloop.state.intents import load_intent
from qloop.state.journal import Journal
from qloop.state.lifecycle import Disposition
from qloop.state.mission import Answer, Checkpoint, Mission, MissionStatus
from qloop.state.mission_feed import append_feed
from qloop.state.phase_events import PhaseEvent
from qloop.state.phases import Autonomy, PhaseName, PhaseStatus
from qloop.state.store import store_for
from qloop.system.clock import monotonic_s, utc_now
from qloop.system.errors import Faults, InputMissing, QloopError
from qloop.system.identity import ProcessId, this_process
from qloop.system.interrupts import Interrupts
from qloop.system.tree import become_subreaper
from qloop.ui.history import first_line

PAGES_EVERY_S = 1.0
"""How often the pages are made anew while a coordinator talks."""

Ask = Callable[[Checkpoint], Answer | None]


@dataclass(frozen=True, slots=True)
class Person:
    """Whoever started the mission."""

    say: Callable[[str], None]
    ask: Ask | None
    """Asks at the terminal; None where nobody is there."""


def run_mission(repository: Repository, records: MissionRecords, person: Person) -> Mission:
    """Take the mission as far as it goes: to its end, a question, or an interrupt."""
    become_subreaper()
    with ExitStack() as undo:
        lock = take_mission_lock(records, person.say)
        undo.callback(os.close, lock)
        if not isinstance(flow.next_step(records.read()), flow.Finish):
            check_not_over(records.folder)
            check_no_outcome(records.folder)
        session = new_run_id("m-")
        is_auto = records.read().autonomy is Autonomy.AUTOPILOT
        undo.enter_context(owning(records.folder, session, is_auto=is_auto))
        activate(records.private, records.folder)
        interrupts = Interrupts()
        undo.callback(interrupts.close)
        told = Person(partial(_tell, records.folder, person.say), person.ask)
        loop = MissionLoop(repository, records, told, interrupts, lock, session)
        return loop.run()


def _tell(folder: Path, say: Callable[[str], None], text: str) -> None:
    """Tell whoever watches, now and later."""
    append_feed(folder, text)
    say(text)


@dataclass(slots=True)
class MissionLoop:
    """A mission at work."""

    repository: Repository
    records: MissionRecords
    person: Person
    interrupts: Interrupts
    lock: int
    session: str
    """As whom it owns the intent."""
    _pages_s: float = 0.0
    """When the pages are due again, on the monotonic clock."""

    def run(self) -> Mission:
        """Step by step, until there is nothing that it may do."""
        mission = self.records.read()
        end_dead_runs(self.records, mission)
        if not isinstance(flow.next_step(mission), flow.Finish):
            settle_cut_off(self.records.folder, self.person.say)
        own = this_process().to_json()
        self.records.change(lambda m: m.model_copy(update={"process": own, **_active(m)}))
        try:
            while self._step():
                pass
        finally:
            mission = self.records.change(_leave)
        return mission

    def _step(self) -> bool:
        """Do what is due; False where the mission stands still or is over."""
        mission = self.records.read()
        if mission.status is MissionStatus.ABANDONED:
            self._end_intent(mission, Disposition.ABANDONED)
        if mission.status.is_over or self.interrupts.count:
            return False
        match flow.next_step(mission):
            case flow.Ask(checkpoint):
                return self._ask(checkpoint)
            case flow.Finish():
                self._end_intent(mission, Disposition.DELIVERED)
                self.records.change(_finish)
                return False
            case flow.Start(phase):
                return self._begin(mission, phase)

    def _ask(self, checkpoint: Checkpoint) -> bool:
        answer = None if self.person.ask is None else self.person.ask(checkpoint)
        if answer is None:
            return False
        self.records.change(lambda m: answer_checkpoint(m, checkpoint.id, answer))
        return True

    def _begin(self, mission: Mission, phase: PhaseName) -> bool:
        if mission.phase(phase).spawns == 0:
            choice = choose_phase(self.repository, mission, phase, self.records.folder)
            if not choice.runs:
                self._skip(choice)
                return True
        spent = self.records.spent(mission)
        asked = find_budget_question(mission, phase, spent.usd, spent.guessed_usd)
        if asked is not None:
            self.records.change(lambda m: asked.put(m, utc_now()))
            self.person.say(asked.text)
            return True
        event, seconds = self._coordinate(mission, phase)
        if self.interrupts.count:
            return False
        self.records.change(lambda m: flow.take_event(m, event, seconds, utc_now()))
        self._tell_end(phase)
        return True

    def _skip(self, choice: PhaseChoice) -> None:
        told = f"{choice.phase} skipped: {choice.reason}"
        self.person.say(told)
        self._note(choice.phase, told)
        if choice.phase is PhaseName.PLANNING:
            ensure_direct_plan(self.records.folder, self.repository.root, self.records.read())
        self.records.change(lambda m: flow.skip_phase(m, choice.phase, choice.reason))

    def _coordinate(self, mission: Mission, phase: PhaseName) -> tuple[PhaseEvent, float]:
        """Let a fresh coordinator do the phase."""
        begin = "r-" if phase is PhaseName.EXECUTION else "p-"
        run_id = new_run_id(begin)
        spent = self.records.spent_usd(mission)
        order = make_order(mission, phase, str(self.records.folder), run_id, spent)
        spawns = mission.phase(phase).spawns + 1
        table = load_config(self.repository.root).phases.get(phase)
        call = PhaseCall(
            order,
            None if table is None else table.command,
            self.lock,
            self.records.folder / "logs" / f"{phase.lower()}-{spawns:03d}.log",
            self._say_below,
            self.interrupts,
            partial(self._end_below, run_id),
        )

        run = mission.phase(phase)
        started = run.model_copy(
            update={
                "status": PhaseStatus.IN_PROGRESS,
                "spawns": spawns,
                "spawn_id": f"phase-{phase.lower()}-{spawns:03d}",
                "run_ids": (*run.run_ids, run_id),
                "spawned_at": utc_now(),
            }
        )
        self.records.change(lambda m: flow.begin_phase(m, started))

        def note(process: ProcessId | None) -> None:
            known = started.model_copy(update={"process": process and process.to_json()})
            self.records.change(lambda m: m.with_phase(known))

        self.person.say(f"{phase}: coordinator {spawns} started")
        with self._delegated(mission, started.spawn_id or run_id, phase) as end:
            event, seconds = call.run(note)
            set_aside_outcome(self.records.folder, phase, self.person.say)
            end(event)
        return event, seconds

    def _delegated(
        self, mission: Mission, spawn: str, phase: PhaseName
    ) -> AbstractContextManager[Callable[[PhaseEvent], None]]:
        stage = stage_of(phase, is_team=mission.is_team)
        return delegated(self.records.folder, self.session, spawn, phase, stage)

    def _end_intent(self, mission: Mission, how: Disposition) -> None:
        intent = load_intent(self.records.folder, mission.id, mission.slug)
        note = mission.phase(PhaseName.EXECUTION).note if how is Disposition.DELIVERED else ""
        ending = Ending(self.records.private, intent, how, note, session=self.session)
        try:
            self._tick_boxes()
            for step in end_intent(ending):
                self.person.say(f"  {step}")
        except QloopError as exc:
            faults = exc.faults if isinstance(exc, Faults) else ()
            self.person.say("; ".join((f"the intent is not over: {exc}", *faults)))

    def _note(self, phase: PhaseName, told: str) -> None:
        """Write down what was decided without asking; without a document nobody would read it."""
        with suppress(InputMissing):
            stage = stage_of(phase, is_team=False)
            add_insight(self.records.folder, told, stage=stage, author="qloop", is_autonomous=True)

    def _tick_boxes(self) -> None:
        """What landed is ticked by its landing, and by nobody's word."""
        quantum = self.records.folder / "quantum.json"
        if not quantum.exists():
            return
        stories = store_for(quantum, self.repository.root).read()["stories"]
        passed = [story["id"] for story in stories if story.get("status") == "passed"]
        ticked = tick_done(self.records.folder, passed)
        if ticked:
            self.person.say(f"  checklist.md: {ticked} ticked")

    def _say_below(self, text: str) -> None:
        self.person.say(f"  {text}")
        if monotonic_s() >= self._pages_s:
            self.records.render(self.records.read())
            self._pages_s = monotonic_s() + PAGES_EVERY_S

    def _tell_end(self, phase: PhaseName) -> None:
        run = self.records.read().phase(phase)
        self.person.say(f"{phase} {run.status}: {first_line(run.note)}")

    def _end_below(self, run_id: str, pid: int) -> None:
        """A coordinator is over, and all that it started with it."""
        journal = Journal(self.records.journal, run_id)
        end_processes(journal, run_id, roots=(pid,), orphans=True)


def answer_checkpoint(mission: Mission, checkpoint_id: str, answer: Answer) -> Mission:
    """The mission with a question answered, once; one that is over stays so."""
    found = next((one for one in mission.checkpoints if one.id == checkpoint_id), None)
    if found is None or found.answer is not None or mission.status.is_over:
        return mission
    return flow.take_answer(mission, found, answer)


def _active(mission: Mission) -> dict[str, MissionStatus]:
    waits = mission.open_checkpoint is not None or mission.status.is_over
    return {} if waits else {"status": MissionStatus.ACTIVE}


def _finish(mission: Mission) -> Mission:
    return mission.model_copy(update={"status": MissionStatus.COMPLETED})


def _leave(mission: Mission) -> Mission:
    stopped = mission.status is MissionStatus.ACTIVE
    update = {"process": None, **({"status": MissionStatus.INTERRUPTED} if stopped else {})}
    return mission.model_copy(update=update)
