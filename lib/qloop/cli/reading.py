"""What `logs` does once its words are parsed: an attempt's output, as it is or as it grows."""

import re
from collections.abc import Callable
from pathlib import Path

from qloop.agents.readable import readable_log
from qloop.cli.looking import Place, find_place, find_story
from qloop.cli.planning import read_plan
from qloop.plan.values import STORY_ID
from qloop.run.holder import read_holder
from qloop.state.journal import Event, Journal
from qloop.system.errors import InputMissing
from qloop.ui import console
from qloop.ui.history import is_over
from qloop.ui.logs import follow_log, print_log

OUTPUT = "output.log"


def show_logs(
    story_id: str, attempt: int | None, quantum: Path | None, *, follow: bool, raw: bool
) -> int:
    """Print an attempt's output, then name what else was kept of it.

    It is what the agent printed where that is text, or where *raw* is asked for, else its readable
    log. Raises BadInput for an unknown story, InputMissing where there is no such log.
    """
    place = find_place(quantum)
    folder = _find_folder(place, story_id, attempt)

    def find_log() -> Path:
        return folder / OUTPUT if raw else readable_log(folder / OUTPUT)

    whose = f"attempt {folder.name} of {story_id}, its agent:"
    if follow:
        console.say(whose)
        follow_log(find_log, _watch(place, story_id, int(folder.name)))
    log = find_log()
    if not log.exists():
        raise InputMissing(
            f"attempt {folder.name} of {story_id} has no output of an agent",
            where=str(folder),
            fix=_others_text(folder, log) or "its agent was not started",
        )
    if not follow:
        console.say(whose)
        print_log(log)
    for text in (_others_text(folder, log), _earlier_text(story_id, folder)):
        if text:
            console.say(text)
    return 0


def _find_folder(place: Place, story_id: str, attempt: int | None) -> Path:
    """The log folder of an attempt. Raises BadInput, InputMissing."""
    found = _numbered(place.private / "logs" / story_id) if re.match(STORY_ID, story_id) else {}
    if not found:
        # Logs outlive plans, so the plan is asked only where there are none.
        find_story(read_plan(place.state_file), story_id, place.state_file)
        raise InputMissing(
            f"no attempt at {story_id} was made yet",
            where=str(place.private / "logs"),
            fix=f"`qloop show {story_id}` tells what it waits for",
        )
    number = max(found) if attempt is None else attempt
    if number not in found:
        kept = ", ".join(map(str, sorted(found)))
        raise InputMissing(
            f"there are no logs of attempt {number} of {story_id}",
            where=str(place.private / "logs" / story_id),
            fix=f"those of attempts {kept} are there",
        )
    return found[number]


def _numbered(folder: Path) -> dict[int, Path]:
    """The folders of attempts, by number."""
    if not folder.is_dir():
        return {}
    names = (path for path in folder.iterdir() if path.name.isdecimal() and path.is_dir())
    return {int(path.name): path for path in names}


def _watch(place: Place, story_id: str, attempt: int) -> Callable[[], bool]:
    """What tells whether an attempt can print no more: its end in the journal, or no run at all."""
    journal = Journal(place.private / "events.jsonl")
    seen: list[Event] = []
    offset = 0

    def look() -> bool:
        nonlocal offset
        holder = read_holder(place.private)
        events, offset = journal.read_from(offset)
        seen.extend(event for event in events if event.story in (None, story_id))
        return is_over(seen, story_id, attempt) or holder is None or not holder.alive

    return look


def _earlier_text(story_id: str, folder: Path) -> str:
    """How the logs of the story's other attempts are seen; empty where there are none."""
    others = sorted(number for number in _numbered(folder.parent) if number != int(folder.name))
    if not others:
        return ""
    return f"other attempts: qloop logs {story_id} --attempt {' or '.join(map(str, others))}"


def _others_text(folder: Path, shown: Path) -> str:
    """The attempt's other files, by name, with the folder that they lie in."""
    names = sorted(path.name for path in folder.iterdir() if path.name != shown.name)
    return f"beside it in {folder}: {', '.join(names)}" if names else ""
