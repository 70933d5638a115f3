"""The legacy orchestrator as the driver sees it: one process that takes story after story.

Where it is gone or takes no more, coordinators take over, one for each wave.
Errors: OSError when a process cannot be started.
"""

import os
from dataclasses import dataclass, field

from qloop.run.control import OVER
from qloop.run.launch import Ahead, Launched, launch_orchestrator, send, send_line
from qloop.run.orders import WaveOrder
from qloop.system import process
from qloop.system.tree import Marks, end_tree

FAREWELL_S = 15.0
"""How long it has to end once it was told that there is nothing more to do."""
GRACE_S = 2.0


@dataclass(slots=True)
class Orchestrated:
    """Where the waves of a run go: to the orchestrator, and after it to coordinators."""

    ahead: Ahead
    original_mode: str
    _at_work: Launched | None = field(default=None)
    _handed_over: bool = False

    @property
    def mode(self) -> str:
        """As `execution.mode` tells it."""
        return self.ahead.mode if self._handed_over else self.original_mode

    @property
    def one_by_one(self) -> bool:
        """Whether there is one wave at a time, of one story."""
        return not self._handed_over

    def take(self, order: WaveOrder) -> Launched | None:
        """The process that was set to work on *order*; None where a coordinator is to be started.

        An orchestrator that died between two stories leaves the order unread, and its reports
        end: the wave is settled like any other whose process died.
        """
        if self._handed_over:
            return self.ahead.take(order)
        if self._at_work is None:
            self._at_work = launch_orchestrator(
                self.ahead.place, self.ahead.forks.run_id, self.ahead.inherited
            )
        send(self._at_work.control, order)
        return self._at_work

    def hand_over(self, *, gone: bool) -> None:
        """Have the rest done by coordinators; *gone*: the process is, and was reaped."""
        if gone:
            self._at_work = None
        self._handed_over = True
        self._end_process()

    def end(self) -> None:
        """End the orchestrator, which has nothing to do any more."""
        self._end_process()

    def _end_process(self) -> None:
        one, self._at_work = self._at_work, None
        if one is None:
            return
        send_line(one.control, OVER)
        process.await_exit(one.pid, timeout_s=FAREWELL_S)
        marks = Marks(env=(f"QLOOP_RUN={self.ahead.forks.run_id}",))
        end_tree([one.pid], marks, grace_s=GRACE_S, orphans=True)
        process.kill(one.pid)
        os.close(one.control)
        os.close(one.reports)
