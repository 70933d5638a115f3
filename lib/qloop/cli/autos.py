"""What `auto` does once its words are parsed."""

from dataclasses import dataclass
from pathlib import Path

from qloop.cli.missions import run_records
from qloop.mission import beginning
from qloop.mission.held import check_no_outcome
from qloop.mission.intent_end import check_not_over, finish_end
from qloop.mission.records import MissionRecords
from qloop.repo.checkout import Repository, find_repository
from qloop.run.config import load_config
from qloop.run.holder import private_folder
from qloop.run.inside import check_outside
from qloop.state.intent import Intent
from qloop.state.intent_index import parse_index
from qloop.state.intents import find_intent, intents_folder, read_index
from qloop.state.lifecycle import Disposition
from qloop.state.mission_store import STATE
from qloop.state.phases import Autonomy, TeamSetting
from qloop.system.errors import PersonNeeded
from qloop.ui import console

ABANDONED = 1
"""The exit code for an intent that came to no delivery."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How an intent is to be delivered."""

    limit_usd: float | None = None
    may_destroy: bool = False
    """Whether what destroys is begun without asking."""
    team: TeamSetting | None = None


def deliver(
    word: str,
    *,
    ask: bool,
    limit_usd: float | None,
    skip_permissions: bool,
    team: TeamSetting | None,
) -> int:
    """Take an intent as far as it goes; the exit code."""
    repository = find_repository(Path.cwd())
    check_outside(repository, "auto")
    config = load_config(repository.root)
    intent = find_intent(intents_folder(repository.root, config.intents_root), word)
    terms = Terms(limit_usd, skip_permissions, team)
    return take_along(repository, intent, terms, ask=ask)


def take_along(repository: Repository, intent: Intent, terms: Terms, *, ask: bool) -> int:
    """One intent of a repository, as far as it goes."""
    ended = finish_end(private_folder(repository), intent, console.say)
    if ended is not None:
        console.say(f"intent {intent.id} is {ended}")
        return 0 if ended is Disposition.DELIVERED else ABANDONED
    check_not_over(intent.folder)
    if not (intent.folder / STATE).exists():
        check_no_outcome(intent.folder)
    records = _records(repository, intent, terms)
    code = run_records(repository, records, ask=ask)
    if code or _is_over(intent):
        return code
    fix = f"qloop intent end {intent.id} --disposition {Disposition.DELIVERED}"
    console.say(f"once that is settled, end it: {fix}")
    return PersonNeeded.exit_code


def _records(repository: Repository, intent: Intent, terms: Terms) -> MissionRecords:
    """The intent's mission as its team's, begun where there is none."""
    if not (intent.folder / STATE).exists():
        config = load_config(repository.root)
        directive = beginning.directive_of(repository, config, str(intent.id))
        wishes = beginning.Wishes(
            Autonomy.AUTOPILOT,
            terms.limit_usd,
            is_team=True,
            team=terms.team,
            may_destroy=terms.may_destroy,
        )
        triage = beginning.triage_of(repository, directive)
        return beginning.begin(repository, config, directive, wishes, triage)[0]
    records = MissionRecords(private_folder(repository), intent.folder)

    records.change(
        lambda mission: beginning.as_team(
            mission, terms.limit_usd, may_destroy=terms.may_destroy, team=terms.team
        )
    )
    return records


def _is_over(intent: Intent) -> bool:
    return parse_index(read_index(intent.folder.parent)).ending_of(intent.id) is not None
