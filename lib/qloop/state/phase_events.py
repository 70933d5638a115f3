"""What a phase coordinator says: activity lines, and exactly one event, as NDJSON.

Whatever is not one well-formed event that fits the process's exit is a failure with a reason:
a coordinator can be killed, and can be a program of a person's own.
"""

import json
from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from qloop.state.phases import PhaseName, Warmth

ACTIVITY = "activity"
OUTER_LEVELS = 20
"""More than the levels of what an event's parts are ever put into."""

Text = Annotated[str, Field(min_length=1)]


class _Said(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Option(_Said):
    """One answer that a person may choose."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    description: Text


def _each_once(options: tuple[Option, ...]) -> tuple[Option, ...]:
    ids = [option.id for option in options]
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if twice is not None:
        raise ValueError(f"two options are called {twice!r}")
    return options


Options = Annotated[tuple[Option, ...], AfterValidator(_each_once)]


class Output(_Said):
    """A file or folder that a phase made."""

    path: Annotated[Text, Field(description="Relative to the intent's folder.")]
    type: Literal["file", "directory", "updated"]


class Metrics(_Said):
    """What a phase took."""

    duration_s: Annotated[float, Field(ge=0)] = 0.0
    agents_spawned: Annotated[int, Field(ge=0)] = 0
    commits: Annotated[int, Field(ge=0)] = 0
    cost_usd: Annotated[float, Field(ge=0)] = 0.0


class PartialWork(_Said):
    """How far a phase that failed had come; blocks are stories or steps, by id."""

    completed_blocks: tuple[str, ...] = ()
    failed_block: str | None = None
    pending_blocks: tuple[str, ...] = ()


class PhaseComplete(_Said):
    """A phase that did what it is there for."""

    event: Literal["phase.complete"] = "phase.complete"
    phase_id: PhaseName
    duration: Annotated[str, Field(description="For people, such as `12m 34s`.")] = ""
    summary: Text
    outputs: tuple[Output, ...] = ()
    metrics: Metrics = Metrics()
    warmth: Warmth = Warmth()
    next_phase: PhaseName | None = None


class PhaseCheckpoint(_Said):
    """A question that only a person can answer."""

    event: Literal["phase.checkpoint"] = "phase.checkpoint"
    phase_id: PhaseName
    checkpoint_type: Text
    question: Text
    options: Annotated[Options, Field(min_length=1)]
    context: dict[str, Any] = {}
    resume_with: Literal["user_choice"] = "user_choice"


class PhaseFailure(_Said):
    """A phase that cannot go on by itself."""

    event: Literal["phase.failure"] = "phase.failure"
    phase_id: PhaseName
    failure_type: Text
    reason: Text
    partial_work: PartialWork = PartialWork()
    recovery_options: Options = ()


PhaseEvent = PhaseComplete | PhaseCheckpoint | PhaseFailure
_EVENT: TypeAdapter[PhaseEvent] = TypeAdapter(Annotated[PhaseEvent, Field(discriminator="event")])

EVENT_MODELS: dict[str, type[PhaseComplete | PhaseCheckpoint | PhaseFailure]] = {
    "phase.complete": PhaseComplete,
    "phase.checkpoint": PhaseCheckpoint,
    "phase.failure": PhaseFailure,
}


def render_event(event: PhaseEvent) -> str:
    """An event as the line that is said."""
    return event.model_dump_json()


def render_activity(text: str) -> str:
    """A line of what goes on, for people who watch."""
    return json.dumps({ACTIVITY: text}, ensure_ascii=False)


def read_activity(line: str) -> str | None:
    """The text of an activity line; None for any other line."""
    found = _parse(line)
    text = found.get(ACTIVITY) if isinstance(found, dict) else None
    return text if isinstance(text, str) else None


def conclude_phase(phase: PhaseName, lines: Iterable[str], code: int) -> PhaseEvent:
    """The event that a coordinator's output and exit code come to.

    Anything but exactly one event of *phase* is a `phase.failure` that says what was wrong.
    """
    said = [line for line in lines if line.strip() and read_activity(line) is None]
    if code != 0:
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return _failure(phase, "crash", f"its coordinator ended with {how}")
    if not said:
        return _failure(phase, "missing_event", "its coordinator ended without an event")
    if len(said) > 1:
        what = f"its coordinator said {len(said)} things where one event is due"
        return _failure(phase, "doubled_event", f"{what}, the second: {_short(said[1])}")
    return _read_event(phase, said[0])


def _read_event(phase: PhaseName, line: str) -> PhaseEvent:
    found = _parse(line)
    if not isinstance(found, dict):
        return _failure(
            phase, "malformed_event", f"what its coordinator said is no event: {_short(line)}"
        )
    if not _is_storable(found):
        what = "its coordinator's event has what cannot be written down"
        told = "numbers that are not finite, half a character, or values nested too deeply"
        return _failure(phase, "malformed_event", f"{what}: {told}")
    try:
        event = _EVENT.validate_python(found, strict=False)
    except ValidationError as exc:
        return _failure(phase, "malformed_event", f"its coordinator's event: {_fault(exc)}")
    if event.phase_id is not phase:
        what = f"its coordinator's event is one of {event.phase_id}"
        return _failure(phase, "malformed_event", what)
    return event


def _parse(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_storable(found: dict[str, Any]) -> bool:
    """Whether a state that holds it can be written, and read again."""
    try:
        text = json.dumps(found, allow_nan=False, ensure_ascii=False)
        from_json(("[" * OUTER_LEVELS + text + "]" * OUTER_LEVELS).encode())
    except (ValueError, RecursionError):
        return False
    return True


def _fault(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"][1:]) or "event"
    return f"{place}: {first['msg']}"


def _failure(phase: PhaseName, kind: str, reason: str) -> PhaseFailure:
    return PhaseFailure(phase_id=phase, failure_type=kind, reason=reason)


def _short(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}…"


def phase_event_schema(kind: str) -> dict[str, Any]:
    """The JSON Schema of one kind of event: `complete`, `checkpoint` or `failure`."""
    schema = EVENT_MODELS[f"phase.{kind}"].model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
