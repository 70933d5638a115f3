"""The state of a mission on disk: `state.json`, changed under a lock, replaced whole.

Errors: InputMissing where there is no mission, BadInput for a state that cannot be read,
RepositoryBusy where one is begun twice.
"""

from collections.abc import Callable
from pathlib import Path

from pydantic import ValidationError

from qloop.state.mission import Mission, MissionStatus
from qloop.system.clock import utc_now
from qloop.system.errors import BadInput, InputMissing, RepositoryBusy
from qloop.system.files import locked, read_optional, write_atomic
from qloop.system.identity import is_alive, parse_process_id

STATE = "state.json"
STATE_LOCK = "state.lock"


def read_mission(folder: Path) -> Mission:
    """The mission of an intent's folder."""
    path = folder / STATE
    data = read_optional(path)
    if data is None:
        raise InputMissing(
            "no mission was begun for this intent",
            where=str(folder),
            fix=f"begin one: qloop mission new --intent {folder.name.partition('-')[0]}",
        )
    try:
        return Mission.model_validate_json(data)
    except ValidationError as exc:
        fault = exc.errors()[0]
        place = ".".join(str(part) for part in fault["loc"])
        raise BadInput(
            f"the mission's state cannot be used: {place or 'it'}: {fault['msg']}",
            where=str(path),
            fix="put back what was there, or begin a new mission: qloop mission new",
        ) from exc


def is_running(mission: Mission) -> bool:
    """Whether its process is there."""
    process = parse_process_id(mission.process)
    return process is not None and is_alive(process)


def as_it_stands(mission: Mission) -> Mission:
    """The mission, interrupted where its state says active and its process is gone."""
    if mission.status is not MissionStatus.ACTIVE or is_running(mission):
        return mission
    return mission.model_copy(update={"status": MissionStatus.INTERRUPTED})


def write_mission(folder: Path, mission: Mission) -> None:
    """Put the first state of a mission into its folder.

    Raises RepositoryBusy where another process did so meanwhile, whose mission it then is.
    """
    with locked(folder / STATE_LOCK):
        if (folder / STATE).exists():
            raise RepositoryBusy(
                f"mission {mission.id} was begun by another process just now",
                where=str(folder),
                fix="wait for it, or look at it: qloop mission status",
            )
        _write(folder, mission)


def change_mission(folder: Path, change: Callable[[Mission], Mission]) -> Mission:
    """Change the state in one step, whoever else changes it, and return what it is now."""
    with locked(folder / STATE_LOCK):
        before = read_mission(folder)
        after = change(before)
        if after is not before:
            after = after.model_copy(update={"updated_at": utc_now()})
            _write(folder, after)
        return after


def _write(folder: Path, mission: Mission) -> None:
    write_atomic(folder / STATE, (mission.model_dump_json(indent=2) + "\n").encode())
