"""What one call of an agent cost, as far as it told.

Units: tokens; United States dollars.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from qloop.system.counting import counted


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and money of one call; a count that was not told is 0, an unknown cost None."""

    input_tokens: int = 0
    """All that the model read, what came from a cache included."""
    cached_tokens: int = 0
    """The part of *input_tokens* that came from a cache."""
    output_tokens: int = 0
    cost_usd: float | None = None
    """As the agent itself reported it; None where it told nothing."""

    @property
    def is_known(self) -> bool:
        """Whether the agent told anything."""
        return self.cost_usd is not None or self.input_tokens > 0 or self.output_tokens > 0


def sum_usage(usages: Iterable[Usage]) -> Usage:
    """All of them together; the cost is that of those whose cost is known."""
    listed = list(usages)
    costs = [one.cost_usd for one in listed if one.cost_usd is not None]
    return Usage(
        input_tokens=sum(one.input_tokens for one in listed),
        cached_tokens=sum(one.cached_tokens for one in listed),
        output_tokens=sum(one.output_tokens for one in listed),
        cost_usd=sum(costs) if costs else None,
    )


def render_usage(usage: Usage, turns: int | None) -> str:
    """What a call cost, for people; empty where nothing is known."""
    parts = [counted(turns, "turn")] if turns is not None else []
    if usage.input_tokens or usage.output_tokens:
        cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
        parts.append(f"{usage.input_tokens:,} tokens in{cached}")
        parts.append(f"{usage.output_tokens:,} out")
    if usage.cost_usd is not None:
        parts.append(f"${usage.cost_usd:.4f}" if usage.cost_usd < 1 else f"${usage.cost_usd:.2f}")
    return ", ".join(parts)
