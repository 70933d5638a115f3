"""An agent's sitting: one process and one worktree that outlast the stories worked on in them.

The agent hands in a story while it lives, so nothing is judged where it could still write: what
it left is salvaged, and put into the attempt's own worktree, which no agent works in.
"""

import threading
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from qloop.agents.roles import ORCHESTRATOR
from qloop.agents.signals import Said
from qloop.plan.model import Phase, parse_plan
from qloop.repo.breach import find_changes, keep_and_undo
from qloop.repo.carry import CarryFailed
from qloop.repo.checkout import Repository
from qloop.repo.guard import GuardTripped, check_guard
from qloop.repo.person import Snapshot, take_snapshot
from qloop.repo.salvage import salvage
from qloop.repo.scratch import clean_to
from qloop.repo.trace import read_trace
from qloop.repo.worksite import Workspace, write_record
from qloop.run.agent_call import AgentCall, Answered, call_agent
from qloop.run.attempt import LONGEST_TRACE_BYTES
from qloop.run.briefing import Briefing, checks_of
from qloop.run.call_end import find_failure
from qloop.run.desk import Desk, shown
from qloop.run.handing_in import Handing
from qloop.run.implementer import ROLE, Claim
from qloop.run.orders import AttemptOrder, Failed
from qloop.run.sitting_desk import SittingDesk
from qloop.run.sitting_rights import may_run
from qloop.state.journal import EventKind
from qloop.state.store import Store
from qloop.system.cancel import Cancel
from qloop.system.clock import monotonic_s, render_duration
from qloop.system.liveness import Vigil
from qloop.system.masking import mask_file

FAREWELL_S = 5.0
NO_LIMIT_S = 1e9

_LOG = "output.log"


@dataclass(slots=True)
class Sitting:
    """One agent at work on story after story."""

    repository: Repository
    desk: SittingDesk
    store: Store
    seen: Snapshot
    """The person's repository when the agent was last looked after."""
    undo: ExitStack
    """What is to be closed when it is over."""
    handing: Handing = field(default_factory=Handing)
    keeps: bool = True
    """The worktree holds what the story at work goes on from."""
    answered: Answered | None = None
    fault: BaseException | None = None
    _process: dict[str, Any] = field(default_factory=dict)
    _thread: threading.Thread | None = None
    _stop: Cancel = field(default_factory=Cancel)
    _log: Path | None = None
    _trace: Path | None = None
    _read_bytes: int = 0

    @property
    def is_at_work(self) -> bool:
        """Whether its process runs."""
        return self._thread is not None and self.answered is None and self.fault is None

    @property
    def has_crashed(self) -> bool:
        """Whether its process ended otherwise than well."""
        ended = self.answered.ended if self.answered is not None else None
        return self.fault is not None or (ended is not None and ended.code != 0)

    def work(self, desk: Desk, order: AttemptOrder) -> Claim:
        """Have the story of *desk* worked on until it is handed in; its work is then in *desk*'s
        worktree.
        """
        self._turn_to(desk, order)
        story = order.read_story()
        self.desk.write_story(order.story)
        text = Briefing.of_order(order).render(story, ORCHESTRATOR)
        self.handing.give(story.id, text)
        if self.is_at_work:
            self._tell_start(desk)
        else:
            self._begin(desk, text, checks_of(order.commands.quality, story))
        began = monotonic_s()
        said, failed = self._await(desk)
        self._tell_end(desk, said, failed, monotonic_s() - began)
        return self._bring(desk, failed)

    def end(self) -> None:
        """Tell the agent that there is nothing more, end it, and remove its worktree."""
        self.handing.close()
        if self._thread is not None:
            self._thread.join(FAREWELL_S)
            self._stop_agent("the feature is over")
        self.undo.close()

    def _turn_to(self, desk: Desk, order: AttemptOrder) -> None:
        """The worktree for this attempt: as it was for another try, else at the start."""
        ws, dispatch = self.desk.workspace, desk.dispatch
        same = self.desk.dispatch.story == dispatch.story and ws.start == order.start
        if not (self.keeps and same):
            ws = _moved(ws, order.start, f"ql-wt/{dispatch.story}")
        ws = replace(ws, holds=dispatch.attempt_id)
        write_record(ws)
        self.desk = replace(
            self.desk,
            wave=desk.wave,
            dispatch=dispatch,
            workspace=ws,
            emit=desk.emit,
            tickets=desk.tickets,
        )

    def _begin(self, desk: Desk, text: str, checks: tuple[str, ...]) -> None:
        self._stop, self._log, self._read_bytes = Cancel(), desk.logs / _LOG, 0
        self._trace = self.desk.trace
        self.answered = self.fault = None
        dispatch, plan = desk.dispatch, parse_plan(self.store.current())
        call = AgentCall(
            role=ROLE,
            prompt=text,
            runner=dispatch.runner,
            model=dispatch.model,
            timeout_s=NO_LIMIT_S,
            cwd=self.desk.workspace.tree,
            checks=may_run(plan, self.desk.programs, checks),
            is_watched=False,
        )
        own = replace(self.desk, emit=self._note, cancel=self._stop)
        self._thread = threading.Thread(target=self._call, args=(own, call), name="sitting")
        self._thread.start()

    def _call(self, desk: Desk, call: AgentCall) -> None:
        try:
            self.answered = call_agent(desk, call)
        except BaseException as fault:  # noqa: BLE001 -- raised where the story is waited for
            self.fault = fault
        finally:
            self.handing.wake()

    def _note(self, kind: EventKind, **data: Any) -> None:
        """Journal what the process does; its end is told story by story."""
        if kind is EventKind.AGENT_STARTED:
            self._process = data
        if kind is not EventKind.AGENT_ENDED:
            self.desk.emit(kind, **data)

    def _await(self, desk: Desk) -> tuple[Said | None, Failed | None]:
        """The word on the story, and why it failed, if it did; the agent may go on living."""
        limits, limit_s = desk.terms.limits, desk.dispatch.timeout_s
        deadline = monotonic_s() + limit_s
        ws, log = self.desk.workspace, shown(desk.logs / _LOG, desk.terms)
        vigil = Vigil((), self.desk.marks, ws.tree, limits.stale_after_s, self._printed_bytes)
        while True:
            left_s = max(0.0, deadline - monotonic_s())
            said = self.handing.await_word(
                min(left_s, vigil.pause_s), lambda: not self.is_at_work or desk.cancel.is_set
            )
            if said is not None:
                return said, _failure_of(said, log)
            if desk.cancel.is_set:
                self._stop_agent("the run was stopped")
                return None, Failed.interrupted(log=log)
            if not self.is_at_work:
                return self._ended(desk, log)
            if monotonic_s() >= deadline:
                reason = f"the agent ran longer than its limit of {render_duration(limit_s)}"
                return None, self._give_up(Failed(phase=Phase.TIMEOUT, reason=reason, log=log))
            if vigil.is_stuck():
                limit = render_duration(limits.stale_after_s)
                reason = f"the agent was stuck: for {limit} it did nothing at all"
                return None, self._give_up(Failed(phase=Phase.STUCK, reason=reason, log=log))

    def _ended(self, desk: Desk, log: str) -> tuple[Said | None, Failed | None]:
        """The end of the process is its word on the story that it had."""
        if self.fault is not None:
            raise self.fault
        assert self.answered is not None  # it is not at work any more
        return self.answered.said, find_failure(desk, self.answered, log)

    def _give_up(self, failed: Failed) -> Failed:
        self._stop_agent(failed.reason)
        return failed

    def _stop_agent(self, reason: str) -> None:
        if self._thread is not None:
            self._stop.set(reason)
            self._thread.join()

    def _printed_bytes(self) -> int:
        return self._log.stat().st_size if self._log is not None and self._log.exists() else 0

    def _tell_start(self, desk: Desk) -> None:
        desk.emit(EventKind.AGENT_STARTED, **{**self._process, "start": self.desk.workspace.start})

    def _tell_end(
        self, desk: Desk, said: Said | None, failed: Failed | None, seconds: float
    ) -> None:
        ended = None if self.is_at_work or self.answered is None else self.answered.ended
        phase = failed.phase if failed is not None else None
        desk.emit(
            EventKind.AGENT_ENDED,
            role=ROLE,
            runner=desk.dispatch.runner.name,
            code=0 if ended is None else ended.code,
            signal=said.signal if said is not None else None,
            seconds=round(seconds, 3),
            timed_out=phase is Phase.TIMEOUT,
            stuck=phase is Phase.STUCK,
            survivors=[] if ended is None else [one.pid for one in ended.survivors],
        )
        self._copy_output(desk)

    def _copy_output(self, desk: Desk) -> None:
        """What the agent printed on this story, into its own log; the first one has it already."""
        target = desk.logs / _LOG
        if self._log is None or not self._log.exists():
            return
        with self._log.open("rb") as source:
            source.seek(self._read_bytes)
            data = source.read(desk.terms.limits.log_bytes)
            self._read_bytes = source.tell()
        if target != self._log:
            target.write_bytes(data)

    def _bring(self, desk: Desk, failed: Failed | None) -> Claim:
        """Keep what there is, look after the person's repository, and hand the work over."""
        ws, dispatch = self.desk.workspace, desk.dispatch
        why = failed.reason if failed is not None else "handed in"
        broken = ""
        try:
            kept = salvage(ws, self.repository, dispatch.story, dispatch.attempt, why)
            check_guard(ws, self.repository)
        except (CarryFailed, GuardTripped) as exc:
            broken = str(exc)
        else:
            desk.workspace.git.run("reset", "--quiet", "--hard", kept.tip)
        breach = "\n".join(filter(None, [broken, *self._look_after(desk)]))
        if breach:
            desk.emit(EventKind.GUARD_BREACHED, reason=breach)
        return Claim(failed, shown(desk.logs / _LOG, desk.terms), breach=breach, mark=ws.name)

    def _look_after(self, desk: Desk) -> tuple[str, ...]:
        """Take back what bears the sitting's mark in the person's repository; a sentence on each.

        From the last look on: an agent that waits for a verdict may do things as well.
        """
        trace, mark = self._trace or self.desk.trace, self.desk.mark
        after = take_snapshot(self.repository)
        changes = find_changes(self.repository, self.seen, after, mark, read_trace(trace))
        told = keep_and_undo(self.repository, changes, mark)
        mask_file(trace, desk.secrets(), LONGEST_TRACE_BYTES)
        if trace.exists():  # what was asked once does not mark what happens later
            trace.replace(trace.with_name(f"{trace.stem}.{desk.dispatch.story}.jsonl"))
        self.seen = after
        return told


def _moved(ws: Workspace, start: str, branch: str) -> Workspace:
    clean_to(ws, start)
    ws.git.run("checkout", "--quiet", "-B", branch)
    ws.first_index.unlink(missing_ok=True)  # it tells of another start
    return replace(ws, start=start, branch=branch)


def _failure_of(said: Said, log: str) -> Failed | None:
    why = f": {said.why}" if said.why else ""
    match said.signal:
        case "STORY_PASSED":
            return None
        case "BLOCKED":
            return Failed(phase=Phase.AGENT_BLOCKED, reason=f"the agent said BLOCKED{why}", log=log)
        case _:
            reason = f"the agent said STORY_FAILED{why}"
            return Failed(phase=Phase.AGENT_FAILED, reason=reason, log=log)
