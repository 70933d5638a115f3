"""One project's part of a round: build what is wanted there, observe what came of it.

Each intent is taken as far as it goes, one after the other; one that waits for a person is left
alone. What is over stays over, so a round that was killed is simply done again.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from qloop.mission.hub import Shelf, bring, give_back, told
from qloop.mission.intent_end import finish_end
from qloop.state.intent import Intent
from qloop.state.intent_index import Group, parse_index
from qloop.state.intents import list_intents, read_index
from qloop.state.mission_store import STATE, read_mission
from qloop.system.errors import BadInput, InputMissing, PersonNeeded, QloopError
from qloop.system.files import read_optional, write_atomic

RESULT = "round.json"
"""In a project's `.qloop`: what its newest round came to."""
INTERRUPTED = 130


@dataclass(slots=True)
class RoundResult:
    """What became of a project's intents in a round, by their folders' names."""

    brought: list[str] = field(default_factory=list)
    """From the hub."""
    delivered: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    """For a person."""
    failed: list[str] = field(default_factory=list)
    contributed: list[str] = field(default_factory=list)
    """To the hub."""
    is_interrupted: bool = False

    def write(self, private: Path) -> None:
        """Keep it in the project's own folder."""
        write_atomic(private / RESULT, (json.dumps(asdict(self), indent=2) + "\n").encode())


def read_result(private: Path) -> RoundResult:
    """The newest round of a project. Raises InputMissing where none came to its end."""
    data = read_optional(private / RESULT)
    if data is None:
        raise InputMissing("the round was not finished", where=str(private), fix="see its log")
    told = json.loads(data)
    return RoundResult(**{one.name: told[one.name] for one in fields(RoundResult)})


def work_round(
    shelf: Shelf,
    hub: Path,
    author: str,
    deliver: Callable[[Intent], int],
    say: Callable[[str], None],
) -> RoundResult:
    """Bring, build and give back; *deliver* takes one intent as far as it goes: its exit code.

    What went wrong with one is told by *say*, and the others go on.
    """
    result = RoundResult([one.name for one in bring(shelf, hub, author)])
    _finish_ends(shelf, say)
    for one in _wanted(shelf):
        if _waits(one):
            result.waiting.append(one.name)
            continue
        try:
            code = deliver(one)
        except QloopError as exc:
            say(f"{one.name}: {told(exc)}")
            code = exc.exit_code
        except OSError as exc:
            say(f"{one.name}: {exc}")
            code = BadInput.exit_code
        if code == INTERRUPTED:
            result.is_interrupted = True
            break
        kept = {0: result.delivered, PersonNeeded.exit_code: result.waiting}
        kept.get(code, result.failed).append(one.name)
    result.contributed = [one.name for one in give_back(shelf, hub, say)]
    return result


def _finish_ends(shelf: Shelf, say: Callable[[str], None]) -> None:
    """Bring ends that were cut off to their end."""
    index = parse_index(read_index(shelf.root))
    over = [one for one in list_intents(shelf.root) if index.ending_of(one.id) is not None]
    for one in over:
        try:
            if finish_end(shelf.private, one, lambda _: None) is not None:
                say(f"{one.name}: its end was cut off, and is whole now")
        except QloopError as exc:
            say(f"{one.name}: {told(exc)}")


def _wanted(shelf: Shelf) -> Iterator[Intent]:
    """The intents that are wanted now, oldest first."""
    index = parse_index(read_index(shelf.root))
    for one in list_intents(shelf.root):
        if (index.group_of(one.id) or Group.ACTIVE) is Group.ACTIVE:
            yield one


def _waits(one: Intent) -> bool:
    if not (one.folder / STATE).exists():
        return False
    try:
        return read_mission(one.folder).open_checkpoint is not None
    except QloopError:
        return False
