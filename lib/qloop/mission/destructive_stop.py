"""Actions of a plan that destroy something wait for a person, before anything of it is carried out.

Errors: those of the state file, and of the intent's document.
"""

from contextlib import suppress

from qloop.mission.action_plan import WAITS
from qloop.mission.flow import ABANDON
from qloop.mission.phase_desk import PhaseDesk
from qloop.plan.model import Json, Status
from qloop.state.insights import add_insight
from qloop.state.lifecycle import Stage
from qloop.state.phase_events import Option, PhaseCheckpoint
from qloop.state.store import Store
from qloop.system.errors import InputMissing

DESTRUCTIVE = "destructive"
PROCEED = Option(id="proceed", description="let them be carried out like all others")
REPLAN = Option(id="replan", description="make the plan again, from spec.md as it then is")


def settle_destruction(desk: PhaseDesk, store: Store, number: int) -> PhaseCheckpoint | None:
    """Let destructive actions go on where a person allows them; else the question whether they may.

    *number* is that of the mission's plan, from 1.
    """
    plan = store.read()
    waiting = {story["id"]: story["notes"] for story in plan["stories"] if _waits(story)}
    if not waiting:
        return None
    response = desk.order.user_response
    is_allowed = response is not None and response.option == PROCEED.id
    if not (is_allowed or desk.order.may_destroy):
        told = "; ".join(f"{name}{why.removeprefix(WAITS)}" for name, why in waiting.items())
        question = f"Destructive on a project that is there already: {told}. Carry them out?"
        return desk.ask(DESTRUCTIVE, question, (PROCEED, REPLAN, ABANDON), number=number)
    if not is_allowed:
        _note(desk, f"--skip-permissions: {', '.join(waiting)} go on though they are destructive")
    stories = [_released(one) if one["id"] in waiting else one for one in plan["stories"]]
    store.replace({**plan, "stories": stories})
    return None


def _waits(story: Json) -> bool:
    notes = str(story.get("notes") or "")
    return story.get("status") == Status.BLOCKED and notes.startswith(WAITS)


def _released(story: Json) -> Json:
    return {**story, "status": str(Status.PENDING), "notes": ""}


def _note(desk: PhaseDesk, text: str) -> None:
    desk.tell(text)
    with suppress(InputMissing):
        add_insight(desk.folder, text, stage=Stage.HOW, author="qloop", is_autonomous=True)
