"""The plan of an intent whose folder has actions: they are its stories.

Errors: Faults for actions that are no plan.
"""

import json
import re
from collections.abc import Collection
from pathlib import Path

from qloop.mission.destruction import destructive_stories
from qloop.mission.stage_gate import is_persons
from qloop.plan.actions import parse_actions, render_actions
from qloop.plan.model import Json
from qloop.plan.prd import compile_prd
from qloop.plan.prd_front import parse_front_matter, split_front_matter
from qloop.run.planning import path_in_plan
from qloop.state.intent import UNKNOWN, demoted, read_front
from qloop.state.lifecycle import CHECKLIST, Lifecycle, read_lifecycle, read_real
from qloop.state.savepoints import folder_locked
from qloop.state.sections import tick_boxes
from qloop.system.clock import utc_now
from qloop.system.files import write_atomic

DOCUMENT = "plans/ACTIONS.md"
WAITS = "destructive: it waits for a person, who lets it begin by qloop story unblock"
"""How the notes of an action begin that waits for a person."""


def has_actions(folder: Path) -> bool:
    """Whether an intent has a plan of actions."""
    files = read_lifecycle(folder)
    return files.plan is not None and bool(files.actions)


def plan_of_actions(folder: Path, root: Path, *, is_greenfield: bool) -> Json:
    """The plan that the actions of an intent's folder are; its document is written beside them.

    What is destructive waits for a person, but in a repository without anything to destroy.
    """
    files = read_lifecycle(folder)
    actions = parse_actions({name: demoted(text) for name, text in files.actions.items()})
    text = render_actions(_title(files), _front(files), actions)
    document = folder / DOCUMENT
    write_atomic(document, text.encode())
    made = compile_prd(text, path=path_in_plan(document, root), now=utc_now())
    declared = [one.id for one in actions if one.is_destructive]
    found = {} if is_greenfield else destructive_stories(made["stories"], declared)
    for story in made["stories"]:
        if story["id"] in found:
            story.update(status="blocked", notes=f"{WAITS} ({found[story['id']]})")
    return made


def tick_done(folder: Path, passed: Collection[str]) -> int:
    """Tick the boxes of the checklist that name an action which has passed; how many were.

    A box that names several is ticked when all of them have; a person's never is.
    """
    actions = parse_actions(read_lifecycle(folder).actions)
    names = {word: one.id for one in actions for word in (one.id, one.name.removesuffix(".md"))}
    found = re.compile("|".join(rf"(?<![\w-]){re.escape(name)}(?![\w-])" for name in names))

    def is_done(text: str) -> bool:
        named = {names[word] for word in found.findall(text)}
        return bool(named) and named <= set(passed) and not is_persons(text)

    path = folder / CHECKLIST
    with folder_locked(folder):
        if not actions or read_real(path) is None:
            return 0
        before = path.read_bytes().decode("utf-8", "surrogateescape")
        after = tick_boxes(before, is_done)
        if after != before:
            write_atomic(path, after.encode("utf-8", "surrogateescape"))
    return sum(1 for old, new in zip(before, after, strict=True) if old != new)


def _title(files: Lifecycle) -> str:
    title = read_front(files.document or "").get("intent")
    return title if isinstance(title, str) and title.strip() else UNKNOWN


def _front(files: Lifecycle) -> str:
    """What is said of the whole: by the specification, and where that is silent by plan.md."""
    spec, plan = (split_front_matter(text or "")[0] for text in (files.spec, files.plan))
    if not plan:
        return spec
    fields = {**parse_front_matter(plan).fields, **parse_front_matter(spec).fields}
    return "".join(f"{key}: {json.dumps(value, default=str)}\n" for key, value in fields.items())
