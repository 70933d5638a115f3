"""The hub: intents that a person keeps for their projects, in their own folder.

One that is tagged `project-NAME` and wanted now is brought into that project once; how it ended
there is told back, and what came up there as a follow-up becomes an intent of the hub, for later.
Errors: those of the intents' files.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qloop.mission.intent_end import Ending, end_intent, finish_end
from qloop.state.intent import Intent, read_front
from qloop.state.intent_index import Group, parse_index
from qloop.state.intents import create_intent, list_intents, read_index
from qloop.state.lifecycle import Disposition, lifecycle_of
from qloop.state.sections import section_text
from qloop.system.errors import Faults, QloopError
from qloop.system.own_folder import own_folder

MARK = "hub"
FOLLOW_UPS = "Follow-ups"
_SOURCES = re.compile(r"^sources:(.*)$", re.MULTILINE)
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?(.*\w.*)")


@dataclass(frozen=True, slots=True)
class Shelf:
    """The intents of one project: where they lie, and the name that it is registered under."""

    root: Path
    name: str
    private: Path
    """The `.qloop` folder of its checkout."""

    @property
    def tag(self) -> str:
        """What an intent of the hub bears that is for it."""
        return f"project-{self.name}"


def hub_folder() -> Path:
    """Where this person's intents for all projects lie."""
    return own_folder() / "intents"


def bring(shelf: Shelf, hub: Path, author: str) -> list[Intent]:
    """Make an intent of the project of each of the hub's that is wanted there and not yet is."""
    index = parse_index(read_index(hub))
    known = _sources(list_intents(shelf.root))
    made = []
    for one in list_intents(hub):
        source = f"{MARK}:{one.id}"
        is_wanted = (index.group_of(one.id) or Group.ACTIVE) is Group.ACTIVE
        if not is_wanted or source in known or shelf.tag not in _words(one, "tags"):
            continue
        text = section_text(lifecycle_of(one).document or "", "Intent") or one.title
        made.append(create_intent(shelf.root, text, author=author, sources=(source,)))
    return made


def give_back(shelf: Shelf, hub: Path, say: Callable[[str], None]) -> list[Intent]:
    """Tell the hub how its intents ended in the project; the new ones that came of it.

    One that the hub cannot end is told by *say*, and keeps none of the others.
    """
    index = parse_index(read_index(shelf.root))
    at_hub = {one.id: one for one in list_intents(hub)}
    made = []
    for one in list_intents(shelf.root):
        ending = index.ending_of(one.id)
        if ending is None:
            continue
        made += _contribute(shelf, hub, one)
        for source in _sources_of(one):
            mark, _, number = source.partition(":")
            known = at_hub.get(int(number)) if mark == MARK and number.isdigit() else None
            if known is not None:
                try:
                    _end(known, hub, shelf, ending)
                except QloopError as exc:
                    say(f"{ending} here, but not over in the hub: {told(exc)}")
    return made


def told(error: QloopError) -> str:
    """An error in one line, with all that it names."""
    return "; ".join((str(error), *(error.faults if isinstance(error, Faults) else ())))


def _end(one: Intent, hub: Path, shelf: Shelf, how: Disposition) -> None:
    if finish_end(hub.parent, one, lambda _: None) is not None:
        return
    if parse_index(read_index(hub)).ending_of(one.id) is None:
        note = f"{how.value.capitalize()} in {shelf.name}."
        for _ in end_intent(Ending(hub.parent, one, how, note)):
            pass


def _contribute(shelf: Shelf, hub: Path, one: Intent) -> list[Intent]:
    """The follow-ups of an intent that is over, each as an intent of the hub, once."""
    made = []
    known = _sources(list_intents(hub))
    body = section_text(lifecycle_of(one).outcome or "", FOLLOW_UPS) or ""
    found = [item for item in map(_ITEM.fullmatch, body.splitlines()) if item is not None]
    for number, item in enumerate(found, start=1):
        source = f"{shelf.name}:{one.name}#{number}"
        if source not in known:
            tags = (shelf.tag, "contribution")
            new = create_intent(
                hub, item[1], author="qloop", sources=(source,), tags=tags, group=Group.FUTURE
            )
            made.append(new)
    return made


def _sources(intents: Iterable[Intent]) -> set[str]:
    return {word for one in intents for word in _sources_of(one)}


def _sources_of(one: Intent) -> list[str]:
    """Where an intent comes from, also by a front matter that is broken elsewhere."""
    text = lifecycle_of(one).document or ""
    if read_front(text):
        return _words(one, "sources")
    line = _SOURCES.search(text)
    return [] if line is None else re.findall(r'"([^"\n]+)"', line[1])


def _words(one: Intent, key: str) -> list[str]:
    found: Any = read_front(lifecycle_of(one).document or "").get(key)
    return [str(word) for word in found] if isinstance(found, list) else []
