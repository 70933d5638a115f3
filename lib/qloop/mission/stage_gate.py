"""What may be written into an intent's folder, by the stage that its files have reached.

Each deliverable needs the one before it, and belongs to one role; boxes marked for a person are
a person's to tick. Pure functions of the files as they are and of what would be written.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from qloop.mission.team import ENFORCER, find_member
from qloop.state.intent import parse_folder_name, read_front
from qloop.state.lifecycle import (
    ACTIONS,
    CHECKLIST,
    OUTCOME,
    PLAN,
    SPEC,
    Disposition,
    Lifecycle,
    Stage,
    action_number,
    is_placeholder,
)
from qloop.state.sections import Box, read_boxes, section_text

PERSONS_MARK = "[ORCHESTRATOR]"
DOCUMENT = "document"

STAGES = {
    DOCUMENT: Stage.WHAT,
    SPEC: Stage.WHY,
    PLAN: Stage.HOW,
    ACTIONS: Stage.HOW,
    CHECKLIST: Stage.HOW,
    OUTCOME: Stage.DONE,
}
"""The stage that each deliverable ends or belongs to."""
OWNERS: dict[str, tuple[str, ...]] = {
    DOCUMENT: ("brainstorming", "executor"),
    SPEC: ("spec-specialist",),
    PLAN: ("planner",),
    ACTIONS: ("planner",),
    CHECKLIST: ("planner", "executor"),
    OUTCOME: (),
}
"""The roles of the team that write each; the enforcer writes all of them. For roles outside of
the team the gate before each tool says where they write."""


@dataclass(frozen=True, slots=True)
class Write:
    """One file that somebody is about to write into the folder."""

    path: str
    """Seen from the intent's folder, with slashes."""
    text: str
    role: str | None = None
    """The role of the agent that writes; None for a person."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a file may not be written so."""

    rule: str
    reason: str
    fix: str


def deliverable_of(path: str) -> str | None:
    """Which deliverable a path in the folder is: its name, `actions` or `document`; else None."""
    parts = PurePosixPath(path).parts
    if len(parts) == 2 and parts[0] == ACTIONS and action_number(parts[1]) is not None:
        return ACTIONS
    if len(parts) != 1:
        return None
    if parts[0] in STAGES:
        return parts[0] if parts[0] != ACTIONS else None
    stem = parts[0].removesuffix(".md")
    return DOCUMENT if stem != parts[0] and parse_folder_name(stem) is not None else None


def judge_write(files: Lifecycle, write: Write) -> Refusal | None:
    """The first rule against a write; None where it may be. A placeholder may always be."""
    name = deliverable_of(write.path)
    if name is None:
        return None
    return (
        _find_stranger(name, write)
        or (None if is_placeholder(write.text) else _find_gap(name, files, write.text))
        or (_find_persons_box(files, write) if name == CHECKLIST else None)
    )


def find_gaps(files: Lifecycle) -> Iterator[Refusal]:
    """What stands in the folder and should not yet: deliverables without the one before."""
    texts = {SPEC: files.spec, PLAN: files.plan, CHECKLIST: files.checklist}
    for name, text in {**texts, OUTCOME: files.outcome}.items():
        gap = None if text is None else _find_gap(name, files, text)
        if gap is not None:
            yield gap


def find_early_outcome(files: Lifecycle, intent: int | str) -> Refusal | None:
    """The rule against an outcome of an intent that is not over, and the two ways on."""
    if files.outcome is None:
        return None
    end = f"qloop intent end {intent} --disposition {files.disposition or Disposition.DELIVERED}"
    reason = f"{OUTCOME} is there before the intent's end"
    return Refusal("outcome-too-early", reason, f"end it by that: {end}; or take it away")


def _find_stranger(name: str, write: Write) -> Refusal | None:
    """Whether the file is another role's."""
    if write.role in (None, ENFORCER):
        return None
    member = find_member(write.role or "")
    owners = OWNERS[name]
    if member is None or member.name in owners:
        return None
    stages = list(Stage)
    if stages.index(STAGES[name]) > stages.index(member.stage):
        return Refusal(
            "too-early",
            f"{write.path} belongs to a later stage than {member.stage}",
            f"hand over {member.deliverable} first",
        )
    who = " and ".join(owners) or "qloop alone"
    return Refusal("not-yours", f"{write.path} is written by {who}", "say in your report what is")


def _find_gap(name: str, files: Lifecycle, text: str) -> Refusal | None:
    """Which deliverable must be there before."""
    if name == SPEC and section_text(files.document or "", "Intent") in (None, ""):
        return _needs(SPEC, "an intent's document with words under ## Intent")
    if name in (PLAN, ACTIONS) and files.spec is None:
        return _needs(name, SPEC)
    if name == CHECKLIST and files.plan is None:
        return _needs(CHECKLIST, PLAN)
    if name == CHECKLIST and not files.actions:
        return _needs(CHECKLIST, "an action, actions/ACTION_1.md")
    if name == OUTCOME and read_front(text).get("disposition") != Disposition.ABANDONED:
        return _find_open(files)
    return None


def _needs(name: str, what: str) -> Refusal:
    rule = f"{name.removesuffix('.md')}-too-early"
    return Refusal(rule, f"{name} needs {what}", "write that first")


def _find_open(files: Lifecycle) -> Refusal | None:
    if not files.open_boxes:
        return None
    box = files.open_boxes[0].text
    count = len(files.open_boxes)
    reason = f"{count} of {len(files.boxes)} boxes of {CHECKLIST} are open, the first is: {box}"
    return Refusal("open-box", reason, "do and tick them, or abandon the intent")


def _find_persons_box(files: Lifecycle, write: Write) -> Refusal | None:
    """Whether an agent ticks, rewords or removes a box that waits for a person."""
    if write.role is None:
        return None
    open_before = persons_boxes(files.open_boxes)
    after = read_boxes(write.text)
    open_after = persons_boxes(box for box in after if not box.is_ticked)
    ticked_before = persons_boxes(box for box in files.boxes if box.is_ticked)
    ticked_after = persons_boxes(box for box in after if box.is_ticked)
    changed = [text for text in open_before if open_after.count(text) < open_before.count(text)]
    changed += [t for t in ticked_after if ticked_after.count(t) > ticked_before.count(t)]
    if not changed:
        return None
    return Refusal(
        "persons-box",
        f"the box is a person's to tick: {changed[0]}",
        "leave it open, word for word; a person edits checklist.md",
    )


def is_persons(text: str) -> bool:
    """Whether a box is a person's to tick."""
    return text.strip("*_` ").casefold().startswith(PERSONS_MARK.casefold())


def persons_boxes(boxes: Iterable[Box]) -> list[str]:
    """The texts of those that are a person's to tick."""
    return [box.text.strip("*_` ") for box in boxes if is_persons(box.text)]
