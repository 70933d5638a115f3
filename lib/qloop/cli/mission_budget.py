"""What the `budget` commands do that change a mission's money."""

from pathlib import Path

from qloop.cli.missions import find_records
from qloop.repo.checkout import find_repository
from qloop.run.inside import check_outside
from qloop.state.mission import Mission
from qloop.state.spending import Spent
from qloop.system.errors import InputMissing
from qloop.ui import console
from qloop.ui.amounts import render_cost

LIMITS = "a run without a mission is limited by --budget, or [limits] budget_usd in qloop.toml"


def change_limit(intent: str | None, usd: float | None) -> int:
    """Set the limit of a mission, or take it away with None."""
    repository = find_repository(Path.cwd())
    check_outside(repository, "budget set" if usd is not None else "budget unlimited")
    records = find_records(repository, intent, LIMITS)
    update = {"limit_usd": usd, "warned": False}
    mission = records.change(lambda m: m.model_copy(update=update))
    spent = records.spent(mission)
    limit = "has no limit any more" if usd is None else f"may cost {render_cost(usd)}"
    console.say(f"mission {mission.id} {limit}; {_told(spent)} spent so far")
    return 0


def reset_spending(intent: str | None) -> int:
    """Begin a mission's spending anew."""
    repository = find_repository(Path.cwd())
    check_outside(repository, "budget reset")
    records = find_records(repository, intent, LIMITS)
    spent = records.spent(records.read())
    if not spent.usd:
        raise InputMissing("nothing is spent that could be reset", where=str(records.folder))
    mission = records.change(lambda m: begun_anew(m, records.spent_usd(m)))
    told = f"{_told(spent)} written off"
    console.say(f"mission {mission.id} begins at nothing again; {told}")
    return 0


def begun_anew(mission: Mission, spent_usd: float) -> Mission:
    """The mission whose budget begins at nothing: warning and question are due again as well."""
    written_off = mission.written_off_usd + spent_usd
    update = {"written_off_usd": written_off, "warned": False, "confirmed_usd": None}
    return mission.model_copy(update=update)


def _told(spent: Spent) -> str:
    return render_cost(spent.usd, spent.guessed_usd)
