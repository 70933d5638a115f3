"""The gated team of an intent, up to its plan: brainstorming, spec-specialist, planner, in turn.

Each works only when the one before it has handed its deliverable on. What a person wrote is left
as it is, and must pass the same gates.
"""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from qloop.mission.action_plan import has_actions
from qloop.mission.brainstorming import BRAINSTORMING, brainstorm
from qloop.mission.coverage import find_gaps, read_covered, told_gaps
from qloop.mission.destruction import find_destruction
from qloop.mission.direct_plan import has_stories
from qloop.mission.hand_off import Gate, Member, hand_over, nothing
from qloop.mission.phase_desk import PhaseDesk
from qloop.mission.plan_making import plan_of_spec
from qloop.mission.stage_gate import is_persons
from qloop.mission.team_calls import WALKERS, note_without, team_calls
from qloop.mission.upscaling import specify
from qloop.plan.action_text import render_action
from qloop.plan.actions import parse_actions
from qloop.plan.model import Json
from qloop.state.codebase import Facts
from qloop.state.lifecycle import ACTIONS, CHECKLIST, PLAN, Lifecycle, read_lifecycle
from qloop.state.sections import Box, section_text

UNFINISHED = "plans/.unfinished"
"""There while the planner writes: a plan that was cut off is made again, and not taken for one."""
EARLIER = "plans/earlier"
CARRIED = ("testCommand", "qualityCommands", "setupCommands", "copyFiles")
"""What a plan says of the whole, which no action says."""


def is_team(desk: PhaseDesk) -> bool:
    """Whether the mission is that of a gated team."""
    return BRAINSTORMING in desk.order.phase_config.agents


def work_to_plan(desk: PhaseDesk, facts: Facts, wanted: Mapping[str, Any]) -> None:
    """Have the team make all that EXECUTION needs; *wanted* tells which of its plans is due."""
    number = int(wanted["number"])

    def plan(member: Member) -> None:
        if number > 1 or (desk.folder / UNFINISHED).exists() or not has_actions(desk.folder):
            _plan(desk, member, facts, str(wanted["note"]))

    with ExitStack() as undo:
        team = team_calls(desk, undo)
        note_without(desk)
        thinker, specialist, planner = map(team.member, WALKERS)
        _work(desk, thinker, 1, lambda member: brainstorm(desk, member, facts))
        _work(desk, specialist, 1, lambda member: specify(desk, facts, member), _lacks_criteria)
        _work(desk, planner, number, plan, _lacks_order)


def _work(
    desk: PhaseDesk,
    member: Member,
    number: int,
    work: Callable[[Member], None],
    gate: Gate = nothing,
) -> None:
    """One of the team, once for each round of it."""
    desk.step(
        f"team {member.role}",
        {"number": number},
        lambda: {**hand_over(member, number, work, gate)},
    )


def _lacks_criteria(files: Lifecycle) -> str | None:
    spec = files.spec or ""
    if has_stories(spec) or section_text(spec, "Acceptance criteria"):
        return None
    return "spec.md has neither ## Acceptance criteria nor stories"


def _lacks_order(files: Lifecycle) -> str | None:
    parse_actions(files.actions)  # raises Faults, all of them
    gaps = told_gaps(find_gaps(files))
    if gaps:
        return "; ".join(gaps)
    return None if files.boxes else "checklist.md has no box"


def _plan(desk: PhaseDesk, member: Member, facts: Facts, note: str) -> None:
    criteria = read_covered(read_lifecycle(desk.folder).spec or "")
    must = [str(one) for one in criteria]
    made, how = plan_of_spec(desk, facts, must, note, member.ask, criteria)
    desk.tell(f"planner: {how}")
    stories = made["stories"]
    numbers = {story["id"]: at for at, story in enumerate(stories, start=1)}
    _set_aside(desk)
    desk.write(UNFINISHED, "")
    member.put(PLAN, _render_plan(made, how, numbers))
    for story in stories:
        is_destructive = find_destruction(story) is not None
        text = render_action(story, numbers, is_destructive=is_destructive)
        member.put(f"{ACTIONS}/ACTION_{numbers[story['id']]}.md", text)
    boxes = [box for box in read_lifecycle(desk.folder).boxes if is_persons(box.text)]
    member.put(CHECKLIST, _render_checklist(stories, numbers, boxes))
    (desk.folder / UNFINISHED).unlink()


def _set_aside(desk: PhaseDesk) -> None:
    """Keep what is there of a plan that another one replaces, a person's part of one as well."""
    files = read_lifecycle(desk.folder)
    names = [name for name in files.names if name.startswith((PLAN, CHECKLIST, f"{ACTIONS}/"))]
    if not names:
        return
    number = 1 + len(list(desk.folder.glob(f"{EARLIER}-*")))
    for name in names:
        place = desk.folder / f"{EARLIER}-{number}" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(desk.folder / name, place)
    for name in names:
        if name.startswith(f"{ACTIONS}/"):
            (desk.folder / name).unlink()
    desk.tell(f"{', '.join(names)}: kept in {EARLIER}-{number}")


def _render_plan(made: Json, how: str, numbers: Mapping[str, int]) -> str:
    """The plan to read; its front matter holds what is said of the whole."""
    told = {key: made[key] for key in CARRIED if made.get(key)}
    head = "".join(f"{key}: {json.dumps(value)}\n" for key, value in told.items())
    front = f"---\n{head}---\n\n" if head else ""
    rows = [
        f"{numbers[story['id']]}. {story['id']}: {' '.join(story['title'].split())}"
        + (f" (after {', '.join(story['dependsOn'])})" if story.get("dependsOn") else "")
        for story in made["stories"]
    ]
    title = " ".join(str(made.get("project") or "Plan").split())
    goal = f"**Goal:** what spec.md asks; {how}."
    return f"{front}# {title}\n\n{goal}\n\n## Actions\n\n" + "\n".join(rows) + "\n"


def _render_checklist(
    stories: list[Json], numbers: Mapping[str, int], persons: Sequence[Box]
) -> str:
    """A box for each action, and those of a person that were there before."""
    boxes = [
        f"- [ ] ACTION_{numbers[story['id']]}: {' '.join(story['title'].split())}"
        for story in stories
    ]
    boxes += [f"- [{'x' if box.is_ticked else ' '}] {box.text}" for box in persons]
    log = "| Date | Items completed | Notes |\n| --- | --- | --- |"
    rest = f"\n\n## Completed\n\n## Session Log\n\n{log}\n"
    return "# Checklist\n\n## In Progress\n\n" + "\n".join(boxes) + rest
