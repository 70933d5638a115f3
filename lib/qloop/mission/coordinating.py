"""One phase, in the process of its coordinator: order in, activity and one event out.

The end of standard input means that the mission is gone: then this process ends as by TERM.
"""

import os
import signal
import threading
from collections.abc import Callable
from typing import IO

from qloop.mission import execution, planning, recon, refinement
from qloop.mission.held import settle_cut_off
from qloop.mission.phase_desk import PhaseDesk
from qloop.mission.phase_order import PhaseOrder
from qloop.repo.checkout import Repository
from qloop.run.config import load_config
from qloop.run.control import read_order
from qloop.run.holder import private_folder
from qloop.state.journal import Journal
from qloop.state.phase_events import PhaseEvent, PhaseFailure, render_activity, render_event
from qloop.state.phases import PhaseName
from qloop.system.clock import monotonic_s
from qloop.system.errors import QloopError
from qloop.system.identity import send_signal, this_process
from qloop.system.interrupts import Interrupts
from qloop.system.tree import become_subreaper

INTERRUPTED = 130
"""The exit code of one that was stopped, or whose mission was gone before it had said its order."""
COORDINATORS: dict[PhaseName, Callable[[PhaseDesk], PhaseEvent]] = {
    PhaseName.RECON: recon.coordinate,
    PhaseName.PLANNING: planning.coordinate,
    PhaseName.EXECUTION: execution.coordinate,
    PhaseName.REFINEMENT: refinement.coordinate,
}


def coordinate_phase(repository: Repository, orders: IO[str], events: IO[str]) -> int:
    """Do the phase that is ordered, and say its event. The exit code is 0 where one was said."""
    began = monotonic_s()
    become_subreaper()
    line = read_order(orders)
    if line is None:
        return INTERRUPTED
    order = PhaseOrder.model_validate_json(line)
    interrupts = Interrupts()
    end_with(orders)
    os.environ["QLOOP_RUN"] = order.run_id
    desk = PhaseDesk(
        order=order,
        repository=repository,
        config=load_config(repository.root),
        journal=Journal(private_folder(repository) / "events.jsonl", order.run_id),
        cancel=interrupts.cancel,
        tell=lambda text: _write(events, render_activity(text)),
        began_s=began,
    )
    event = _coordinate(desk)
    if interrupts.count:
        return INTERRUPTED
    _write(events, render_event(event))
    return 0


def _coordinate(desk: PhaseDesk) -> PhaseEvent:
    """The phase's event; what it could not go on with is a failure that a person can read."""
    try:
        settle_cut_off(desk.folder, desk.tell)
        return COORDINATORS[desk.phase](desk)
    except QloopError as exc:
        reason = "\n".join((*exc.parts, *getattr(exc, "faults", ())))
        return PhaseFailure(phase_id=desk.phase, failure_type=_kind(exc), reason=reason)


def _kind(error: QloopError) -> str:
    name = type(error).__name__
    return "".join(f"_{one.lower()}" if one.isupper() else one for one in name).lstrip("_")


def end_with(orders: IO[str]) -> None:
    """Ask this process to end when the mission that holds the other end is gone."""

    def watch() -> None:
        while orders.readline():
            pass
        send_signal(this_process(), signal.SIGTERM)

    threading.Thread(target=watch, name="mission", daemon=True).start()


def _write(events: IO[str], line: str) -> None:
    events.write(f"{line}\n")
    events.flush()
