"""The lock of a mission: held by its process, and inherited by its phase coordinators.

Whoever gets it knows that no process works on the mission. Errors: RepositoryBusy.
"""

import time
from collections.abc import Callable

from qloop.mission.records import MissionRecords
from qloop.run.recover import end_processes
from qloop.state.journal import Journal
from qloop.state.mission import Mission
from qloop.state.phases import PhaseStatus
from qloop.system.errors import RepositoryBusy
from qloop.system.files import Held, open_locked
from qloop.system.identity import is_alive, parse_process_id

LOCK = "mission.lock"
LOCK_WAIT_S = 60.0
ORPHAN_WAIT_S = 10.0
"""How long a coordinator may take to see that its mission is gone."""
LOOK_EVERY_S = 0.1


def take_mission_lock(records: MissionRecords, say: Callable[[str], None]) -> int:
    """The lock of a mission, once the coordinators of a dead one are gone.

    Raises RepositoryBusy where a living process runs it.
    """
    waited = 0.0
    while True:
        try:
            return open_locked(records.folder / LOCK, wait=False)
        except Held:
            mission = records.read()
        runs = parse_process_id(mission.process)
        if (runs is not None and is_alive(runs)) or waited > LOCK_WAIT_S:
            raise RepositoryBusy(
                f"mission {mission.id} is being run by process {runs.pid if runs else '?'}",
                where=str(records.folder),
                fix="wait for it, or look at it: qloop mission status",
            )
        if not waited:
            say("waiting for a phase coordinator that lost its mission to end")
        elif waited > ORPHAN_WAIT_S:
            end_dead_runs(records, mission)
        time.sleep(LOOK_EVERY_S)
        waited += LOOK_EVERY_S


def end_dead_runs(records: MissionRecords, mission: Mission) -> None:
    """End what coordinators of a mission that is gone left at work, by their own marks."""
    for run in mission.phases:
        if run.status is PhaseStatus.IN_PROGRESS and run.run_ids:
            end_processes(Journal(records.journal, run.run_ids[-1]), run.run_ids[-1])
