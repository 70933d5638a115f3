"""The coordinator: one short-lived process, one wave; it says one signal and dies.

It runs the wave's attempts through an executor, writes their reviews, lands what holds one at a
time, and tells the driver each story as it settles. It lands nothing once its pipe is closed.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

from qloop.plan.model import Json, Plan, parse_plan
from qloop.repo.checkout import Repository
from qloop.repo.merging import MergeConflict
from qloop.run import implementer
from qloop.run.afterwards import Afterwards
from qloop.run.attempt import Watch, Work, attempt
from qloop.run.attempt_order import order_attempt
from qloop.run.check_scope import Notes
from qloop.run.check_values import Finding
from qloop.run.checks import WaveChecks
from qloop.run.control import is_hung_up, listen
from qloop.run.desk import Emit
from qloop.run.executor import local_executor
from qloop.run.lander import Lander, state_paths
from qloop.run.lead import Lead
from qloop.run.lead_wishes import Wishes
from qloop.run.orders import (
    Dispatch,
    Outcome,
    Report,
    Settled,
    WaveOrder,
)
from qloop.run.preconditions import unmet_precondition
from qloop.run.records import Records, review_documents
from qloop.run.resolving import resolve
from qloop.run.unlanded import settle_failed, settle_fault
from qloop.run.wave_start import WaveStart
from qloop.state.journal import EventKind, Journal
from qloop.state.store import Store, store_for
from qloop.system.cancel import Cancel
from qloop.system.clock import monotonic_s, utc_now
from qloop.system.errors import QloopError

_Work = Callable[..., Outcome]


@dataclass(slots=True)
class Coordinator:
    """One wave at work."""

    order: WaveOrder
    store: Store
    journal: Journal
    control: IO[str]
    reports: IO[str]
    cancel: Cancel
    halted: threading.Event = field(default_factory=threading.Event)
    findings: list[str | Json] = field(default_factory=list)
    """What the checks found and what went wrong beside the stories, for the wave's entry."""
    settled: list[Settled] = field(default_factory=list)
    """How the wave's stories ended, in that order."""
    lead: Lead | None = None
    """The agent that leads the wave, where one does."""
    work: Work = implementer.work
    _telling: threading.Lock = field(default_factory=threading.Lock)
    _start: WaveStart = field(init=False)

    def __post_init__(self) -> None:
        self._start = WaveStart(self.order)

    def run(self) -> str:
        """Carry out the wave and return the signal to be said."""
        began = utc_now()
        unmet = self._unmet()
        if unmet:
            self._journal(EventKind.STATE_REPAIRED, None, blocked=unmet)
            self.records.end_wave("BLOCKED", began, [unmet])
            return "BLOCKED"
        self.records.reset_reviews()
        self._settle_all()
        landed = {one.story: one.landed for one in self.settled if one.landed is not None}
        if self.lead is not None:
            self.lead.end(frozenset(landed))
        signal = "WAVE_PASSED" if len(landed) == len(self.settled) else "WAVE_FAILED"
        if not self.cancel.is_set:
            self._note(self._checks.findings(self._notes, landed))
        self.records.end_wave(signal, began, self.findings)
        return signal

    def _unmet(self) -> str:
        """The precondition that is not met, in words; empty where all are."""
        try:
            needed = (name for story in self._plan().stories for name in story.depends_on)
            plan = parse_plan(self.store.part([*self._stories, *needed]))
        except QloopError as exc:
            return str(exc)
        return unmet_precondition(plan, self._stories)

    def _settle_all(self) -> None:
        ended: SimpleQueue[tuple[Dispatch, Future[Outcome], float]] = SimpleQueue()
        afterwards = Afterwards()
        with local_executor(len(self.order.dispatches)) as executor:

            def submit(dispatch: Dispatch, since: float, work: _Work, *given: Any) -> None:
                emit, later = self._emitter(dispatch), afterwards.put_off
                watch = Watch(emit, self.cancel, self.halted, later, self.work)
                future = executor.submit(work, dispatch, watch, *given)
                future.add_done_callback(lambda one: ended.put((dispatch, one, since)))

            def begin(dispatch: Dispatch) -> None:
                submit(dispatch, monotonic_s(), self._attempt)

            self._begin(begin)
            left = len(self.order.dispatches)
            try:
                while left:
                    dispatch, future, since = ended.get()
                    conflict = self._settle(dispatch, future, monotonic_s() - since)
                    if conflict is None:
                        left -= 1
                    else:
                        submit(dispatch, since, self._resolve, future.result(), conflict)
                    if ended.empty():
                        afterwards.let_go()  # nobody waits to land
            except BaseException:
                self.cancel.set("the coordinator broke off")  # nobody would hear of the others
                raise
            finally:
                self.findings += afterwards.finish()

    def _begin(self, begin: Callable[[Dispatch], None]) -> None:
        """Begin every story at once, or have the agent that leads the wave do it."""
        leader = self.order.leader
        if leader is None:
            for dispatch in self.order.dispatches:
                begin(dispatch)
            return
        wishes = Wishes(self.order, self.store, self.journal, begin, self.settled)
        emit = partial(self._journal, dispatch=None)
        plan = parse_plan(self.store.part(self._stories))
        self.lead = Lead(self.order, leader, plan, wishes, emit, self.cancel)
        self.lead.start()

    def _attempt(self, dispatch: Dispatch, watch: Watch) -> Outcome:
        start = self._start.held_in(self._repository)
        return attempt(order_attempt(self.order, self.store, dispatch, start), watch)

    def _resolve(
        self, dispatch: Dispatch, watch: Watch, outcome: Outcome, conflict: MergeConflict
    ) -> Outcome:
        order = order_attempt(self.order, self.store, dispatch, conflict.merge.ours)
        return resolve(order, watch, outcome, conflict)

    def _settle(
        self, dispatch: Dispatch, future: Future[Outcome], seconds: float
    ) -> MergeConflict | None:
        """What became of one attempt that ended, told to the driver; a conflict that is open.

        A fault of git or the machine on the way is this story's; the others go on.
        """
        fault = future.exception()
        try:
            if self.lead is not None:
                self.lead.check()
            if fault is not None:
                settled = settle_fault(dispatch, fault)
            else:
                outcome = future.result()
                settled = self._reviewed(dispatch, outcome)
                settled = settled.model_copy(update={"met": outcome.met})
        except MergeConflict as conflict:
            return conflict
        except (QloopError, OSError) as exc:
            settled = settle_fault(dispatch, exc)
        settled = settled.model_copy(update={"seconds": round(seconds, 3)})
        try:
            self.records.write_progress(settled)
        except (QloopError, OSError) as exc:
            self.findings.append(f"{dispatch.story}: its progress is not written: {exc}")
        self.settled.append(settled)
        self.tell(Report(kind="settled", settled=settled))
        return None

    def _reviewed(self, dispatch: Dispatch, outcome: Outcome) -> Settled:
        """Reviews written, and the attempt landed where they and all else are good."""
        emit = self._emitter(dispatch)
        if outcome.breach:
            self.halted.set()
        written = review_documents(outcome, dispatch.attempt)
        if written:
            emit(EventKind.REVIEW_ENDED, review=written)
            self.records.write_reviews(dispatch.story, written)
        if outcome.failed is not None:
            return settle_failed(dispatch, outcome.failed)
        lander = Lander(
            repository=self._repository,
            terms=self.order.terms,
            cancel=self.cancel,
            is_alone=lambda: is_hung_up(self.control),
            read_plan=self._plan,
            queued=lambda: self.tell(Report(kind="queued")),
            taken=lambda: self.tell(Report(kind="landing")),
            object_to=self._object_to,
        )
        return lander.land(dispatch, outcome, emit)

    def _object_to(self, plan: Plan, story: str, commit: str) -> str:
        """What keeps a commit from landing, where the checks of the wave may do that."""
        found = self._checks.objections(plan, story, commit) if self.order.terms.block else []
        self._note(found)
        return "\n".join(one.text for one in found)

    def _note(self, found: list[Finding]) -> None:
        self.findings += [one.to_json() for one in found]

    def _emitter(self, dispatch: Dispatch) -> Emit:
        def emit(kind: EventKind, **data: Any) -> None:
            self._journal(kind, dispatch, **data)

        return emit

    def _journal(self, kind: EventKind, dispatch: Dispatch | None, **data: Any) -> None:
        self.journal.append(
            kind,
            wave=self.order.wave,
            story=dispatch.story if dispatch else None,
            attempt=dispatch.attempt if dispatch else None,
            **data,
        )
        self.tell(Report(kind="event"))

    def tell(self, report: Report) -> None:
        """A line to the driver; a driver that is gone hears nothing, which cancels the wave."""
        with self._telling:
            try:
                self.reports.write(report.model_dump_json() + "\n")
                self.reports.flush()
            except (BrokenPipeError, ValueError):
                self.cancel.set("the driver is gone")

    def _plan(self) -> Plan:
        """The plan with the wave's stories, once what a person saved was taken in or put back."""
        return parse_plan(self.store.part(self._stories))

    def _notes(self) -> Notes:
        """What the checks need to know of all stories."""
        plan, outline = self._plan(), self.store.outline()
        if outline is None:
            plan = parse_plan(self.store.read())
            return Notes(plan.stories, plan.progress)
        return Notes(outline.stories, plan.progress)

    @property
    def _stories(self) -> list[str]:
        return [one.story for one in self.order.dispatches]

    @property
    def _repository(self) -> Repository:
        place = self.order.terms.place
        return Repository(root=Path(place.root), git_dir=Path(place.git_dir))

    @property
    def _checks(self) -> WaveChecks:
        terms = self.order.terms
        return WaveChecks(self._repository, terms.place.branch, self.order.wave, state_paths(terms))

    @property
    def records(self) -> Records:
        """Where this wave's part of the state file is written."""
        return Records(self.order, self.store)


def serve(order: WaveOrder, control: IO[str], reports: IO[str], cancel: Cancel) -> str:
    """Run a wave for a driver that holds the other end of *control*; the signal to say."""
    coordinator = coordinator_for(order, control, reports, cancel)
    listen(control, cancel)
    return coordinator.run()


def coordinator_for(
    order: WaveOrder, control: IO[str], reports: IO[str], cancel: Cancel
) -> Coordinator:
    """The coordinator of a wave; who has it listens to *control* and runs it."""
    place = order.terms.place
    journal = Journal(Path(place.private) / "events.jsonl", order.terms.run_id)
    note = partial(_note_repair, journal, order.wave)
    store = store_for(Path(place.quantum), Path(place.root), note)
    return Coordinator(order, store, journal, control, reports, cancel)


def _note_repair(journal: Journal, wave: str, text: str) -> None:
    journal.append(EventKind.STATE_REPAIRED, wave=wave, text=text)
