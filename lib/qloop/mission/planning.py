"""PLANNING: the directive becomes a document, the document a plan, the plan pages to read.

A person may change quantum.json before approving it: the plan as it then stands is validated.
Errors: Faults for a plan that cannot be one; those of making it.
"""

from qloop.mission.destructive_stop import settle_destruction
from qloop.mission.flow import ABANDON, asking
from qloop.mission.gated_team import is_team, work_to_plan
from qloop.mission.known_code import facts_for
from qloop.mission.member_call import MemberErred, question_of
from qloop.mission.phase_desk import PhaseDesk, Result
from qloop.mission.phase_metrics import phase_metrics
from qloop.mission.plan_making import make_plan
from qloop.mission.upscaling import UPSCALER, upscale
from qloop.plan.critique import Remark, review_plan
from qloop.plan.dag import waves_preview
from qloop.plan.model import Json, Plan
from qloop.plan.prd_names import prd_hash
from qloop.plan.validate import check_plan
from qloop.run.planner_brief import PLANNER
from qloop.run.planning import path_in_plan
from qloop.state.phase_events import Option, PhaseEvent
from qloop.state.phases import Autonomy
from qloop.state.store import Store, store_for
from qloop.system.counting import counted
from qloop.ui.plan_pages import render_block_page, render_dag_page

APPROVAL = "plan_approval"
APPROVE = Option(id="approve", description="carry out the plan as quantum.json then has it")
REPLAN = Option(id="replan", description="make the plan again, from spec.md as it then is")
DAG = "plans/EXECUTION_DAG.md"
BLOCKS = "plans/blocks"
OUTPUTS = ("spec.md", "quantum.json", DAG, BLOCKS)
WANTED = "wanted"
"""The step that records which plan is to be made."""
MOST_REMARKS = 6


def coordinate(desk: PhaseDesk) -> PhaseEvent:
    """Make the plan, and have a person approve it where the mission asks for that."""
    response = desk.order.user_response
    chosen = "" if response is None else response.option
    wanted = _wanted(desk)["wanted"]
    facts = facts_for(desk.folder, desk.repository)
    try:
        if is_team(desk):
            work_to_plan(desk, facts, wanted)
    except MemberErred as erred:
        return question_of(desk, erred)
    document = desk.step(UPSCALER, {}, lambda: upscale(desk, facts))
    note, criteria = wanted["note"], document["criteria"]
    made = desk.step(PLANNER, wanted, lambda: make_plan(desk, facts, criteria, note))
    desk.step("quantum.json", wanted, lambda: _put(desk, made["plan"]))
    store = store_for(desk.quantum, desk.repository.root)
    asked = settle_destruction(desk, store, wanted["number"])
    plan = check_plan(store.read(), str(desk.quantum))
    _write_pages(desk, plan)
    if asked is not None:
        return asked
    is_asked = desk.order.mission_context.autonomy is not Autonomy.AUTOPILOT
    if is_asked and chosen != APPROVE.id:
        told = (document["note"], *made["told"])
        return _ask(desk, plan, told, wanted["number"])
    _take_document(desk, store, plan)
    return desk.complete(_summary(plan), OUTPUTS, metrics=phase_metrics(desk))


def _wanted(desk: PhaseDesk) -> Result:
    """Which of the mission's plans is at hand, from 1, and what a person said of the last one.

    It rests on the question that was answered, and is recorded: a coordinator that takes over
    from a dead one neither makes a third plan of one answer nor forgets that a second is wanted.
    """
    response, context = desk.order.user_response, desk.order.checkpoint_context or {}
    wanted = desk.find_step(WANTED) or {"number": 1, "note": ""}
    if response is not None and response.option == REPLAN.id:
        wanted = {"number": int(context.get("number", 1)) + 1, "note": response.note.strip()}
    return desk.step(WANTED, wanted, lambda: {"wanted": wanted})


def _put(desk: PhaseDesk, plan: Json) -> Result:
    desk.tell(f"quantum.json: {counted(len(plan['stories']), 'story')}")
    store_for(desk.quantum, desk.repository.root).replace(plan)
    return {}


def _write_pages(desk: PhaseDesk, plan: Plan) -> None:
    """The pages of the plan as it stands, and of no other."""
    desk.write(DAG, render_dag_page(plan))
    names = {f"{story.id}.md": story for story in plan.stories}
    for name, story in names.items():
        desk.write(f"{BLOCKS}/{name}", render_block_page(plan, story))
    for path in (desk.folder / BLOCKS).iterdir():
        if path.name not in names:
            path.unlink()


def _take_document(desk: PhaseDesk, store: Store, plan: Plan) -> None:
    """A plan is approved with the document as it is then, changed since or not."""
    is_of_spec = plan.prd_path == path_in_plan(desk.spec, desk.repository.root)
    now = prd_hash(desk.spec.read_bytes()) if is_of_spec else None
    if now is not None and plan.prd_hash not in (None, now):
        desk.tell("spec.md has changed since the plan was made, and is taken as it is")
        store.replace({**store.read(), "prdHash": now})


def _ask(desk: PhaseDesk, plan: Plan, told: tuple[str, ...], number: int) -> PhaseEvent:
    """The question whether the plan is to be carried out, with what a person should look at."""
    remarks = [_remark(one) for one in review_plan(plan)]
    root = desk.repository.root
    quantum, page = path_in_plan(desk.quantum, root), path_in_plan(desk.folder / DAG, root)
    more = len(remarks) - MOST_REMARKS
    rest = (
        [f"{counted(more, 'more remark')}: qloop plan --review --quantum {quantum}"]
        if more > 0
        else []
    )
    where = (f"plan: {quantum}", f"to read: {page}")
    lines = (f"The plan: {_summary(plan)}", *told, *remarks[:MOST_REMARKS], *rest, *where)
    return desk.ask(
        APPROVAL,
        asking("\n".join(lines), "Carry it out?"),
        (APPROVE, REPLAN, ABANDON),
        plan=str(desk.quantum),
        number=number,
    )


def _remark(one: Remark) -> str:
    names = ", ".join(one.stories)
    return f"{names}: {one.text}" if names else one.text


def _summary(plan: Plan) -> str:
    waves = waves_preview(plan, max(1, len(plan.stories)))
    widest = max((len(wave) for wave in waves), default=0)
    return f"{counted(len(plan.stories), 'story')}, widest wave {widest}"
