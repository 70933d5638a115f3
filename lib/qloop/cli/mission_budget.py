"""What the `budget` commands do that change a mission's money."""

from pathlib import Path

from qloop.cli.missions import find_records
from qloop.repo.checkout import find_repository
from qloop.run.inside import check_outside
from qloop.system.errors import InputMissing
from qloop.ui import console

LIMITS = "a run without a mission is limited by --budget, or [limits] budget_usd in qloop.toml"


def change_limit(intent: str | None, usd: float | None) -> int:
    """Set the limit of a mission, or take it away with None."""
    repository = find_repository(Path.cwd())
    check_outside(repository, "budget set" if usd is not None else "budget unlimited")
    records = find_records(repository, intent, LIMITS)
    update = {"limit_usd": usd, "warned": False}
    mission = records.change(lambda m: m.model_copy(update=update))
    spent = records.spent_usd(mission)
    limit = "has no limit any more" if usd is None else f"may cost ${usd:.2f}"
    console.say(f"mission {mission.id} {limit}; ${spent:.2f} are spent")
    return 0


def reset_spending(intent: str | None) -> int:
    """Begin a mission's spending anew."""
    repository = find_repository(Path.cwd())
    check_outside(repository, "budget reset")
    records = find_records(repository, intent, LIMITS)
    spent = records.spent_usd(records.read())
    if not spent:
        raise InputMissing("nothing is spent that could be reset", where=str(records.folder))
    mission = records.change(
        lambda m: m.model_copy(
            update={"written_off_usd": m.written_off_usd + spent, "warned": False}
        )
    )
    console.say(f"mission {mission.id} begins at nothing again; ${spent:.2f} are written off")
    return 0
