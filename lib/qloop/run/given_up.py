"""What a run starts no more: stories by themselves, and waves that cannot be started."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from qloop.plan.model import Phase
from qloop.run.orders import Failed
from qloop.run.settle import UNCHARGED_IN_A_ROW


@dataclass(slots=True)
class GivenUp:
    """The stories that one run gave up, and what led to it."""

    stories: dict[str, str] = field(default_factory=dict)
    """Those that it starts no more, and why."""
    unpaid: set[str] = field(default_factory=set)
    """Those among them whose own budget has nothing left."""
    stuck: str | None = None
    """Why no wave can be started any more."""
    asks_at_gate: bool = False
    """Whether a person is asked about a story whose agent was stuck at the gate."""
    _uncharged: dict[str, int] = field(default_factory=dict)
    """Uncharged failures in a row, by story."""
    _blocked: dict[tuple[str, ...], int] = field(default_factory=dict)
    """How often a wave of these stories was BLOCKED."""

    def add_unpaid(self, stopped: Mapping[str, str]) -> None:
        """Stories for which there is no money, and why."""
        self.stories |= stopped
        self.unpaid |= stopped.keys()

    def count(self, story: str, failed: Failed | None) -> None:
        """A story that failed three times in a row by no fault of its own waits for a person."""
        if failed is not None and failed.at_gate and self.asks_at_gate:
            self.stories[story] = failed.reason
        if failed is None or failed.charged:
            self._uncharged.pop(story, None)
            return
        if failed.phase is Phase.WAVE_FAILED or failed.hindered:
            return  # another story's breach kept it from starting, or its runner pauses
        count = self._uncharged[story] = self._uncharged.get(story, 0) + 1
        if count >= UNCHARGED_IN_A_ROW:
            self.stories[story] = f"failed {count} times in a row: {failed.reason}"

    def count_blocked(self, stories: tuple[str, ...]) -> None:
        """A wave that is BLOCKED twice is not tried again."""
        count = self._blocked[stories] = self._blocked.get(stories, 0) + 1
        if count > 1:
            self.stuck = f"the wave of {', '.join(stories)} was BLOCKED twice"
