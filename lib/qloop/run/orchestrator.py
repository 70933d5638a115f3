"""The legacy orchestrator: one long-lived process that takes a whole feature, story after story.

Each story that the driver hands it goes the way of a wave of one: the same attempt, reviews and
landing as in a coordinator. It gives up where its agent can no longer be relied on to go on.
"""

from functools import partial
from queue import SimpleQueue
from typing import IO

from qloop.plan.model import Phase
from qloop.run.control import OVER, listen
from qloop.run.coordinator import Coordinator, coordinator_for
from qloop.run.feature import Feature
from qloop.run.orders import Report, Settled, WaveOrder
from qloop.system.cancel import Cancel

LOST = {
    Phase.STUCK: "was stuck",
    Phase.TIMEOUT: "ran out of time",
    Phase.CRASH: "crashed",
    Phase.NO_SIGNAL: "ended without a word on its story",
}
"""How an attempt fails after which its agent is not trusted with the next."""


def serve(control: IO[str], reports: IO[str], cancel: Cancel) -> None:
    """Carry out the orders that come in on *control* until there are no more."""
    lines: SimpleQueue[str] = SimpleQueue()
    listen(control, cancel, lines.put)
    feature = Feature(cancel)
    try:
        while (line := lines.get()) != OVER and not cancel.is_set:
            order = WaveOrder.model_validate_json(line)
            coordinator = coordinator_for(order, control, reports, cancel)
            coordinator.work = partial(feature.work, coordinator.store)
            signal = coordinator.run()
            _tell_end(coordinator, signal, feature)
    finally:
        feature.end()


def _tell_end(coordinator: Coordinator, signal: str, feature: Feature) -> None:
    for settled in coordinator.settled:
        feature.tell(settled)
    why = next(filter(None, map(why_give_up, coordinator.settled)), "")
    charged = all(one.failed is None or one.failed.charged for one in coordinator.settled)
    if feature.has_crashed and charged and not why:
        why = LOST[Phase.CRASH]
    coordinator.tell(Report(kind="ended", signal=signal, gives_up=why))


def why_give_up(settled: Settled) -> str:
    """What became of the agent that makes the next story another's; empty where nothing did."""
    return LOST.get(settled.failed.phase, "") if settled.failed is not None else ""
