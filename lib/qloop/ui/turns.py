"""The landing queue: which attempts wait to land, and whose turn it is. Pure.

The journal does not tell who has the turn; who is tested on the merged tree has it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from qloop.plan.model import Plan, Story
from qloop.ui.stages import Stage, Work, find_gate


@dataclass(frozen=True, slots=True)
class LogView:
    """An attempt's logs: their names, and the last line of the one that grows."""

    names: frozenset[str] = frozenset()
    line: str = ""


Logs = Mapping[str, LogView]
"""By story."""


def landing_queue(works: Iterable[Work]) -> list[Work]:
    """The attempts that wait to land, or are about to, in the order in which they came."""
    stages = (Stage.QUEUED, Stage.TESTED)
    queue = [work for work in works if work.stage in stages]
    return sorted(queue, key=lambda work: (work.stage is not Stage.TESTED, work.since))


def find_turn(plan: Plan, queue: Sequence[Work], logs: Logs) -> Work | None:
    """The attempt that lands now: tested, being tested, alone, or the first where nothing tests.

    None where that cannot be told: the one in its turn is being merged.
    """
    for work in queue:
        if work.stage is Stage.TESTED or _is_tested(plan, work, logs):
            return work
    return queue[0] if len(queue) == 1 or (queue and plan.test_command is None) else None


def render_queue(plan: Plan, queue: Sequence[Work], logs: Logs) -> str:
    """What the landing queue waits for, in a clause; empty where it is empty."""
    if not queue:
        return ""
    turn = find_turn(plan, queue, logs)
    behind = ", ".join(work.story for work in queue if work is not turn)
    if turn is None:
        return f"{behind} wait for their turn"
    how = "moves the line"
    if turn.stage is Stage.QUEUED:
        tested = _is_tested(plan, turn, logs)
        how = "is tested on the merged tree" if tested else "is merged"
    return f"{turn.story} {how}" + (f", behind it {behind}" if behind else "")


def _is_tested(plan: Plan, work: Work, logs: Logs) -> bool:
    """Whether the test of what would land is under way."""
    names = logs.get(work.story, LogView()).names
    return find_gate(plan, Story(id=work.story), work.stage, names) is not None
