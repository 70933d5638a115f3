"""Boxes of the checklist that a person must tick: nobody does so while agents are at work.

An agent whose tools are not watched can write into the intent's folder by its path. So a tick
counts where a person could have made it: while nothing ran, or a question waited.
"""

from collections.abc import Collection
from pathlib import Path

from qloop.mission.phase_desk import PhaseDesk
from qloop.mission.phase_order import ASKED
from qloop.mission.stage_gate import is_persons, persons_boxes
from qloop.state.lifecycle import CHECKLIST, read_lifecycle
from qloop.state.savepoints import folder_locked
from qloop.state.sections import read_boxes, untick_boxes
from qloop.system.files import read_optional, write_atomic

STEP = "boxes of a person"


def note_open(desk: PhaseDesk) -> None:
    """Record which are open before agents begin; once until a person has answered something."""
    folder = desk.folder
    desk.step(
        STEP, asked_last(desk), lambda: {"open": persons_boxes(read_lifecycle(folder).open_boxes)}
    )


def put_back(desk: PhaseDesk) -> None:
    """Have those open again that were so before agents began, and tell which were not."""
    found = desk.step(STEP, asked_last(desk), lambda: {"open": []})
    changed = reopen(desk.folder, found["open"])
    if changed:
        told = "; ".join(changed)
        desk.tell(f"open again, since ticked or changed while agents were at work: {told}")


def asked_last(desk: PhaseDesk) -> str | None:
    """The newest question that a person answered: what they ticked before that is theirs."""
    return (desk.order.checkpoint_context or {}).get(ASKED)


def reopen(folder: Path, wanted: Collection[str]) -> list[str]:
    """Open these boxes of a person, put back those that are gone, and return what that changed."""
    with folder_locked(folder):
        text = (read_optional(folder / CHECKLIST) or b"").decode("utf-8", "surrogateescape")
        still = persons_boxes(box for box in read_boxes(text) if not box.is_ticked)
        lacking = [one for one in wanted if one not in still]
        if not lacking:
            return []
        made = untick_boxes(text, lambda one: is_persons(one) and one.strip("*_` ") in lacking)
        known = persons_boxes(read_boxes(made))
        gone = [one for one in lacking if one not in known]
        if gone:
            start = made.rstrip("\n")
            made = "\n".join([*([start] if start else []), *(f"- [ ] {one}" for one in gone), ""])
        write_atomic(folder / CHECKLIST, made.encode("utf-8", "surrogateescape"))
    return lacking
