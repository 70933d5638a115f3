"""Intents as people see them: a row each, or one of them whole. Reads their folders only."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qloop.state.delivery_lock import Held, Seen, look
from qloop.state.insights import read_insights
from qloop.state.intent import Intent, read_front
from qloop.state.intent_index import Group, Index, parse_index
from qloop.state.intents import list_intents, read_index
from qloop.state.lifecycle import Lifecycle, lifecycle_of
from qloop.state.savepoints import last_stage, read_ledger
from qloop.ui import console

NEWEST = 5
"""How many savepoints and insights are shown."""
_NOBODY = ""


@dataclass(frozen=True, slots=True)
class IntentView:
    """What is known of an intent."""

    id: int
    name: str
    title: str
    group: Group
    clusters: tuple[str, ...]
    stage: str
    """By the ledger, without it by the files."""
    checklist: str | None
    """How many boxes are ticked, of how many."""
    owner: str | None
    owner_is: str
    """`held`: alive; `stale`: gone; `corrupt`: the lock cannot be read; `free`."""
    folder: str
    files: tuple[str, ...]
    tags: tuple[str, ...]
    sources: tuple[str, ...]
    after: tuple[str, ...]
    savepoints: tuple[str, ...]
    insights: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The view as JSON."""
        return dataclasses.asdict(self)


def read_intents(root: Path) -> list[IntentView]:
    """All intents in *root*, oldest first."""
    index = parse_index(read_index(root))
    return [_view(one, index) for one in list_intents(root)]


def read_intent(root: Path, intent: Intent) -> IntentView:
    """One intent."""
    return _view(intent, parse_index(read_index(root)))


def show_rows(rows: Sequence[IntentView]) -> None:
    """A table of intents, those that are wanted now first."""
    order = list(Group)
    columns = ("id", "where", "stage", "checklist", "title", "clusters")
    console.table(
        columns,
        (
            (row.id, row.group, row.stage, row.checklist, row.title, ", ".join(row.clusters))
            for row in sorted(rows, key=lambda row: (order.index(row.group), row.id))
        ),
    )


def show_one(view: IntentView) -> None:
    """All that is known of an intent."""
    facts = {
        "where": f"{view.group}{''.join(f', in {name}' for name in view.clusters)}",
        "stage": view.stage,
        "checklist": view.checklist,
        "delivered by": _owner(view),
        "files": ", ".join(view.files),
        "tags": ", ".join(view.tags),
        "sources": ", ".join(view.sources),
        "after": ", ".join(view.after),
        "folder": view.folder,
    }
    widest = max(map(len, facts))
    lines = [f"{view.id}  {view.title}"]
    lines += [f"  {name.ljust(widest)}  {value}" for name, value in facts.items() if value]
    for title, told in (("what happened", view.savepoints), ("insights", view.insights)):
        lines += ["", title] if told else []
        lines += [f"  {line}" for line in told[-NEWEST:]]
    console.result(console.printable("\n".join(lines)))


def _owner(view: IntentView) -> str:
    if view.owner_is == Held.CORRUPT:
        return "unknown: delivery.lock cannot be read; the next owner repairs it"
    gone = " (gone; the next owner takes over)" if view.owner_is == Held.STALE else ""
    return f"{view.owner}{gone}" if view.owner else ""


def _view(intent: Intent, index: Index) -> IntentView:
    files = lifecycle_of(intent)
    ledger = read_ledger(intent.folder)
    newest = last_stage(ledger)
    front = read_front(files.document or "")
    seen = look(intent.folder, _NOBODY)
    return IntentView(
        id=intent.id,
        name=intent.name,
        title=intent.title,
        group=index.group_of(intent.id) or Group.ACTIVE,
        clusters=index.clusters_of(intent.id),
        stage=files.stage if newest is None else newest.kind,
        checklist=_ticked(files),
        owner=_owner_of(seen),
        owner_is=seen.held,
        folder=str(intent.folder),
        files=tuple(_names(files, intent)),
        tags=_words(front.get("tags")),
        sources=_words(front.get("sources")),
        after=_words(front.get("chain")),
        savepoints=tuple(point.to_line() for point in ledger),
        insights=read_insights(files.document or ""),
    )


def _owner_of(seen: Seen) -> str | None:
    return None if seen.lock is None else seen.lock.owner_session


def _ticked(files: Lifecycle) -> str | None:
    if files.checklist is None:
        return None
    return f"{len(files.boxes) - len(files.open_boxes)}/{len(files.boxes)}"


def _names(files: Lifecycle, intent: Intent) -> list[str]:
    return [intent.document.name, *files.names] if files.document is not None else files.names


def _words(value: object) -> tuple[str, ...]:
    return tuple(str(word) for word in value) if isinstance(value, list) else ()
