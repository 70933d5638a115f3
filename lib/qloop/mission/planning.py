"""PLANNING: the directive becomes a document, and the document a plan.

Errors: Faults for a document whose stories cannot be a plan.
"""

from qloop.mission.direct_plan import plan_of_directive
from qloop.mission.flow import ABANDON
from qloop.mission.phase_desk import PhaseDesk, Result
from qloop.plan.dag import waves_preview
from qloop.plan.model import Plan, parse_plan
from qloop.plan.validate import check_plan
from qloop.state.phase_events import Option, PhaseEvent
from qloop.state.phases import Autonomy
from qloop.state.store import store_for

APPROVAL = "plan_approval"
APPROVE = Option(id="approve", description="carry out the plan as quantum.json then has it")
REPLAN = Option(id="replan", description="make the plan again, from spec.md as it then is")


def coordinate(desk: PhaseDesk) -> PhaseEvent:
    """Make the plan, and have a person approve it where the mission asks for that."""
    response = desk.order.user_response
    if response is not None and response.option == REPLAN.id:
        desk.forget_steps()
    desk.step("planner", {}, lambda: _plan(desk))
    store = store_for(desk.quantum, desk.repository.root)
    plan = check_plan(store.read(), str(desk.quantum))
    summary = _summary(plan)
    approved = response is not None and response.option == APPROVE.id
    if desk.order.mission_context.autonomy is Autonomy.AUTOPILOT or approved:
        return desk.complete(summary, ("spec.md", "quantum.json"))
    question = f"The plan: {summary} (`qloop status --quantum {desk.quantum}`). Carry it out?"
    return desk.ask(APPROVAL, question, (APPROVE, REPLAN, ABANDON), plan=str(desk.quantum))


def _plan(desk: PhaseDesk) -> Result:
    desk.tell("planner makes the plan")
    made = plan_of_directive(
        desk.folder, desk.repository.root, desk.order.mission_context.directive
    )
    store_for(desk.quantum, desk.repository.root).replace(made)
    return {"stories": len(parse_plan(made).stories)}


def _summary(plan: Plan) -> str:
    waves = waves_preview(plan, len(plan.stories) or 1)
    widest = max((len(wave) for wave in waves), default=0)
    stories = len(plan.stories)
    return f"{stories} {'story' if stories == 1 else 'stories'}, widest wave {widest}"
