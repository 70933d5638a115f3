"""What a person's answer changes before EXECUTION goes on: the plan, or what may be red.

Each answer is acted on once; a repair that is in the plan already is not added again. Callers
hold the run lock. Errors: those of the state file.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from qloop.mission.execution_end import ACCEPT, ADJUST, BLOCKED, RECOGNIZER_RED, REPAIR, RETRY
from qloop.mission.phase_desk import PhaseDesk
from qloop.mission.phase_order import ASKED
from qloop.plan.model import Json, Status, parse_plan
from qloop.run.gates import short_command
from qloop.run.recognition import being_mended
from qloop.state.journal import Event, EventKind
from qloop.state.ownership import PLAN
from qloop.state.store import Store
from qloop.system.files import read_optional, write_atomic
from qloop.system.logged import read_tail

ACCEPTED = "execution/accepted.json"
TAIL_BYTES = 4_000


def take_answer(desk: PhaseDesk, store: Store) -> bool:
    """Act on the answer that the phase goes on by; whether it is to end without the rest."""
    context, response = desk.order.checkpoint_context or {}, desk.order.user_response
    if response is None:
        return False
    failure = context.get("failure_type")
    if failure == BLOCKED and response.option == ACCEPT.id:
        return True
    desk.step(
        f"answer {context.get(ASKED)}",
        response.model_dump(mode="json"),
        lambda: _act(desk, store, failure, response.option),
    )
    return False


def _act(desk: PhaseDesk, store: Store, failure: object, option: str) -> dict[str, Any]:
    """Do what was chosen; what only asks for another try changes nothing."""
    if failure == BLOCKED and option in (RETRY.id, ADJUST.id):
        return {"reset": _reset(store)}
    if failure != RECOGNIZER_RED:
        return {}
    red = find_red(desk.journal.events(), str(store.read()["branchName"]))
    if red is not None and option == REPAIR.id:
        return {"added": _repair(desk, store, red)}
    if red is not None and option == ACCEPT.id:
        return {"accepted": _accept(desk, red)}
    return {}


def find_red(events: Sequence[Event], branch: str) -> Event | None:
    """The newest red recognition of a branch's line."""
    return next(
        (
            event
            for event in reversed(events)
            if event.event is EventKind.WAVE_RECOGNIZED
            and event.data.get("branch") == branch
            and event.data.get("green") is False
        ),
        None,
    )


def accepted_red(desk: PhaseDesk) -> tuple[str, ...]:
    """The commands that a person has let be red."""
    data = read_optional(desk.folder / ACCEPTED)
    return tuple(json.loads(data)) if data is not None else ()


def _accept(desk: PhaseDesk, red: Event) -> list[str]:
    commands = [str(one["command"]) for one in red.data["red"]]
    known = list(dict.fromkeys([*accepted_red(desk), *commands]))
    text = json.dumps(known, ensure_ascii=False, indent=2) + "\n"
    write_atomic(desk.folder / ACCEPTED, text.encode())
    return commands


def _reset(store: Store) -> list[str]:
    """Give the stories that failed, or wait for a word, all their attempts anew."""
    reset: list[str] = []
    with store.transaction(PLAN) as draft:
        for story in draft["stories"]:
            if story.get("status") == Status.FAILED:
                story["status"] = str(Status.PENDING)
                story["retries"] = {**(story.get("retries") or {}), "attempts": 0}
                reset.append(str(story["id"]))
    return reset


def _repair(desk: PhaseDesk, store: Store, red: Event) -> str | None:
    """Add the story that is to make the red commands green; None where the plan has one."""
    with store.transaction(PLAN) as draft:
        plan = parse_plan(draft)
        commands = [str(one["command"]) for one in red.data["red"]]
        if all(being_mended(plan, command) for command in commands):
            return None
        story_id = _free_id({story.id for story in plan.stories}, f"fix-{red.wave}")
        draft["stories"].append(repair_story(desk, red, story_id))
    return story_id


def repair_story(desk: PhaseDesk, red: Event, story_id: str) -> Json:
    """The story: what is red, since when, and its verifying commands are those that are red."""
    reds = list(red.data["red"])
    response = desk.order.user_response
    parts = [
        f"After {red.wave} these commands are red, which were green when their stories landed."
    ]
    parts += [_told(desk.repository.root, one) for one in reds]
    landed = [
        f"{one['commit'][:10]} ({one['story'] or one['subject']})" for one in red.data["landed"]
    ]
    if landed:
        parts.append(f"Landed since all was green last: {', '.join(landed)}.")
    if response is not None and response.note:
        parts.append(f"A person says: {response.note}")
    return {
        "id": story_id,
        "title": f"Make {short_command(str(reds[0]['command']))} green again",
        "description": "\n\n".join(parts),
        "acceptanceCriteria": ["What the stories that have landed are for still holds, all of it"],
        "priority": 0,
        "status": str(Status.PENDING),
        "dependsOn": [],
        "tasks": [],
        "verify": list(dict.fromkeys(str(one["command"]) for one in reds)),
    }


def _told(root: Path, red: Json) -> str:
    """A red command, whose it is, and the end of what it printed."""
    whose = f" (of {red['story']})" if red.get("story") else ""
    log = root / red["logs"][-1] if red.get("logs") else None
    tail = read_tail(log, TAIL_BYTES).strip() if log is not None and log.is_file() else ""
    printed = f"\n\nThe end of its output:\n\n{tail}" if tail else ""
    return f"{red['line']}{whose}:\n\n{red['command']}{printed}"


def _free_id(taken: set[str], wanted: str) -> str:
    names = (wanted if number == 1 else f"{wanted}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)
