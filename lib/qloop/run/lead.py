"""A wave that an agent leads: it says when each story starts, by the toolkit, and nothing else.

What it does not start is started when it ends, however that is; what it says is compared with the
truth and changes nothing. What its git does to the person's repository is taken back before any
story is told to have settled.
"""

import select
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qloop.plan.model import Plan
from qloop.repo.breach import find_changes, keep_and_undo
from qloop.repo.checkout import Repository
from qloop.repo.line import line_tip
from qloop.repo.person import Snapshot, take_snapshot
from qloop.repo.review_tree import review_tree
from qloop.repo.settings import PersonSettings
from qloop.repo.trace import read_trace
from qloop.run.agent_call import AgentCall, call_agent
from qloop.run.desk import Emit
from qloop.run.lead_brief import lead_brief
from qloop.run.lead_desk import LeadDesk, lead_desk
from qloop.run.lead_door import Door, open_door
from qloop.run.lead_wishes import Wishes
from qloop.run.leaders import COORDINATOR
from qloop.run.orders import Leader, WaveOrder
from qloop.run.settle import disagreement
from qloop.state.journal import EventKind
from qloop.system.cancel import Cancel
from qloop.system.errors import QloopError

FAREWELL_S = 60.0
"""How long the agent may go on once every story of its wave has settled."""


@dataclass(slots=True)
class Lead:
    """The agent at work on one wave."""

    order: WaveOrder
    leader: Leader
    plan: Plan
    """With the wave's stories at least."""
    wishes: Wishes
    emit: Emit
    """Journals an event of the wave."""
    cancel: Cancel
    """The wave's; the agent ends with it."""
    said: str | None = None
    """The signal of its answer."""
    _own: Cancel = field(default_factory=Cancel)
    _thread: threading.Thread | None = None
    _guarding: threading.Lock = field(default_factory=threading.Lock)
    _seen: Snapshot | None = None
    _trace: Path | None = None

    def start(self) -> None:
        """Let the agent lead, in a thread of its own; in the end every story has been started."""
        threading.Thread(target=self._follow, name="lead-cancel", daemon=True).start()
        self._thread = threading.Thread(target=self._lead, name="lead", daemon=True)
        self._thread.start()

    def end(self, landed: frozenset[str]) -> None:
        """Every story has settled: give the agent a while to say so, then end it.

        A signal of its that is not the truth, which *landed* is, is named.
        """
        assert self._thread is not None  # `start` saw to it
        self._thread.join(FAREWELL_S)
        self._own.set("its wave is over")
        self._thread.join()
        told = disagreement(self.said, landed, tuple(one.story for one in self.order.dispatches))
        if told and not self.cancel.is_set:
            self.emit(EventKind.STATE_REPAIRED, text=f"the agent that led {self.order.wave} {told}")

    def check(self) -> None:
        """Take back what the agent's git did to the person's repository since the last look."""
        with self._guarding:
            if self._seen is None or self._trace is None:
                return
            repository, name = self._repository, self.leader.name
            after = take_snapshot(repository)
            changes = find_changes(repository, self._seen, after, name, read_trace(self._trace))
            self._seen = after
            told = keep_and_undo(repository, changes, name)
        if told:
            self.emit(EventKind.GUARD_BREACHED, role=COORDINATOR, reason="\n".join(told))

    def _lead(self) -> None:
        try:
            self._let_work()
        except (QloopError, OSError) as exc:
            self.emit(EventKind.STATE_REPAIRED, text=f"no agent leads {self.order.wave}: {exc}")
        finally:
            left = self.wishes.begin_rest()
            if left and not self.cancel.is_set:
                names = ", ".join(left)
                text = f"the agent that led {self.order.wave} had not started {names}; started now"
                self.emit(EventKind.STATE_REPAIRED, text=text)

    def _let_work(self) -> None:
        place, leader = self.order.terms.place, self.leader
        settings = PersonSettings.from_dict(self.order.terms.settings)
        tip = line_tip(self._repository, place.branch)
        with (
            review_tree(self._repository, settings, Path(place.base), leader.name, tip) as checkout,
            open_door(self.wishes.answer) as door,
        ):
            desk = lead_desk(self.order, leader, checkout, self._introduced(door), self._own, door)
            self._trace, self._seen = desk.trace, take_snapshot(self._repository)
            self.said = call_agent(desk, self._call(desk)).said.signal
            self.check()

    def _call(self, desk: LeadDesk) -> AgentCall:
        leader = self.leader
        return AgentCall(
            role=COORDINATOR,
            prompt=lead_brief(self.order, self.plan, desk.qloop),
            runner=leader.runner,
            model=leader.model,
            timeout_s=leader.timeout_s,
            cwd=desk.workspace.tree,
            checks=("qloop", str(desk.qloop)),
            log_name=f"{self.order.wave}.log",
        )

    def _introduced(self, door: Door) -> Emit:
        """Journals the agent's events, and tells the door who it is when it has been started."""

        def emit(kind: EventKind, **data: Any) -> None:
            if kind is EventKind.AGENT_STARTED:
                door.agent = data["process"]["pid"]
            self.emit(kind, **data)

        return emit

    def _follow(self) -> None:
        look = select.poll()  # which has no largest descriptor
        look.register(self.cancel, select.POLLIN)
        look.poll()
        self._own.set(self.cancel.reason or "the run was stopped")

    @property
    def _repository(self) -> Repository:
        place = self.order.terms.place
        return Repository(root=Path(place.root), git_dir=Path(place.git_dir))
