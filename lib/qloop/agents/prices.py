"""What a call of an agent cost: as it reported, else priced from its tokens, else estimated.

The table of prices comes with qloop, dated and with its source (`prices.toml`); nothing is looked
up on a network. Units: United States dollars; prices are for a million tokens.
"""

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Literal

from qloop.agents.usage import Usage

Source = Literal["reported", "priced", "estimated"]
"""Where a cost comes from: the agent's own word, tokens and the table, or a guess."""

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens of a model cost."""

    input: float
    cached: float
    output: float


@dataclass(frozen=True, slots=True)
class Cost:
    """What a call cost, and how that is known."""

    usd: float
    source: Source


def cost_of(usage: Usage, model: str | None, estimate_usd: float) -> Cost:
    """The cost of a call; *estimate_usd* where neither its report nor the table tells it."""
    if usage.cost_usd is not None:
        return Cost(max(0.0, usage.cost_usd), "reported")
    price = find_price(model) if model and usage.is_known else None
    if price is None:
        return Cost(estimate_usd, "estimated")
    return Cost(price_tokens(usage, price), "priced")


def price_tokens(usage: Usage, price: Price) -> float:
    """What the tokens come to."""
    cached = min(usage.cached_tokens, usage.input_tokens)
    fresh = usage.input_tokens - cached
    total = fresh * price.input + cached * price.cached + usage.output_tokens * price.output
    return total / _MILLION


def find_price(model: str) -> Price | None:
    """The price of a model, by its name with or without a provider; None where none is known."""
    name = model.rpartition("/")[2].lower()
    return next((price for pattern, price in _table() if fnmatchcase(name, pattern)), None)


@cache
def _table() -> tuple[tuple[str, Price], ...]:
    """Patterns and prices, in the order in which they count."""
    text = files("qloop.agents").joinpath("prices.toml").read_text(encoding="utf-8")
    return tuple(
        (pattern, Price(row["input"], row["cached"], row["output"]))
        for row in tomllib.loads(text)["model"]
        for pattern in row["names"]
    )
