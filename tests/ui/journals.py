"""A run's events, made by hand."""

from datetime import UTC, datetime, timedelta
from typing import Any

from qloop.state.journal import Event, EventKind

RUN = "r-20260102T030405Z-4f2a"
BEGAN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def after(seconds: float) -> datetime:
    """A moment so long after the run began."""
    return BEGAN + timedelta(seconds=seconds)


class Tale:
    """Events in the order in which they are told, a second apart."""

    def __init__(self, **started: Any) -> None:
        self.events: list[Event] = []
        self.tell(EventKind.RUN_STARTED, branch="ql/x", max_parallel=2, **started)

    def tell(
        self,
        kind: EventKind,
        story: str | None = None,
        attempt: int | None = None,
        wave: str | None = None,
        **data: Any,
    ) -> "Tale":
        """One event more."""
        number = len(self.events) + 1
        moment = after(number - 1).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        event = Event(
            seq=number,
            ts=moment,
            run=RUN,
            event=kind,
            wave=wave,
            story=story,
            attempt=attempt,
            data=data,
        )
        self.events.append(event)
        return self

    def start(self, story: str, attempt: int = 1, wave: str = "wave-1") -> "Tale":
        """An attempt that is handed out."""
        return self.tell(EventKind.ATTEMPT_STARTED, story, attempt, wave, runner="claude")

    def agent(self, story: str, attempt: int = 1) -> "Tale":
        """Its agent starts."""
        return self.tell(EventKind.AGENT_STARTED, story, attempt, runner="claude")

    def agent_ends(self, story: str, attempt: int = 1, **how: Any) -> "Tale":
        """Its agent ends, with a claim unless *how* says otherwise."""
        end = {"code": 0, "signal": "STORY_PASSED", "seconds": 1.0, "timed_out": False, **how}
        return self.tell(EventKind.AGENT_ENDED, story, attempt, **end)

    def reviewed(self, story: str, status: str = "passed", attempt: int = 1) -> "Tale":
        """Its evidence is judged."""
        parts = {"specCompliance": {"status": "passed"}, "codeQuality": {"status": status}}
        return self.tell(EventKind.REVIEW_ENDED, story, attempt, review=parts)

    def queue(self, story: str) -> "Tale":
        """A first attempt from its start to the landing queue."""
        return self.start(story).agent(story).agent_ends(story).reviewed(story)

    def settle(self, story: str, status: str, attempt: int = 1, **data: Any) -> "Tale":
        """The driver's word on it."""
        return self.tell(EventKind.STORY_SETTLED, story, attempt, status=status, **data)
