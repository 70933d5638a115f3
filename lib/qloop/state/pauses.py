"""Runners that pause, as the journal tells it. Pure.

Units: seconds since the epoch.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, Self

from qloop.state.facts import EventKind
from qloop.system.clock import parse_utc

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qloop.plan.values import Json
    from qloop.state.likeness import AnyEvent


class Pause(NamedTuple):
    """A runner that gets no story for now."""

    runner: str
    cause: str
    """`usage_limit`, `authentication`, `overload` or `network`."""
    why: str
    """What the agent said, in a line."""
    until_s: float | None
    """When it ends by itself; None where a person must act."""

    @property
    def until(self) -> str | None:
        """When it ends, in UTC, such as `2026-01-02T03:04:05.678Z`."""
        if self.until_s is None:
            return None
        moment = datetime.fromtimestamp(self.until_s, UTC)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def lasts(self, now_s: float) -> bool:
        """Whether it is not over yet, as far as time alone tells."""
        return self.until_s is None or self.until_s > now_s

    def to_json(self) -> Json:
        """As `runner.paused` holds it."""
        return {
            "runner": self.runner,
            "cause": self.cause,
            "why": self.why,
            "until": self.until,
        }

    @classmethod
    def of_event(cls, event: AnyEvent) -> Self | None:
        """The pause that an event begins; None where it is of another kind or form."""
        data = event.data
        runner, until = data.get("runner"), data.get("until")
        if event.event is not EventKind.RUNNER_PAUSED or not isinstance(runner, str):
            return None
        try:
            until_s = parse_utc(until).timestamp() if isinstance(until, str) else None
        except ValueError:
            return None
        return cls(runner, str(data.get("cause", "")), str(data.get("why", "")), until_s)


def find_pauses(events: Iterable[AnyEvent]) -> dict[str, Pause]:
    """By runner, the pauses that were on when *events* end; an ended run leaves none."""
    found: dict[str, Pause] = {}
    for event in events:
        match event.event:
            case EventKind.RUN_ENDED:
                found.clear()
            case EventKind.RUNNER_PAUSED if (pause := Pause.of_event(event)) is not None:
                found[pause.runner] = pause
            case EventKind.RUNNER_RESUMED:
                found.pop(str(event.data.get("runner")), None)
            case _:
                pass
    return found
