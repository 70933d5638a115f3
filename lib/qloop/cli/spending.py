"""What `budget` shows once its words are parsed; it takes no lock."""

from pathlib import Path
from typing import Any

from qloop.cli.looking import Place, find_place, this_moment
from qloop.cli.planning import read_plan
from qloop.run.config import load_config
from qloop.run.estimating import estimate_plan
from qloop.state.active import find_active
from qloop.state.budget import Limits
from qloop.state.spending import Book
from qloop.ui import console
from qloop.ui.amounts import render_cost
from qloop.ui.costs import BudgetView, build_budget, show_budget, show_estimates
from qloop.ui.history import events_of_plan


def show_budget_here(quantum: Path | None, *, as_json: bool) -> int:
    """What the plan's agents cost so far."""
    place = find_place(quantum)
    mission = _mission_money(place)
    is_planned = mission is None or quantum is not None or place.state_file.exists()
    view = _plan_money(place) if is_planned else None
    if as_json:
        console.print_json({**(view.to_json() if view is not None else {}), "mission": mission})
        return 0
    if view is not None:
        show_budget(view)
    if mission is not None:
        limit = mission["limitUsd"]
        of = ", no limit" if limit is None else f" of {render_cost(limit)}"
        spent = render_cost(mission["spentUsd"], mission["estimatedUsd"])
        console.result("")
        console.result(f"mission {mission['id']}: {spent}{of}")
    return 0


def _plan_money(place: Place) -> BudgetView:
    plan = read_plan(place.state_file)
    root = place.repository.root if place.repository is not None else place.state_file.parent
    limits = load_config(root).limits
    events = events_of_plan(plan, place.events(), this_moment())
    return build_budget(plan, events, Limits(limits.budget_usd, limits.story_budget_usd))


def _mission_money(place: Place) -> dict[str, Any] | None:
    """What the active mission may spend and has spent; None where there is none."""
    folder = find_active(place.private)
    if folder is None:
        return None
    from qloop.mission.records import MissionRecords

    records = MissionRecords(place.private, folder)
    mission = records.read()
    spent = records.spent(mission)
    return {
        "id": mission.id,
        "limitUsd": mission.limit_usd,
        "spentUsd": spent.usd,
        "estimatedUsd": spent.guessed_usd,
    }


def show_estimate_here(quantum: Path | None, *, as_json: bool) -> int:
    """What the stories that are left are likely to cost."""
    place = find_place(quantum)
    plan = read_plan(place.state_file)
    root = place.repository.root if place.repository is not None else place.state_file.parent
    book = Book()
    book.take(place.events())
    found = estimate_plan(plan, tuple(book.calls.values()), load_config(root), root)
    show_estimates(
        [(one.story, one.runner, one.model, one.agents, one.estimate) for one in found],
        as_json=as_json,
    )
    return 0
