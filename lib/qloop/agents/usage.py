"""What one call of an agent cost, as far as it told.

Units: tokens; United States dollars.
"""

from dataclasses import dataclass


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
