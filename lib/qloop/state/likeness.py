"""What the journal's events and facts have in common. Only a type, imported for checking alone."""

from collections.abc import Mapping
from typing import Any, Protocol

from qloop.state.facts import EventKind


class AnyEvent(Protocol):
    """One line of the journal."""

    @property
    def ts(self) -> str:
        """UTC, RFC 3339."""

    @property
    def run(self) -> str:
        """The run's id."""

    @property
    def event(self) -> EventKind:
        """What happened."""

    @property
    def wave(self) -> str | None:
        """The wave's id."""

    @property
    def story(self) -> str | None:
        """The story's id."""

    @property
    def attempt(self) -> int | None:
        """The number of the story's dispatch."""

    @property
    def data(self) -> Mapping[str, Any]:
        """What else is known, by kind of event."""
