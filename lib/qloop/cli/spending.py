"""What `budget` does once its words are parsed; it takes no lock."""

from pathlib import Path

from qloop.cli.looking import find_place, this_moment
from qloop.cli.planning import read_plan
from qloop.run.config import load_config
from qloop.state.budget import Limits
from qloop.ui import console
from qloop.ui.costs import build_budget, show_budget
from qloop.ui.history import events_of_plan


def show_budget_here(quantum: Path | None, *, as_json: bool) -> int:
    """What the plan's agents cost so far."""
    place = find_place(quantum)
    plan = read_plan(place.state_file)
    root = place.repository.root if place.repository is not None else place.state_file.parent
    limits = load_config(root).limits
    events = events_of_plan(plan, place.events(), this_moment())
    view = build_budget(plan, events, Limits(limits.budget_usd, limits.story_budget_usd))
    if as_json:
        console.print_json(view.to_json())
    else:
        show_budget(view)
    return 0
