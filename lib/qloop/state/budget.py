"""Whether an agent may be started within the budget, and what is reserved for it. Pure.

What is spent and reserved never comes to more than a limit at the moment of a reservation. A call
that then costs more than was reserved for it is paid all the same; nothing further starts.

Units: United States dollars; sums in whole millionths (`_micros`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from qloop.state.spending import IMPLEMENTER, MICROS, Amounts, Call, to_micros

DEFAULT_USD = {IMPLEMENTER: 1.0}
"""What a call of a role is taken to cost while none like it is known to have cost anything."""
DEFAULT_OTHER_USD = 0.25
RECENT = 20
"""How many calls of a kind tell what the next one will cost."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that may be spent; None where there is no limit."""

    run_usd: float | None = None
    story_usd: float | None = None

    @property
    def is_set(self) -> bool:
        """Whether there is any limit."""
        return self.run_usd is not None or self.story_usd is not None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a call is likely to cost."""

    micros: int
    is_known: bool
    """Whether calls like it tell so; else it is the default of its role."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Why nothing can be reserved for a call."""

    scope: Literal["run", "story"]
    story: str | None
    limit_micros: int
    held: Amounts
    asked_micros: int

    @property
    def may_change(self) -> bool:
        """Whether it may be granted once calls at work have told what they cost."""
        return self.held.reserved_micros > 0

    @property
    def text(self) -> str:
        """The refusal for people."""
        limit = render_usd(self.limit_micros)
        of = f"the budget of {limit}" if self.scope == "run" else f"{limit}, a story's budget,"
        spent = f"{render_usd(self.held.spent_micros)} of {of} is spent"
        if self.held.reserved_micros:
            spent += f", {render_usd(self.held.reserved_micros)} reserved"
        return f"{spent}; the next agent is taken to cost {render_usd(self.asked_micros)}"


def default_micros(role: str) -> int:
    """What a call of *role* is taken to cost where nothing tells it."""
    return to_micros(DEFAULT_USD.get(role, DEFAULT_OTHER_USD))


def estimate(calls: Iterable[Call], role: str, runner: str, model: str | None) -> Estimate:
    """What a call is likely to cost: the mean of the last ones of its runner, model and role.

    *calls* are in order; those whose cost is a guess tell nothing.
    """
    costs = [
        call.cost_micros
        for call in calls
        if (call.role, call.runner, call.model) == (role, runner, model)
        and call.is_known
        and call.cost_micros is not None
    ][-RECENT:]
    if not costs:
        return Estimate(default_micros(role), False)
    return Estimate(-(-sum(costs) // len(costs)), True)


def total(asked: Sequence[Estimate]) -> Estimate:
    """What several calls are likely to cost together."""
    return Estimate(sum(one.micros for one in asked), all(one.is_known for one in asked))


def share_out(granted: int, asked: Sequence[Estimate]) -> list[int]:
    """What each of several calls gets of *granted*, by what it is taken to cost."""
    whole = max(1, total(asked).micros)
    return [granted * one.micros // whole for one in asked]


def decide(
    asked: Estimate, story: str | None, run: Amounts, own: Amounts, limits: Limits
) -> int | Refused:
    """The millionths to reserve, or why nothing is; *own* is what the story has cost.

    Where a limit is lower than a default that no call confirms, and nothing is spent or reserved
    of it yet, the first call may have all of it.
    """
    granted = asked.micros
    scopes: tuple[tuple[Literal["run", "story"], float | None, Amounts], ...] = (
        ("run", limits.run_usd, run),
        ("story", limits.story_usd if story is not None else None, own),
    )
    for scope, limit_usd, held in scopes:
        if limit_usd is None:
            continue
        limit = to_micros(limit_usd)
        left = limit - held.spent_micros - held.reserved_micros
        is_first = not asked.is_known and left == limit > 0
        if asked.micros > left and not is_first:
            return Refused(scope, story, limit, held, asked.micros)
        granted = min(granted, left)
    return granted


def render_usd(micros: int) -> str:
    """An amount for people: `$1.20`, `$0.0042`."""
    dollars = micros / MICROS
    return f"${dollars:.2f}" if dollars >= 0.1 or micros == 0 else f"${dollars:.4f}"
