"""REFINEMENT: what people see of it, tried and judged, and what is to be improved.

Critical findings are for a person to decide on, once; what is to be mended becomes stories of the
mission's plan, and EXECUTION goes on with them.
Errors: those of `refining`, and of the state file.
"""

from collections.abc import Sequence
from typing import Any

from qloop.mission.asking import reading_place
from qloop.mission.context_text import mission_text
from qloop.mission.flow import ABANDON
from qloop.mission.improvement_prd import render_prd
from qloop.mission.phase_desk import PhaseDesk
from qloop.mission.phase_metrics import phase_metrics
from qloop.mission.refining import PLAN as PLAN_FILE
from qloop.mission.refining import PRD, files_of, refine
from qloop.mission.showing import Scene
from qloop.mission.synthesis import plan_improvements
from qloop.mission.turns import take_turn
from qloop.plan.model import Json, Plan
from qloop.plan.prd import compile_prd
from qloop.plan.validate import check_plan
from qloop.run.gates import GateCancelled
from qloop.run.unlanding import commit_to_see
from qloop.state.ownership import PLAN
from qloop.state.phase_events import Option, PhaseComplete, PhaseEvent, PhaseFailure
from qloop.state.phases import Autonomy, PhaseName
from qloop.state.refinement import Refinement, Severity
from qloop.state.store import store_for
from qloop.system.clock import utc_now
from qloop.system.counting import counted
from qloop.system.errors import QloopError

FOLDER = "refinement"
FINDINGS = "findings"
FIX = Option(id="fix", description="add them to the plan as stories, and carry those out")
ACCEPT = Option(id="accept", description="end the mission; what was found stays as it is")
WITHOUT = Option(id="accept", description="end the mission without looking at the result")
NOT_REFINED = "not_refined"


def coordinate(desk: PhaseDesk) -> PhaseEvent:
    """Look, try and judge; ask about what is critical."""
    context, response = desk.order.checkpoint_context or {}, desk.order.user_response
    option = None if response is None else response.option
    if option == WITHOUT.id and context.get("failure_type") == NOT_REFINED:
        return desk.complete("nobody looked at the result: a person goes on without", ())
    plan = check_plan(store_for(desk.quantum, desk.repository.root).read(), str(desk.quantum))
    try:
        found = refine(_scene(desk, plan), desk.step)
    except GateCancelled:
        raise KeyboardInterrupt from None
    except QloopError as exc:
        return _failure(desk, exc)
    if option == FIX.id:
        return _mend(desk, plan, found)
    is_asked = desk.order.mission_context.autonomy is not Autonomy.AUTOPILOT
    if option is None and found.critical and is_asked:
        return _ask(desk, found)
    return _complete(desk, found)


def _failure(desk: PhaseDesk, error: QloopError) -> PhaseFailure:
    return PhaseFailure(
        phase_id=desk.phase,
        failure_type=NOT_REFINED,
        reason=str(error),
        recovery_options=(WITHOUT,),
    )


def _scene(desk: PhaseDesk, plan: Plan) -> Scene:
    commit = commit_to_see(desk.repository, plan.branch_name)
    return Scene(
        repository=desk.repository,
        config=desk.config,
        plan=plan,
        commit=commit,
        folder=desk.folder / FOLDER,
        journal=desk.journal,
        take=lambda: take_turn(desk),
        tell=desk.tell,
        cancel=desk.cancel,
        mission=mission_text(desk.order.mission_context),
        agents=reading_place(desk, commit),
    )


def _ask(desk: PhaseDesk, found: Refinement) -> PhaseEvent:
    """What a person decides; mended is once, so that a mission comes to an end."""
    first = next(one for one in found.findings if one.severity is Severity.CRITICAL)
    others = f" (the first: {first.text})" if found.critical > 1 else f": {first.text}"
    which = f"{counted(found.critical, 'finding')} {'is' if found.critical == 1 else 'are'}"
    question = f"{found.summary}. {which} critical{others}. What about it?"
    ways = (FIX, ACCEPT, ABANDON) if desk.order.round == 0 else (ACCEPT, ABANDON)
    return desk.ask(FINDINGS, question, ways, plan=f"{FOLDER}/{PLAN_FILE}")


def _mend(desk: PhaseDesk, plan: Plan, found: Refinement) -> PhaseEvent:
    """Add stories for what is critical, and give the mission back to EXECUTION."""
    stories = improvement_stories(plan, found)
    added = desk.step("fix", None, lambda: _add(desk, stories))["added"]
    summary = f"{found.summary}; to be mended: {', '.join(added)}"
    event = _complete(desk, found).model_copy(update={"summary": summary})
    return event.model_copy(update={"next_phase": PhaseName.EXECUTION})


def improvement_stories(plan: Plan, found: Refinement) -> list[Json]:
    """Stories that mend what is critical, by ids that the plan does not have yet."""
    taken = {story.id for story in plan.stories}
    every = plan_improvements(found.findings, taken, found.advice)
    critical = [one for one in every if one.severity is Severity.CRITICAL]
    document = render_prd(critical, plan, files_of(found))
    stories: list[Json] = compile_prd(document, path=PRD, now=utc_now())["stories"]
    return stories


def _add(desk: PhaseDesk, stories: Sequence[Json]) -> dict[str, Any]:
    with store_for(desk.quantum, desk.repository.root).transaction(PLAN) as draft:
        known = {story.get("title") for story in draft["stories"]}
        # Those of a coordinator that died before it noted that it had added them stay single.
        draft["stories"] += [story for story in stories if story["title"] not in known]
        titles = {story["title"] for story in stories}
        return {"added": [one["id"] for one in draft["stories"] if one.get("title") in titles]}


def _complete(desk: PhaseDesk, found: Refinement) -> PhaseComplete:
    outputs = (f"{FOLDER}/{PLAN_FILE}", *((f"{FOLDER}/{PRD}",) if found.findings else ()))
    critical = [one.text for one in found.findings if one.severity is Severity.CRITICAL]
    summary = found.summary + (f"; left as it is: {len(critical)} critical" if critical else "")
    return desk.complete(summary, outputs, metrics=phase_metrics(desk))
