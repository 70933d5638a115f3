"""Waves as text or JSON: which stories would run together, and in which order."""

from collections.abc import Sequence

from qloop.plan.model import Plan
from qloop.ui import console


def show_waves(plan: Plan, waves: Sequence[Sequence[str]], *, as_json: bool) -> None:
    """Waves that would run if every story passed at its first attempt."""
    if as_json:
        console.print_json({"waves": [list(wave) for wave in waves]})
        return
    if not waves:
        console.result("nothing is left to run")
    for number, wave in enumerate(waves, start=1):
        labels = [story.label for story in plan.stories if story.id in wave]
        console.result(f"wave {number}:  {labels[0]}")
        for label in labels[1:]:
            console.result(f"         {label}")
