"""What an agent is told of an answer of its own that cannot be used."""

from collections.abc import Sequence

from qloop.agents.prompt import bullet_list, quoted

MOST_QUOTED = 40_000
"""How many characters of an answer it is shown again, from the end."""
MOST_TOLD = 50
"""How many faults it is told of at once."""


def previous_text(faults: Sequence[str], answer: str) -> str:
    """What an agent is told of an answer that cannot be used."""
    more = [f"and {len(faults) - MOST_TOLD} more"] if len(faults) > MOST_TOLD else []
    shown = answer.strip()[-MOST_QUOTED:]
    was = f"It was:\n\n{quoted(shown)}" if shown else "There was none."
    return (
        "## The last answer cannot be used\n\n"
        f"{bullet_list([*faults[:MOST_TOLD], *more], '')}\n\n{was}\n\n"
        "Put all of that right, and answer anew, with the whole of it."
    )
