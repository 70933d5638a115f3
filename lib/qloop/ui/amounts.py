"""Amounts of money for people. Pure."""


def render_cost(usd: float | None, estimated_usd: float = 0.0) -> str:
    """An amount for people; `~` where a part of it is a guess, empty where nothing is known."""
    if usd is None:
        return ""
    from qloop.state.budget import render_usd
    from qloop.state.spending import MICROS

    return f"{'~' if estimated_usd > 0 else ''}{render_usd(round(usd * MICROS))}"
