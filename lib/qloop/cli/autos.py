"""What `auto` does once its words are parsed."""

from pathlib import Path

from qloop.cli.missions import run_records
from qloop.mission import beginning
from qloop.mission.intent_end import Ending, check_no_outcome, check_not_over, end_intent
from qloop.mission.records import MissionRecords
from qloop.repo.checkout import Repository, find_repository
from qloop.run.config import load_config
from qloop.run.holder import private_folder
from qloop.run.inside import check_outside
from qloop.state.intent import Intent
from qloop.state.intent_index import parse_index
from qloop.state.intents import find_intent, intents_folder, read_index
from qloop.state.lifecycle import Disposition
from qloop.state.mission import MissionStatus
from qloop.state.mission_store import STATE
from qloop.state.phases import Autonomy
from qloop.system.errors import PersonNeeded
from qloop.ui import console


def deliver(word: str, *, ask: bool, limit_usd: float | None, skip_permissions: bool) -> int:
    """Take an intent as far as it goes; the exit code."""
    repository = find_repository(Path.cwd())
    check_outside(repository, "auto")
    config = load_config(repository.root)
    intent = find_intent(intents_folder(repository.root, config.intents_root), word)
    return take_along(repository, intent, ask=ask, limit_usd=limit_usd, may=skip_permissions)


def take_along(
    repository: Repository, intent: Intent, *, ask: bool, limit_usd: float | None, may: bool
) -> int:
    """One intent of a repository, as far as it goes; *may* lets it destroy without asking."""
    check_not_over(intent.folder)
    check_no_outcome(MissionRecords(private_folder(repository), intent.folder))
    records = _records(repository, intent, limit_usd, may_destroy=may)
    if records.read().status is MissionStatus.COMPLETED:
        return _end(records, intent)
    code = run_records(repository, records, ask=ask)
    return code if code or _is_over(intent) else PersonNeeded.exit_code


def _records(
    repository: Repository, intent: Intent, limit_usd: float | None, *, may_destroy: bool
) -> MissionRecords:
    """The intent's mission as its team's, begun where there is none."""
    if not (intent.folder / STATE).exists():
        config = load_config(repository.root)
        directive = beginning.directive_of(repository, config, str(intent.id))
        wishes = beginning.Wishes(
            Autonomy.AUTOPILOT, limit_usd, is_team=True, may_destroy=may_destroy
        )
        triage = beginning.triage_of(repository, directive)
        return beginning.begin(repository, config, directive, wishes, triage)[0]
    records = MissionRecords(private_folder(repository), intent.folder)

    records.change(lambda mission: beginning.as_team(mission, limit_usd, may_destroy=may_destroy))
    return records


def _end(records: MissionRecords, intent: Intent) -> int:
    """The end tail of an intent whose work is done, once nothing keeps it any more."""
    for step in end_intent(Ending(records.private, intent, Disposition.DELIVERED)):
        console.say(step)
    return 0


def _is_over(intent: Intent) -> bool:
    return parse_index(read_index(intent.folder.parent)).ending_of(intent.id) is not None
