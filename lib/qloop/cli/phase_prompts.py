"""The prompts of a mission's roles that read, as its next coordinator would fill them now.

Errors: those of finding the mission and of reading the repository.
"""

from pathlib import Path

from qloop.agents.prompt import render_role
from qloop.cli.missions import find_records
from qloop.mission.known_code import facts_for
from qloop.mission.phase_order import MissionContext, make_order
from qloop.mission.records import MissionRecords
from qloop.mission.scouting import SCOUT, scout_values
from qloop.mission.upscaling import UPSCALER, directive_of, upscaler_values
from qloop.repo.checkout import find_repository
from qloop.state.phases import PhaseName
from qloop.ui.recon_pages import recon_lines

MISSION_ROLES = (SCOUT, UPSCALER)
"""The roles that are told of a mission."""


def mission_prompt(intent: str, role: str) -> str:
    """What a scout or an upscaler of an intent's mission would be told."""
    repository = find_repository(Path.cwd())
    records = find_records(repository, intent)
    facts = facts_for(records.folder, repository)
    if role == SCOUT:
        context = _context(records, PhaseName.RECON)
        values = scout_values(context, "\n".join(recon_lines(facts)))
    else:
        context = _context(records, PhaseName.PLANNING)
        values = upscaler_values(context, directive_of(records.folder, context), facts)
    return render_role(role, {**values, "previous": ""})


def _context(records: MissionRecords, phase: PhaseName) -> MissionContext:
    mission = records.read()
    spent = records.spent_usd(mission)
    return make_order(mission, phase, str(records.folder), "", spent).mission_context
