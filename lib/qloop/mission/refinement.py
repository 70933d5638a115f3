"""REFINEMENT: what people see of it, tried and judged, and what is to be improved.

Critical findings are for a person to decide on, once; what is to be mended becomes stories of the
mission's plan, and EXECUTION goes on with them.
Errors: those of `refining`, and of the state file.
"""

from collections.abc import Sequence
from typing import Any

from qloop.mission.flow import ABANDON
from qloop.mission.improvement_prd import render_prd
from qloop.mission.phase_desk import PhaseDesk
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
from qloop.state.journal import EventKind
from qloop.state.ownership import PLAN
from qloop.state.phase_events import Metrics, Option, PhaseComplete, PhaseEvent
from qloop.state.phases import Autonomy, PhaseName
from qloop.state.refinement import Finding, Refinement, Severity
from qloop.state.spending import Book, total_usd
from qloop.state.store import store_for
from qloop.system.clock import utc_now

FOLDER = "refinement"
FINDINGS = "findings"
FIX = Option(id="fix", description="add them to the plan as stories, and carry those out")
ACCEPT = Option(id="accept", description="end the mission; what was found stays as it is")


def coordinate(desk: PhaseDesk) -> PhaseEvent:
    """Look, try and judge; ask about what is critical."""
    plan = check_plan(store_for(desk.quantum, desk.repository.root).read(), str(desk.quantum))
    try:
        found = refine(_scene(desk, plan), desk.step)
    except GateCancelled:
        raise KeyboardInterrupt from None
    context, response = desk.order.mission_context, desk.order.user_response
    if response is not None and response.option == FIX.id:
        return _mend(desk, plan, found)
    if response is None and found.critical and context.autonomy is not Autonomy.AUTOPILOT:
        return _ask(desk, found)
    return _complete(desk, found)


def _scene(desk: PhaseDesk, plan: Plan) -> Scene:
    return Scene(
        repository=desk.repository,
        config=desk.config,
        plan=plan,
        commit=commit_to_see(desk.repository, plan.branch_name),
        folder=desk.folder / FOLDER,
        journal=desk.journal,
        take=lambda: take_turn(desk),
        tell=desk.tell,
        cancel=desk.cancel,
    )


def _ask(desk: PhaseDesk, found: Refinement) -> PhaseEvent:
    """What a person decides; mended is once, so that a mission comes to an end."""
    first = next(one for one in found.findings if one.severity is Severity.CRITICAL)
    others = f" (the first: {first.text})" if found.critical > 1 else f": {first.text}"
    which = "1 finding is" if found.critical == 1 else f"{found.critical} findings are"
    question = f"{found.summary}. {which} critical{others}. What about it?"
    ways = (FIX, ACCEPT, ABANDON) if desk.order.round == 0 else (ACCEPT, ABANDON)
    return desk.ask(FINDINGS, question, ways, plan=f"{FOLDER}/{PLAN_FILE}")


def _mend(desk: PhaseDesk, plan: Plan, found: Refinement) -> PhaseEvent:
    """Add stories for what is critical, and give the mission back to EXECUTION."""
    critical = [one for one in found.findings if one.severity is Severity.CRITICAL]
    stories = improvement_stories(plan, critical, files_of(found))
    added = desk.step("fix", None, lambda: _add(desk, stories))["added"]
    summary = f"{found.summary}; to be mended: {', '.join(added)}"
    event = _complete(desk, found).model_copy(update={"summary": summary})
    return event.model_copy(update={"next_phase": PhaseName.EXECUTION})


def improvement_stories(
    plan: Plan, findings: Sequence[Finding], files: Sequence[str]
) -> list[Json]:
    """Stories of a plan that mend what was found, by ids that it does not have yet."""
    taken = {story.id for story in plan.stories}
    document = render_prd(plan_improvements(findings, taken), plan, files)
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
    summary = f"{found.summary}; critical and left: {len(critical)}" if critical else found.summary
    return desk.complete(summary, outputs, metrics=_metrics(desk))


def _metrics(desk: PhaseDesk) -> Metrics:
    """What this coordinator's agents took."""
    events = desk.journal.events(desk.order.run_id)
    book = Book()
    book.take(events)
    agents = sum(event.event is EventKind.AGENT_STARTED for event in events)
    return Metrics(agents_spawned=agents, cost_usd=total_usd(book.calls.values()))
