"""What a call cost: reported, priced by the table that comes with qloop, or a guess."""

import tomllib
from datetime import date
from fnmatch import fnmatchcase
from importlib.resources import files
from typing import Any

import pytest

from qloop.agents.prices import Cost, cost_of, find_price
from qloop.agents.usage import Usage

TABLE: dict[str, Any] = tomllib.loads(
    files("qloop.agents").joinpath("prices.toml").read_text(encoding="utf-8")
)


def test_what_the_agent_reports_counts() -> None:
    """A reported cost is taken as it is, also where the table would say another."""
    usage = Usage(input_tokens=1000, output_tokens=1000, cost_usd=0.123)

    assert cost_of(usage, "claude-sonnet-5-5", 1.0) == Cost(0.123, "reported")


def test_tokens_are_priced_by_the_table() -> None:
    """Fresh input, cached input and output have a price each, for a million tokens."""
    usage = Usage(input_tokens=3_000_000, cached_tokens=1_000_000, output_tokens=500_000)

    cost = cost_of(usage, "anthropic/Claude-Sonnet-5-5-20261001", 1.0)

    assert cost.source == "priced"
    assert cost.usd == pytest.approx(2 * 2.0 + 1 * 0.1 + 0.5 * 10.0)


@pytest.mark.parametrize(
    ("usage", "model"),
    [
        (Usage(), "claude-sonnet-5-5"),
        (Usage(input_tokens=10), None),
        (Usage(input_tokens=10), "a-model-of-my-own"),
    ],
)
def test_what_nothing_tells_is_a_guess(usage: Usage, model: str | None) -> None:
    """Without tokens, or without a price for them, the estimate stands, marked as such."""
    assert cost_of(usage, model, 0.75) == Cost(0.75, "estimated")


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("gpt-5", 1.25),
        ("gpt-5-mini-2025-08-07", 0.25),
        ("openai/gpt-5.6", 4.0),
        ("gpt-5.6-luna", 0.2),
        ("gemini-2.5-flash-lite", 0.1),
        ("models/gemini-2.5-flash", 0.3),
        ("claude-opus-4-8", 5.0),
        ("claude-opus-5-5", 4.0),
    ],
)
def test_a_name_finds_its_own_price(model: str, price: float) -> None:
    """The first pattern that fits is the narrowest one."""
    found = find_price(model)

    assert found is not None
    assert found.input == price


def test_the_table_is_dated_and_whole() -> None:
    """It names its source and its day; no row is hidden by one before it, no price is odd."""
    assert isinstance(TABLE["as_of"], date)
    assert TABLE["source"]
    seen: list[str] = []
    for row in TABLE["model"]:
        assert 0 < row["cached"] <= row["input"] < row["output"]
        for name in row["names"]:
            assert not [one for one in seen if fnmatchcase(name, one)], name
        seen += row["names"]
