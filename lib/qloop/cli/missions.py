"""What the mission commands do once their words are parsed."""

import getpass
import os
import sys
from pathlib import Path
from typing import Any

from qloop.cli.mission_watching import tell_waiting
from qloop.mission import beginning, loop
from qloop.mission.intent_end import Ending, end_intent, finish_end
from qloop.mission.mission_lock import take_mission_lock
from qloop.mission.records import MissionRecords
from qloop.plan.document import load_document
from qloop.repo.checkout import Repository, find_repository
from qloop.run.config import load_config
from qloop.run.holder import private_folder
from qloop.run.inside import check_outside
from qloop.state.active import find_active
from qloop.state.intents import find_intent, intents_folder, load_intent
from qloop.state.lifecycle import Disposition
from qloop.state.mission import Answer, Checkpoint, Mission, MissionStatus, Triage
from qloop.state.mission_store import as_it_stands, is_running
from qloop.state.phases import Autonomy, PhaseName
from qloop.system.clock import utc_now
from qloop.system.errors import (
    BadInput,
    InputMissing,
    PersonNeeded,
    QloopError,
    RepositoryBusy,
)
from qloop.ui import console
from qloop.ui.mission_show import MissionShow
from qloop.ui.mission_view import mission_json, show_question, show_status, show_summary

CHOICES = {"1": "autopilot", "2": "guided", "3": "hands-on", "go": "autopilot"}
NO_AGENT = (
    "this needs an agent to carry it out, and none is set or installed here: "
    "`qloop runners list` tells how to install one"
)


def begin_mission(text: str | None, source: Path | None, *, as_json: bool, **wishes: Any) -> int:
    """Begin a mission and say what comes next."""
    repository = find_repository(Path.cwd())
    check_outside(repository, "mission new")
    records, mission = _begin(repository, text, source, **wishes)
    if as_json:
        console.print_json(mission_json(mission, records.folder, records.spent(mission)))
        return 0
    console.say(f"mission {mission.id} ({mission.autonomy}) in {records.folder}")
    tell_waiting(repository, mission)
    console.result("go on with: qloop mission run")
    return 0


def run_quick(text: str, *, ask: bool, autonomy: str | None, limit_usd: float | None) -> int:
    """Begin a quick mission and run it; its exit code."""
    repository = find_repository(Path.cwd())
    check_outside(repository, "quick")
    chosen = autonomy or "autopilot"
    records, _ = _begin(repository, text, None, autonomy=chosen, limit_usd=limit_usd, is_quick=True)
    return run_records(repository, records, ask=ask)


def _begin(
    repository: Repository,
    text: str | None,
    source: Path | None,
    *,
    autonomy: str | None,
    limit_usd: float | None,
    skips: tuple[str, ...] = (),
    constraints: tuple[str, ...] = (),
    is_quick: bool = False,
    word: str | None = None,
) -> tuple[MissionRecords, Mission]:
    config = load_config(repository.root)
    if word is None:
        directive = beginning.read_directive(text, source)
    else:
        directive = beginning.directive_of(repository, config, word)
    if beginning.lacks_agent(repository, config, directive):
        console.say(NO_AGENT)
    triage = beginning.triage_of(repository, directive)
    chosen = autonomy or _ask_autonomy(directive.text, triage)
    wishes = beginning.Wishes(
        autonomy=Autonomy.of_word(chosen),
        limit_usd=limit_usd,
        is_quick=is_quick,
        skips=tuple(PhaseName(one.upper()) for one in skips),
        constraints=constraints,
    )
    return beginning.begin(repository, config, directive, wishes, triage)


def _ask_autonomy(text: str, triage: Triage) -> str:
    """How much the mission is to ask: a person's word at a terminal, else guided."""
    if not sys.stdin.isatty():
        return "guided"
    import click

    lines = text.strip().splitlines() or [""]
    console.say(f"mission: {lines[0]}")
    console.say(f"looks {triage.complexity}: {'; '.join(triage.reasons)}")
    console.say("1 autopilot: asks only where it must")
    console.say("2 guided: also for the plan, and at the end of phases")
    console.say("3 hands-on: also after each wave")
    word = click.prompt("how much may it ask?", type=click.Choice(list(CHOICES)), err=True)
    return CHOICES[word]


def run_here(intent: str | None, *, ask: bool, must_be_begun: bool = False) -> int:
    """Run a mission as far as it goes; its exit code."""
    repository = find_repository(Path.cwd())
    check_outside(repository, "mission run")
    records = find_records(repository, intent)
    if must_be_begun and records.read().status is MissionStatus.INITIALIZED:
        console.say("it had not begun; it begins now")
    return run_records(repository, records, ask=ask)


def run_records(repository: Repository, records: MissionRecords, *, ask: bool) -> int:
    """Run a mission, show how it ended, and return the exit code."""
    mission = records.read()
    intent = load_intent(records.folder, mission.id, mission.slug)
    if finish_end(records.private, intent, console.say) is not None:
        return _end(records, records.read())
    if mission.status.is_over:
        raise BadInput(
            f"mission {mission.id} is {mission.status}",
            where=str(records.folder),
            fix="begin another: qloop mission new",
        )
    with MissionShow(records.private, records.folder) as show:
        asked = show.paused(_ask) if ask and sys.stdin.isatty() else None
        mission = loop.run_mission(repository, records, loop.Person(show.say, asked))
    return _end(records, mission)


def _end(records: MissionRecords, mission: Mission) -> int:
    waiting = mission.open_checkpoint
    if waiting is not None and not mission.status.is_over:
        show_question(waiting)
        return PersonNeeded.exit_code
    if mission.status is MissionStatus.INTERRUPTED:
        console.say("interrupted; go on with: qloop mission resume")
        return 130
    show_summary(mission, records.spent(mission), _branch(records.folder))
    return 0 if mission.status is MissionStatus.COMPLETED else 1


def _branch(folder: Path) -> str | None:
    """The feature branch of the mission's plan, where there is one that can be read."""
    try:
        return str(load_document(folder / "quantum.json")["branchName"])
    except (QloopError, KeyError):
        return None


def _ask(checkpoint: Checkpoint) -> Answer:
    """A person's answer at the terminal."""
    import click

    show_question(checkpoint)
    words = click.Choice([option.id for option in checkpoint.options])
    option = click.prompt(f"{checkpoint.id}:", type=words, err=True)
    note = click.prompt("a note for whoever goes on (or nothing)", default="", err=True)
    return Answer(option=option, note=note, by=getpass.getuser(), at=utc_now())


def answer_here(checkpoint_id: str, option: str, note: str) -> int:
    """Close a checkpoint by a person's word."""
    repository = find_repository(Path.cwd())
    check_outside(repository, "answer")
    records = _owner(repository, checkpoint_id)
    _check_option(records.read(), checkpoint_id, option)
    answer = Answer(option=option, note=note, by=getpass.getuser(), at=utc_now())
    before: list[Mission] = []

    def take(mission: Mission) -> Mission:
        before[:] = [mission]
        return loop.answer_checkpoint(mission, checkpoint_id, answer)

    mission = records.change(take)
    _check_option(before[0], checkpoint_id, option)
    console.say(f"{checkpoint_id} is answered: {option}")
    if mission.status is MissionStatus.ABANDONED:
        _end_abandoned(records, mission)
    else:
        console.result(f"go on with: qloop mission resume {mission.id}")
    return 0


def _check_option(mission: Mission, checkpoint_id: str, option: str) -> None:
    """Raise BadInput where the question waits for no answer, or has no such option."""
    found = next(one for one in mission.checkpoints if one.id == checkpoint_id)
    if found.answer is not None:
        raise BadInput(
            f"{found.id} was answered already: {found.answer.option}, by {found.answer.by}",
            fix="look where the mission stands: qloop mission status",
        )
    if mission.status.is_over:
        raise BadInput(
            f"{found.id} waits no more: mission {mission.id} is {mission.status}",
            fix="begin another: qloop mission new",
        )
    known = [one.id for one in found.options]
    if option not in known:
        raise BadInput(f"{found.id} has no option {option!r}", fix=f"say {' or '.join(known)}")


def _owner(repository: Repository, checkpoint_id: str) -> MissionRecords:
    """The mission whose checkpoint is meant. Raises InputMissing."""
    word = checkpoint_id.removeprefix("cp-").partition("-")[0]
    try:
        records = find_records(repository, word)
        if any(one.id == checkpoint_id for one in records.read().checkpoints):
            return records
    except (InputMissing, BadInput):
        pass
    raise InputMissing(
        f"there is no checkpoint {checkpoint_id!r}", fix="see what waits: qloop mission status"
    )


def show_mission(intent: str | None, *, as_json: bool) -> int:
    """Where a mission stands."""
    records = find_records(find_repository(Path.cwd()), intent)
    mission = records.read()
    spent = records.spent(mission)
    if as_json:
        console.print_json(mission_json(as_it_stands(mission), records.folder, spent))
    else:
        show_status(mission, records.folder, spent)
    return 0


def abandon_here(intent: str | None) -> int:
    """End a mission for good."""
    repository = find_repository(Path.cwd())
    check_outside(repository, "mission abandon")
    records = find_records(repository, intent)
    mission = records.read()
    if is_running(mission):
        raise RepositoryBusy(
            f"mission {mission.id} is being run by another process",
            fix="end that first: qloop stop",
        )
    _end_abandoned(records, mission)
    console.say(f"mission {mission.id} is abandoned; what has landed stays")
    return 0


def _end_abandoned(records: MissionRecords, mission: Mission) -> None:
    """End the intent of an abandoned mission; one that is being run ends its own."""
    if is_running(mission):
        return
    lock = take_mission_lock(records, console.say)
    try:
        found = load_intent(records.folder, mission.id, mission.slug)
        for step in end_intent(Ending(records.private, found, Disposition.ABANDONED)):
            console.say(step)
    finally:
        os.close(lock)


def coordinate_here() -> int:
    """One phase, for the mission at the other end of the pipes."""
    from qloop.mission.coordinating import coordinate_phase

    return coordinate_phase(find_repository(Path.cwd()), sys.stdin, sys.stdout)


def find_records(
    repository: Repository, word: str | None, fix: str = "begin one: qloop mission new"
) -> MissionRecords:
    """The mission that is meant; the active one where none is named.

    Raises InputMissing, which says *fix* where there is none at all.
    """
    private = private_folder(repository)
    if word is not None:
        root = intents_folder(repository.root, load_config(repository.root).intents_root)
        return MissionRecords(private, find_intent(root, word).folder)
    folder = find_active(private)
    if folder is None:
        raise InputMissing("there is no mission", where=str(repository.root), fix=fix)
    return MissionRecords(private, folder)
