"""The tables of qloop.toml, and the kinds of values that stand in them.

Units: seconds, bytes (`_bytes`), United States dollars (`_usd`).
"""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict

from qloop.system.clock import parse_duration_s
from qloop.system.errors import BadInput


def _seconds(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("write a duration like 90s, 15m or 2h")
    try:
        return parse_duration_s(str(value))
    except BadInput as exc:
        raise ValueError(str(exc)) from exc


def some_time(seconds: float) -> float:
    """The same. Raises ValueError for none at all."""
    if not seconds:
        raise ValueError("that is no time at all")
    return seconds


Duration = Annotated[
    float,
    BeforeValidator(_seconds, json_schema_input_type=str | float),
    Field(description="A duration such as 90s, 15m, 2h, or seconds."),
]


Number = Annotated[int, Strict()]
Dollars = Annotated[float, Strict(), Field(gt=0, allow_inf_nan=False)]


class FileLimits(BaseModel):
    """The `[limits]` table. Units: bytes; United States dollars (`_usd`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    log_bytes: Number = Field(default=10_000_000, ge=10_000)
    file_bytes: Number = Field(default=50_000_000, ge=1)
    budget_usd: Dollars | None = Field(
        default=None, description="What the agents of one run may cost."
    )
    story_budget_usd: Dollars | None = Field(
        default=None, description="What the agents of one story may cost, over all runs."
    )


class Checks(BaseModel):
    """The `[checks]` table: what the checks between the stories of a wave may do."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    block: Annotated[bool, Strict()] = Field(
        default=False, description="Whether they keep a story out that says again what landed."
    )


class Gates(BaseModel):
    """The `[gates]` table: what judges beside each story's own commands."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    spec_review: Annotated[bool, Strict()] = Field(
        default=False, description="Whether an agent judges if a story does what it asks."
    )
    quality_review: Annotated[bool, Strict()] = Field(
        default=False, description="Whether an agent judges how well it is made."
    )
    recognize: Annotated[bool, Strict()] = Field(
        default=False, description="Whether all evidence is run again at the end of each wave."
    )


class DelegateTable(BaseModel):
    """The `[delegate]` table: what goes to stateless workers and compressors."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code_lines: Number = Field(
        default=50, ge=0, description="A file with more lines is mended by a worker."
    )
    trace_lines: Number = Field(
        default=100, ge=0, description="A trace with more lines is compressed."
    )
    qa_tokens: Number = Field(
        default=50, ge=10, description="The most tokens that a compressed trace has."
    )

    def takes_code(self, lines: int) -> bool:
        """Whether a file of so many lines is a worker's."""
        return lines > self.code_lines

    def takes_trace(self, lines: int) -> bool:
        """Whether a trace of so many lines is to be compressed."""
        return lines > self.trace_lines


class RoleTable(BaseModel):
    """One `[roles.NAME]` table: what a role is carried out with."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    runner: str | None = None
    model: str | None = None


class PhaseTable(BaseModel):
    """One `[phases.NAME]` table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: str | None = Field(
        default=None,
        min_length=1,
        description="A program that coordinates the phase: its order on standard input, activity "
        "and exactly one event on standard output.",
    )
