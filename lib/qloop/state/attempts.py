"""What the journal tells of a story's newest attempt: whether it is over, and how it ended. Pure.

Units: seconds; United States dollars (`_usd`).
"""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from qloop.state.journal import Event, EventKind
from qloop.state.report import costs_of

State = Literal["running", "settled", "lost"]


class AttemptResult(BaseModel):
    """One attempt, for scripts and agents; camelCase in JSON, like quantum.json."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, validate_by_name=True)

    story: str
    attempt: int
    attempt_id: str
    run: str
    wave: str | None
    state: State = "running"
    """`lost`: the run that made it is gone; the next one takes the story up."""
    status: str | None = None
    """What it left the story as."""
    landed: str | None = None
    """The commit on the line."""
    phase: str | None = None
    """Where it failed; None where it landed."""
    reason: str | None = None
    charged: bool | None = None
    log: str | None = None
    """Of what failed, within the checkout."""
    reviews: dict[str, Any] = {}
    """What evidence says, as it stands in the story's `review`."""
    seconds: float | None = None
    cost_usd: float | None = None
    estimated_usd: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """The value as plain JSON values."""
        return self.model_dump(mode="json", by_alias=True)


def newest_attempt(events: Sequence[Event], story: str) -> AttemptResult | None:
    """The newest attempt at a story; None where it was never dispatched."""
    own = [event for event in events if event.story == story]
    begun = [event for event in own if event.event is EventKind.ATTEMPT_STARTED]
    if not begun or begun[-1].attempt is None:
        return None
    first = begun[-1]
    about = [event for event in own if event.attempt == first.attempt]
    told: dict[str, Any] = {}
    for event in about:
        told |= _told(event)
    told |= costs_of(about)
    return AttemptResult(
        story=story,
        attempt=first.attempt or 0,
        attempt_id=str(first.data.get("attempt_id", "")),
        run=first.run,
        wave=first.wave,
        **told,
    )


def _told(event: Event) -> dict[str, Any]:
    data = event.data
    if event.event is EventKind.REVIEW_ENDED and isinstance(data.get("review"), dict):
        return {"reviews": data["review"]}
    if event.event is not EventKind.STORY_SETTLED:
        return {}
    names = ("status", "phase", "reason", "charged", "log", "seconds")
    known = {name: data[name] for name in names if data.get(name) is not None}
    return {"state": "settled", "landed": data.get("commit"), **known}
