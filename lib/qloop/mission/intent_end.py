"""The end of an intent: a tail of steps in a fixed order, each of which may be done again.

Killed after any of them, the next call goes on and comes to the same end. The index decides
whether an intent is over; one that is over is never taken up again.
Errors: BadInput for an end that cannot be, RepositoryBusy where somebody works on the intent.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path

from qloop.mission.outcome_text import render_outcome
from qloop.mission.records import MissionRecords
from qloop.state.delivery_lock import Held, look, release
from qloop.state.intent import Intent, parse_folder_name
from qloop.state.intent_index import ENDINGS, parse_index, placed
from qloop.state.intents import change_index, read_index
from qloop.state.lifecycle import (
    CHECKLIST,
    OUTCOME,
    Disposition,
    Lifecycle,
    Stage,
    document_of,
    read_lifecycle,
)
from qloop.state.mission import MissionStatus
from qloop.state.mission_store import STATE
from qloop.state.savepoints import add_savepoint, created, folder_locked, last_stage, read_ledger
from qloop.state.sections import section_text, with_lines
from qloop.system.errors import BadInput, Faults, RepositoryBusy
from qloop.system.files import write_atomic
from qloop.system.identity import is_alive, parse_process_id

MISSION_ENDS = {
    Disposition.DELIVERED: MissionStatus.COMPLETED,
    Disposition.ABANDONED: MissionStatus.ABANDONED,
}


@dataclass(frozen=True, slots=True)
class Ending:
    """How an intent is to end."""

    private: Path
    """The `.qloop` folder of the checkout."""
    intent: Intent
    disposition: Disposition
    note: str = ""
    """What became of it, in a sentence or more."""
    session: str = ""
    """Whose lock does not stand in the way."""


def check_not_over(folder: Path) -> None:
    """Raise BadInput for an intent that is over, since it is not taken up again."""
    number = _number(folder)
    how = None if number is None else parse_index(read_index(folder.parent)).ending_of(number)
    if how is not None:
        raise BadInput(
            f"intent {number} is over ({how}), and is not taken up again",
            where=str(folder),
            fix=f"begin another that follows from it: qloop intent new TEXT --after {number}",
        )


def end_intent(ending: Ending) -> Generator[str, None, None]:
    """Take the steps that are still to be done, and name each when it is done for good."""
    _check(ending)
    folder = ending.intent.folder
    if _write_outcome(ending):
        yield OUTCOME
    if _fill_document(ending):
        yield f"{ending.intent.document.name}: ## Outcome"
    group = ENDINGS[ending.disposition]
    if change_index(folder.parent, lambda text: placed(text, ending.intent, group)):
        yield f"INDEX.md: {group}"
    for stage, milestone in _missing_lines(ending):
        if add_savepoint(folder, stage, milestone) is not None:
            yield f"savepoint.md: {stage} {milestone}"
    if _end_mission(ending):
        yield "state.json: the mission is over"
    if _drop_lock(ending):
        yield "delivery.lock: released"


def finish_end(private: Path, intent: Intent, say: Callable[[str], None]) -> Disposition | None:
    """Take the steps that an intent's end lacks; None where it lacks none, else how it ended.

    Its mission may be over before the intent is. *private* is the `.qloop` folder of the checkout.
    """
    over = parse_index(read_index(intent.folder.parent)).ending_of(intent.id)
    how = over or _ending_of_mission(private, intent.folder)
    if how is None or (over is not None and not _is_cut_off(Ending(private, intent, how))):
        return None
    for step in end_intent(Ending(private, intent, how)):
        say(step)
    return how


def _ending_of_mission(private: Path, folder: Path) -> Disposition | None:
    if not (folder / STATE).exists():
        return None
    status = MissionRecords(private, folder).read().status
    return {one: how for how, one in MISSION_ENDS.items()}.get(status)


def _is_cut_off(ending: Ending) -> bool:
    """Whether what comes behind the index is not all done, and nothing else is in its way."""
    files = read_lifecycle(ending.intent.folder)
    is_open = ending.disposition is Disposition.DELIVERED and bool(files.open_boxes)
    if files.disposition is not ending.disposition or is_open:
        return False
    records = _mission(ending)
    goes_on = records is not None and not records.read().status.is_over
    is_held = look(ending.intent.folder, ending.session).held is Held.STALE
    return bool(_missing_lines(ending)) or goes_on or is_held


def _check(ending: Ending) -> None:
    """Whether the intent may end so. Nothing is changed before."""
    files = read_lifecycle(ending.intent.folder)
    before = parse_index(read_index(ending.intent.folder.parent)).ending_of(ending.intent.id)
    if before not in (None, ending.disposition):
        raise BadInput(
            f"intent {ending.intent.id} is over already: {before}",
            where=str(ending.intent.folder),
            fix=f"say --disposition {before} to bring that to its end",
        )
    _check_outcome(ending, files)
    if ending.disposition is Disposition.DELIVERED and files.open_boxes:
        raise Faults(
            f"{CHECKLIST} has open boxes",
            tuple(f"[ ] {box.text}" for box in files.open_boxes),
            where=str(ending.intent.folder / CHECKLIST),
            fix="do and tick them, or abandon the intent",
        )
    _check_idle(ending)


def _check_outcome(ending: Ending, files: Lifecycle) -> None:
    if files.outcome is None or files.disposition is ending.disposition:
        return
    said = "no disposition" if files.disposition is None else f"{files.disposition.value!r}"
    raise BadInput(
        f"{OUTCOME} says {said}, not {ending.disposition.value!r}",
        where=str(ending.intent.folder / OUTCOME),
        fix="correct its front matter, or say the other disposition",
    )


def _check_idle(ending: Ending) -> None:
    folder = ending.intent.folder
    seen = look(folder, ending.session)
    if seen.held is Held.HELD and seen.lock is not None:
        raise RepositoryBusy(
            f"the intent is being delivered by {seen.lock.owner_session!r}",
            where=str(folder),
            fix="wait for its end, or stop it",
        )
    records = _mission(ending)
    process = None if records is None else parse_process_id(records.read().process)
    if process is not None and is_alive(process) and seen.held is not Held.OWNED:
        raise RepositoryBusy(
            f"its mission is being run by process {process.pid}",
            where=str(folder),
            fix="stop that first",
        )


def _write_outcome(ending: Ending) -> bool:
    folder = ending.intent.folder
    with folder_locked(folder):
        if read_lifecycle(folder).outcome is not None:
            return False
        text = render_outcome(folder, ending.intent.id, ending.disposition, ending.note)
        write_atomic(folder / OUTCOME, text.encode())
        return True


def _fill_document(ending: Ending) -> bool:
    """Say in the intent's own document how it ended, where that says nothing yet."""
    folder = ending.intent.folder
    with folder_locked(folder):
        path = document_of(folder)
        if path is None:
            return False
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        if section_text(text, "Outcome") != "":
            return False
        told = f"{ending.disposition.value.capitalize()}, see [{OUTCOME}]({OUTCOME})."
        filled = with_lines(text, "Outcome", [told])
        write_atomic(path, filled.encode("utf-8", "surrogateescape"))
        return True


def _missing_lines(ending: Ending) -> list[tuple[Stage, str]]:
    """What the ledger lacks; behind the line of the end nothing of a stage is to stand."""
    newest = last_stage(read_ledger(ending.intent.folder))
    done = (Stage.DONE, ending.disposition.value)
    if newest is not None and (newest.stage, newest.milestone) == done:
        return []
    return [(Stage.EXEC, created(OUTCOME)), done]


def _end_mission(ending: Ending) -> bool:
    records = _mission(ending)
    if records is None or records.read().status.is_over:
        return False
    status = MISSION_ENDS[ending.disposition]
    records.change(lambda mission: mission.model_copy(update={"status": status}))
    return True


def _drop_lock(ending: Ending) -> bool:
    folder = ending.intent.folder
    seen = look(folder, ending.session)
    if seen.held is not Held.STALE or seen.lock is None:
        return False
    return release(folder, seen.lock.owner_session)


def _mission(ending: Ending) -> MissionRecords | None:
    folder = ending.intent.folder
    return MissionRecords(ending.private, folder) if (folder / STATE).exists() else None


def _number(folder: Path) -> int | None:
    names = parse_folder_name(folder.name)
    return None if names is None else names[0]
