"""Having a wave led by an agent: its order says so, and its limit leaves room for that."""

import secrets

from qloop.repo.names import attempt_id
from qloop.run.leaders import COORDINATOR, pick_leader
from qloop.run.opening import Opened
from qloop.run.orders import WaveOrder
from qloop.system.errors import BadInput, RunnerUnavailable


def led_by_agent(
    opened: Opened, order: WaveOrder, number: int, limit_s: float
) -> tuple[WaveOrder, float]:
    """The order with its leader, and the wave's limit.

    The agent has as long as the stories would take one after the other, and the wave as long again
    for those that it did not start; a limit that a person set is shared by both. A runner that is
    gone or pauses leads nothing: the wave goes its usual way.
    """
    name = attempt_id(COORDINATOR, number, secrets.token_hex(4))
    is_set = (opened.wanted.wave_timeout_s or opened.config.wave_timeout) is not None
    own_s = limit_s / 2 if is_set else limit_s
    try:
        leader = pick_leader(opened.wanted, opened.config, opened.repository.root, name, own_s)
    except (BadInput, RunnerUnavailable):
        return order, limit_s
    if leader.runner.name in opened.chooser.paused:
        return order, limit_s
    led = order.model_copy(update={"leader": leader})
    return led, limit_s if is_set else 2 * limit_s
