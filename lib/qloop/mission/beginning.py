"""Beginning a mission: an intent with its folder, triage, and the first state.

Errors: those of reading the document, and UsageWrong for a directive without words.
"""

from dataclasses import dataclass
from pathlib import Path

from qloop.agents.manifest import SHELL
from qloop.agents.roles import load_role
from qloop.mission.direct_plan import has_stories
from qloop.mission.intent_end import check_not_over
from qloop.mission.known_code import read_code
from qloop.mission.records import MissionRecords
from qloop.mission.sizing import size_up
from qloop.repo.checkout import Repository
from qloop.repo.exclude import ensure_excluded, exclude_intents
from qloop.repo.settings import read_settings
from qloop.run.config import Config
from qloop.run.holder import private_folder
from qloop.run.planning import path_in_plan, read_text
from qloop.run.prepare import find_agent
from qloop.run.routing import Wish, route_role
from qloop.state.intent import Intent
from qloop.state.intent_index import Group, placed
from qloop.state.intents import change_index, create_intent, find_intent, intents_folder
from qloop.state.lifecycle import lifecycle_of
from qloop.state.mission import Mission, Triage
from qloop.state.mission_store import STATE
from qloop.state.phases import Autonomy, PhaseName, PhaseStatus, TeamSetting
from qloop.state.sections import section_text
from qloop.state.spending import IMPLEMENTER
from qloop.system.clock import utc_now
from qloop.system.errors import BadInput, QloopError, RepositoryBusy, UsageWrong
from qloop.system.files import write_atomic
from qloop.system.identity import is_alive, parse_process_id


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a person wants of a mission."""

    autonomy: Autonomy
    limit_usd: float | None = None
    is_quick: bool = False
    skips: tuple[PhaseName, ...] = ()
    constraints: tuple[str, ...] = ()
    is_team: bool = False
    team: TeamSetting | None = None
    may_destroy: bool = False


@dataclass(frozen=True, slots=True)
class Directive:
    """What is wanted, and the document or the intent that says so, if one does."""

    text: str
    source: Path | None = None
    intent: Intent | None = None
    """The intent that is there already."""

    @property
    def is_plan(self) -> bool:
        """Whether it is a document whose stories can be compiled as they are."""
        is_given = self.source is not None or self.intent is not None
        return is_given and has_stories(self.text)


def read_directive(text: str | None, source: Path | None) -> Directive:
    """The directive as given, or a document's text. Raises InputMissing, BadInput."""
    return Directive(text or "") if source is None else Directive(read_text(source), source)


def directive_of(repository: Repository, config: Config, word: str) -> Directive:
    """The directive that an intent's document is. Raises BadInput for one that cannot begin."""
    root = intents_folder(repository.root, config.intents_root)
    intent = find_intent(root, word)
    check_not_over(intent.folder)
    if (intent.folder / STATE).exists():
        raise BadInput(
            f"intent {intent.id} has its mission already",
            where=str(intent.folder),
            fix=f"go on with: qloop mission run {intent.id}",
        )
    document = lifecycle_of(intent).document or ""
    parts = (section_text(document, name) for name in ("Intent", "Context"))
    return Directive("\n\n".join(filter(None, parts)) or intent.title, intent=intent)


def triage_of(repository: Repository, directive: Directive) -> Triage:
    """How large it looks."""
    return size_up(directive.text, read_code(repository), is_document=_is_document(directive))


def lacks_agent(repository: Repository, config: Config, directive: Directive) -> bool:
    """Whether it needs an agent to carry it out, and none is set or installed here."""
    if directive.is_plan:
        return False
    runner = route_role(IMPLEMENTER, Wish(), config, load_role(IMPLEMENTER).tier).runner
    try:
        known = find_agent(runner, f"the {IMPLEMENTER}", config, repository.root)
    except QloopError:
        return False  # the run says what is wrong with the one that is set
    return runner == SHELL or known is None


def as_team(
    mission: Mission,
    limit_usd: float | None,
    *,
    may_destroy: bool,
    team: TeamSetting | None = None,
) -> Mission:
    """A mission that a gated team goes on with; what was planned before goes on without one.

    *team* is how its members are asked from now on; None leaves it.

    Raises RepositoryBusy while it is being run.
    """
    process = parse_process_id(mission.process)
    if process is not None and is_alive(process):
        raise RepositoryBusy(
            f"mission {mission.id} is being run by process {process.pid}",
            fix="wait for it, or look at it: qloop mission status",
        )
    is_team = mission.is_team or mission.phase(PhaseName.PLANNING).status is PhaseStatus.PENDING
    wished = {
        "is_team": is_team,
        "team": mission.team if team is None else team,
        "limit_usd": mission.limit_usd if limit_usd is None else limit_usd,
        "may_destroy": mission.may_destroy or may_destroy,
    }
    return mission if wished.items() <= dict(mission).items() else mission.model_copy(update=wished)


def begin(
    repository: Repository, config: Config, directive: Directive, wishes: Wishes, triage: Triage
) -> tuple[MissionRecords, Mission]:
    """Make the intent and its first state, and make it the active mission."""
    if PhaseName.EXECUTION in wishes.skips:
        raise UsageWrong("EXECUTION is never skipped", fix="leave out --skip EXECUTION")
    private = private_folder(repository)
    ensure_excluded(repository, repository.root / "quantum.json")
    exclude_intents(repository, intents_folder(repository.root, config.intents_root))
    intent = directive.intent
    if intent is None:
        intent = _make_intent(repository, config, directive)
    else:
        _take_intent(directive, intent)
    now = utc_now()
    mission = Mission(
        id=intent.id,
        slug=intent.slug,
        directive=intent.title if directive.is_plan else directive.text.strip(),
        source=str(directive.source) if directive.source else None,
        autonomy=wishes.autonomy,
        is_quick=wishes.is_quick,
        is_team=wishes.is_team,
        team=wishes.team,
        may_destroy=wishes.may_destroy,
        triage=triage,
        started_at=now,
        updated_at=now,
        constraints=wishes.constraints,
        limit_usd=wishes.limit_usd,
        skips=wishes.skips,
    )
    records = MissionRecords(private, intent.folder)
    records.begin(mission)
    return records, mission


def _make_intent(repository: Repository, config: Config, directive: Directive) -> Intent:
    source = directive.source
    author = read_settings(repository).name
    sources = () if source is None else (path_in_plan(source, repository.root),)
    root = intents_folder(repository.root, config.intents_root)
    intent = create_intent(root, directive.text, author=author, sources=sources)
    _write_spec(intent, directive)
    return intent


def _take_intent(directive: Directive, intent: Intent) -> None:
    """An intent that is there, as one that is wanted now."""
    change_index(intent.folder.parent, lambda index: placed(index, intent, Group.ACTIVE))
    if lifecycle_of(intent).spec is None:
        _write_spec(intent, directive)


def _write_spec(intent: Intent, directive: Directive) -> None:
    if directive.is_plan:
        write_atomic(intent.folder / "spec.md", directive.text.encode())


def _is_document(directive: Directive) -> bool:
    """Whether the directive is a document and not a sentence or two."""
    return directive.source is not None or directive.is_plan
