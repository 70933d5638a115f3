"""What a mission does next: values in, values out."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qloop.mission import flow
from qloop.mission.budget import find_budget_question
from qloop.mission.phase_order import answer_for, make_order
from qloop.state.mission import Answer, Mission, MissionStatus, Triage
from qloop.state.phase_events import (
    Option,
    PartialWork,
    PhaseCheckpoint,
    PhaseComplete,
    PhaseEvent,
    PhaseFailure,
    conclude_phase,
    render_activity,
    render_event,
)
from qloop.state.phases import Autonomy, PhaseName, PhaseStatus, Warmth

NOW = "2026-01-02T03:04:05.000Z"


def mission(**changes: Any) -> Mission:
    """A mission at its beginning."""
    known = {"autonomy": Autonomy.AUTOPILOT, **changes}
    return Mission(
        id=7,
        slug="tea",
        directive="make tea",
        triage=Triage(complexity="SIMPLE"),
        started_at=NOW,
        updated_at=NOW,
        **known,
    )


def started(one: Mission, phase: PhaseName) -> Mission:
    """The mission with a coordinator of *phase* at work."""
    run = one.phase(phase)
    update = {"status": PhaseStatus.IN_PROGRESS, "spawns": run.spawns + 1}
    return flow.begin_phase(one, run.model_copy(update=update))


def complete(phase: PhaseName, **more: Any) -> PhaseComplete:
    """The event of a phase that is done."""
    return PhaseComplete(phase_id=phase, summary="done", **more)


def took(one: Mission, event: PhaseEvent) -> Mission:
    """The mission after an event."""
    return flow.take_event(one, event, 1.0, NOW)


def answered(one: Mission, option: str) -> Mission:
    """The mission after a person's answer to what waits."""
    waiting = one.open_checkpoint
    assert waiting is not None
    return flow.take_answer(one, waiting, Answer(option=option, by="a person", at=NOW))


def test_phases_follow_each_other() -> None:
    """Each starts when those before it are complete or skipped; then the mission is finished."""
    one = mission()
    for phase in PhaseName:
        assert flow.next_step(one) == flow.Start(phase)
        if phase is PhaseName.PLANNING:
            one = flow.skip_phase(one, phase, "trivial")
        else:
            one = took(started(one, phase), complete(phase))

    assert flow.next_step(one) == flow.Finish()


@pytest.mark.parametrize(
    ("autonomy", "asked"),
    [
        (Autonomy.AUTOPILOT, set()),
        (Autonomy.GUIDED, {PhaseName.RECON, PhaseName.EXECUTION}),
        (Autonomy.HANDS_ON, {PhaseName.RECON, PhaseName.EXECUTION}),
    ],
)
def test_the_end_of_a_phase_is_asked_about_by_autonomy(
    autonomy: Autonomy, asked: set[PhaseName]
) -> None:
    """PLANNING has its own question, and nothing follows REFINEMENT."""
    found = {
        phase
        for phase in PhaseName
        if took(started(mission(autonomy=autonomy), phase), complete(phase)).open_checkpoint
    }

    assert found == asked


def test_an_answer_reaches_the_next_coordinator_until_it_has_spoken() -> None:
    """A coordinator that dies before its event leaves the answer to the one after it."""
    asks = PhaseCheckpoint(
        phase_id=PhaseName.PLANNING,
        checkpoint_type="plan_approval",
        question="so?",
        options=(Option(id="approve", description="do it"),),
        context={"plan": "p"},
    )
    one = flow.skip_phase(mission(), PhaseName.RECON, "trivial")
    one = took(started(one, PhaseName.PLANNING), asks)
    assert one.open_checkpoint is not None
    assert [option.id for option in one.open_checkpoint.options] == ["approve", "abandon"]

    one = answered(one, "approve")
    for _ in range(2):  # the first of them dies
        one = started(one, PhaseName.PLANNING)
        order = make_order(one, PhaseName.PLANNING, "folder", "p-1", 0.0)
        assert order.user_response is not None
        assert order.user_response.option == "approve"
        assert order.checkpoint_context == {"plan": "p", "checkpoint": "cp-7-1"}
    one = took(one, complete(PhaseName.PLANNING))

    assert answer_for(one, PhaseName.PLANNING) is None
    assert flow.next_step(one) == flow.Start(PhaseName.EXECUTION)


def test_a_failure_is_a_question_with_its_own_ways_out() -> None:
    """What was done, what failed and what is left stand in its context."""
    work = PartialWork(completed_blocks=("1",), failed_block="2", pending_blocks=("3",))
    failure = PhaseFailure(
        phase_id=PhaseName.EXECUTION,
        failure_type="unrecoverable",
        reason="no attempt is left",
        partial_work=work,
        recovery_options=(Option(id="adjust", description="change the plan"),),
    )

    one = took(started(mission(), PhaseName.EXECUTION), failure)

    assert one.open_checkpoint is not None
    assert one.status is MissionStatus.CHECKPOINT
    assert [each.id for each in one.open_checkpoint.options] == ["adjust", "retry", "abandon"]
    assert one.open_checkpoint.context["partial_work"] == work.model_dump(mode="json")
    assert answered(one, "abandon").status is MissionStatus.ABANDONED


def test_a_phase_that_is_to_be_done_again_begins_a_new_round() -> None:
    """Its finished steps do not count any more; the answer is used up."""
    one = took(
        started(mission(autonomy=Autonomy.GUIDED), PhaseName.RECON), complete(PhaseName.RECON)
    )

    one = answered(one, "redo")

    assert one.phase(PhaseName.RECON).status is PhaseStatus.PENDING
    assert make_order(one, PhaseName.RECON, "folder", "p-1", 0.0).round == 1
    assert answer_for(one, PhaseName.RECON) is None


def test_context_goes_down_and_warmth_comes_up() -> None:
    """What one phase learned, and what it came to, reach the next; each thing once."""
    one = mission(limit_usd=5.0, constraints=("no network",))
    learned = Warmth(patterns=("tabs", "tabs"), gotchas=("slow tests",))
    one = took(started(one, PhaseName.RECON), complete(PhaseName.RECON, warmth=learned))
    one = flow.skip_phase(one, PhaseName.PLANNING, "trivial")

    context = make_order(one, PhaseName.EXECUTION, "folder", "r-1", 1.5).mission_context

    assert context.budget.remaining == 3.5
    assert context.constraints == ("no network",)
    assert context.warmth.patterns == ("tabs",)
    assert [prior.summary for prior in context.prior_phases] == ["done", "skipped: trivial"]


@pytest.mark.parametrize(
    ("spent", "autonomy", "warned", "asks"),
    [
        (0.0, Autonomy.GUIDED, False, None),
        (3.74, Autonomy.GUIDED, False, None),
        (3.75, Autonomy.GUIDED, False, False),
        (3.75, Autonomy.GUIDED, True, None),
        (4.5, Autonomy.GUIDED, True, True),
        (4.5, Autonomy.AUTOPILOT, True, None),
        (5.0, Autonomy.AUTOPILOT, True, True),
    ],
)
def test_the_budget_warns_once_asks_and_stops(
    spent: float, autonomy: Autonomy, warned: bool, asks: bool | None
) -> None:
    """At three quarters a word, at nine tenths a question, at the limit always one."""
    one = mission(limit_usd=5.0, autonomy=autonomy, warned=warned)

    found = find_budget_question(one, PhaseName.EXECUTION, spent)

    assert (found and bool(found.options)) == asks
    if found is not None and found.options and spent < 5.0:
        after = answered(found.put(one, NOW), "go-on")
        assert find_budget_question(after, PhaseName.EXECUTION, spent) is None


@given(st.lists(st.sampled_from(["complete", "failure", "die"]), max_size=12))
def test_however_coordinators_end_the_mission_stands_at_one_phase(ends: list[str]) -> None:
    """A failure waits for a person, a death starts the same phase again, and phases never jump."""
    one = mission()
    for end in ends:
        step = flow.next_step(one)
        if isinstance(step, flow.Ask):
            one = answered(one, "retry")
            step = flow.next_step(one)
        if isinstance(step, flow.Finish):
            break
        assert isinstance(step, flow.Start)
        before = list(PhaseName).index(step.phase)
        over = (PhaseStatus.COMPLETE, PhaseStatus.SKIPPED)
        assert all(one.phase(phase).status in over for phase in list(PhaseName)[:before])
        one = started(one, step.phase)
        if end == "complete":
            one = took(one, complete(step.phase))
        elif end == "failure":
            fails = PhaseFailure(phase_id=step.phase, failure_type="x", reason="y")
            one = took(one, fails)
        else:
            assert flow.next_step(one) == step


EVENT = render_event(complete(PhaseName.RECON))


@pytest.mark.parametrize(
    ("lines", "code", "kind"),
    [
        ([EVENT], 0, None),
        (["", render_activity("reads"), EVENT], 0, None),
        ([], 0, "missing_event"),
        ([render_activity("reads")], 0, "missing_event"),
        ([EVENT, EVENT], 0, "doubled_event"),
        ([EVENT, "and so on"], 0, "doubled_event"),
        (["phase.complete"], 0, "malformed_event"),
        (["[]"], 0, "malformed_event"),
        (['{"event": "phase.done", "phase_id": "RECON"}'], 0, "malformed_event"),
        (['{"event": "phase.complete", "phase_id": "RECON"}'], 0, "malformed_event"),
        ([EVENT.replace("RECON", "PLANNING")], 0, "malformed_event"),
        ([EVENT[:-1] + ', "more": 1}'], 0, "malformed_event"),
        ([EVENT], 1, "crash"),
        ([], -9, "crash"),
    ],
)
def test_one_whole_event_counts_and_nothing_else(
    lines: list[str], code: int, kind: str | None
) -> None:
    """Whatever else a coordinator says or does not say is a failure that says why."""
    event = conclude_phase(PhaseName.RECON, lines, code)

    if kind is None:
        assert isinstance(event, PhaseComplete)
    else:
        assert isinstance(event, PhaseFailure)
        assert event.failure_type == kind
        assert event.reason


@given(st.lists(st.text(max_size=60), max_size=4), st.integers(-15, 3))
def test_any_output_comes_to_an_event(lines: list[str], code: int) -> None:
    """Nothing that a coordinator says can break the mission."""
    assert conclude_phase(PhaseName.RECON, lines, code).phase_id is PhaseName.RECON


def test_what_was_refined_is_carried_out_once() -> None:
    """REFINEMENT gives the mission back to EXECUTION; the second time it is the end of it."""
    one = flow.skip_phase(mission(), PhaseName.RECON, "trivial")
    one = flow.skip_phase(one, PhaseName.PLANNING, "trivial")
    one = took(started(one, PhaseName.EXECUTION), complete(PhaseName.EXECUTION))
    back = complete(PhaseName.REFINEMENT, next_phase=PhaseName.EXECUTION)

    one = took(started(one, PhaseName.REFINEMENT), back)
    assert flow.next_step(one) == flow.Start(PhaseName.EXECUTION)
    assert one.phase(PhaseName.EXECUTION).rounds == 1
    one = took(started(one, PhaseName.EXECUTION), complete(PhaseName.EXECUTION))
    assert flow.next_step(one) == flow.Start(PhaseName.REFINEMENT)
    one = took(started(one, PhaseName.REFINEMENT), back)

    assert flow.next_step(one) == flow.Finish()
    assert one.phase(PhaseName.REFINEMENT).status is PhaseStatus.COMPLETE
