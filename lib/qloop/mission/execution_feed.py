"""EXECUTION as a mission's feed shows it: a line for each story that moves. Pure but for its voice.

It tells of stories, not of what their agents do.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from qloop.plan.model import Status
from qloop.plan.outline import Outline
from qloop.state.journal import Event, EventKind
from qloop.ui.history import first_line
from qloop.ui.red_waves import holds_words

MOST_WAITING = 20
"""So many stories that wait are told of at once."""


@dataclass(slots=True)
class Feed:
    """What was told of one run."""

    run_id: str
    tell: Callable[[str], None]
    needs: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What each story that has not passed waits for."""

    @classmethod
    def of(cls, run_id: str, plan: Outline, tell: Callable[[str], None]) -> "Feed":
        """A feed of a run that begins with *plan*."""
        passed = {one.id for one in plan.stories if one.status is Status.PASSED}
        needs = {
            one.id: tuple(name for name in one.depends_on if name not in passed)
            for one in plan.stories
            if one.id not in passed
        }
        return cls(run_id, tell, needs)

    def begin(self) -> None:
        """Tell what waits on what."""
        waiting = [(story, needs) for story, needs in self.needs.items() if needs]
        for story, needs in waiting[:MOST_WAITING]:
            self.tell(f"{story} waits on {', '.join(needs)}")
        if len(waiting) > MOST_WAITING:
            self.tell(f"{len(waiting) - MOST_WAITING} more wait on others")

    def take(self, event: Event) -> None:
        """Tell of one event of the journal, if it is about the run and worth a line."""
        if event.run != self.run_id:
            return
        tellers: dict[EventKind, Callable[[Event], None]] = {
            EventKind.ATTEMPT_STARTED: self._started,
            EventKind.STORY_LANDED: self._landed,
            EventKind.STORY_SETTLED: self._settled,
            EventKind.WAVE_RECOGNIZED: self._recognized,
            EventKind.RUNNER_PAUSED: self._paused,
        }
        tellers.get(event.event, partial(_ignore))(event)

    def _started(self, event: Event) -> None:
        again = f" (attempt {event.attempt})" if (event.attempt or 1) > 1 else ""
        self.tell(f"{event.story} at work{again}")

    def _landed(self, event: Event) -> None:
        self.tell(f"{event.story} landed")
        for story, needs in self.needs.items():
            if event.story in needs:
                left = tuple(name for name in needs if name != event.story)
                self.needs[story] = left
                if left:
                    self.tell(f"{story} waits on {', '.join(left)}")

    def _settled(self, event: Event) -> None:
        if event.data.get("status") == Status.FAILED:
            why = first_line(str(event.data.get("reason", "")))
            self.tell(f"{event.story} failed ({event.data.get('phase')}): {why}")

    def _recognized(self, event: Event) -> None:
        told = str(event.data.get("text") or f"{event.wave}: {holds_words(event)}")
        self.tell(told)

    def _paused(self, event: Event) -> None:
        self.tell(f"{event.data.get('runner')} pauses: {event.data.get('why')}")


def _ignore(_: Event) -> None:
    """For events that are not worth a line."""
