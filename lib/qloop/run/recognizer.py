"""The recognizer: one short-lived process that runs the evidence of all that landed once more.

It looks at the line's tip in a scratch worktree of its own, which later recognizers of the run
take over, beside the waves that are at work. What is red runs a second time before it counts. It
moves nothing and writes no state: what it saw goes to the driver.
"""

import shutil
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO

from qloop.plan.model import Plan, Status, parse_plan
from qloop.repo.checkout import Repository
from qloop.repo.line import line_tip
from qloop.run.control import listen
from qloop.run.desk import shown
from qloop.run.gates import GateCancelled, GateResult
from qloop.run.proving import Prover, ScratchSetupFailed
from qloop.run.recognition import (
    Evidence,
    Recognition,
    RecognizeOrder,
    RedCommand,
    being_mended,
    evidence_of,
    sort_out,
)
from qloop.state.journal import EventKind, Journal
from qloop.state.store import Store, store_for
from qloop.system.cancel import Cancel
from qloop.system.clock import monotonic_s
from qloop.system.errors import QloopError

ROOM = "recognizer"
AGAIN = "again"


@dataclass(slots=True)
class Recognizer:
    """One look at a line."""

    order: RecognizeOrder
    store: Store
    cancel: Cancel
    checked: int = 0
    red: list[RedCommand] = field(default_factory=list)
    flaky: list[RedCommand] = field(default_factory=list)

    def run(self) -> Recognition:
        """What is seen. Raises GateCancelled."""
        began, tip, fault = monotonic_s(), None, None
        try:
            plan = self._plan()  # before the tip is read, which then has all that has passed
            tip = line_tip(self._repository, self.order.terms.place.branch)
            for one in evidence_of(plan):
                self._judge(plan, one, tip)
        except ScratchSetupFailed as exc:
            log = f", its output: {shown(exc.log, self.order.terms)}" if exc.log else ""
            fault = f"its worktree could not be set up: {exc}{log}"
        except (QloopError, OSError) as exc:
            fault = str(exc)
        sorted_out = sort_out(self.red, self.order.accepted, self._is_mended)
        return Recognition(
            tip=tip,
            checked=self.checked,
            seconds=round(monotonic_s() - began, 3),
            flaky=tuple(self.flaky),
            fault=fault,
            **sorted_out,
        )

    def _is_mended(self, command: str) -> bool:
        return being_mended(parse_plan(self.store.current()), command)

    def _judge(self, plan: Plan, evidence: Evidence, tip: str) -> None:
        """Run commands that belong together; those that are red once more from the first on."""
        logs = self._logs / evidence.folder
        first = self._run(plan, evidence, tip, logs)
        if first.green:
            shutil.rmtree(logs, ignore_errors=True)  # nobody asks how it was green
            return
        second = self._run(plan, evidence, tip, logs / AGAIN)
        told = first if second.green else second
        found = RedCommand(
            gate=told.name,
            command=told.command,
            line=told.line,
            story=evidence.story,
            logs=tuple(shown(one.log, self.order.terms) for one in (first, second)),
        )
        (self.flaky if second.green else self.red).append(found)

    def _run(self, plan: Plan, evidence: Evidence, tip: str, logs: Path) -> GateResult:
        about = {"QLOOP_WAVE": self.order.wave}
        about |= {} if evidence.story is None else {"QLOOP_STORY": evidence.story}
        prover = Prover(self._repository, self.order.terms, self.cancel, about, room=ROOM)
        results = prover.run_all(plan, evidence.commands, tip, logs)
        self.checked += len(results)
        return results[-1]

    def _plan(self) -> Plan:
        """The plan as it stands, with the stories at least that have passed."""
        outline = self.store.outline()
        if outline is None:
            return parse_plan(self.store.current())
        passed = [one.id for one in outline.stories if one.status is Status.PASSED]
        return parse_plan(self.store.part(passed))

    @property
    def _logs(self) -> Path:
        terms = self.order.terms
        return Path(terms.place.private) / "logs" / "recognized" / terms.run_id / self.order.wave

    @property
    def _repository(self) -> Repository:
        place = self.order.terms.place
        return Repository(root=Path(place.root), git_dir=Path(place.git_dir))


def serve(order: RecognizeOrder, control: IO[str], reports: IO[str], cancel: Cancel) -> None:
    """Look, and tell a driver that holds the other end of *control*; nothing where it stops."""
    place = order.terms.place
    journal = Journal(Path(place.private) / "events.jsonl", order.terms.run_id)
    note = partial(_note_repair, journal, order.wave)
    listen(control, cancel)
    store = store_for(Path(place.quantum), Path(place.root), note)
    try:
        seen = Recognizer(order, store, cancel).run()
        reports.write(seen.model_dump_json() + "\n")
        reports.flush()
    except (GateCancelled, BrokenPipeError):
        return


def _note_repair(journal: Journal, wave: str, text: str) -> None:
    journal.append(EventKind.STATE_REPAIRED, wave=wave, text=text)
