"""The final gate of a gated team: what landed, the boxes, and a reviewer who made none of it.

Errors: BadInput for a hand-off that is refused; those of the judge's talk.
"""

from collections.abc import Sequence
from typing import Any

from qloop.mission.action_plan import tick_done
from qloop.mission.coverage import read_criteria
from qloop.mission.execution_end import ACCEPT, GO_ON, LOOK_AGAIN
from qloop.mission.flow import ABANDON, asking
from qloop.mission.hand_off import Member, hand_over, nothing
from qloop.mission.held_run import find_fault
from qloop.mission.landed_judge import RECOGNIZER, Judge, judge_landed
from qloop.mission.member_call import MemberErred
from qloop.mission.phase_desk import PhaseDesk, Result
from qloop.mission.preamble import render_preamble
from qloop.mission.team_calls import fresh_member
from qloop.plan.model import Plan, Status
from qloop.state.insights import add_insight
from qloop.state.journal import Event
from qloop.state.lifecycle import Stage, read_lifecycle
from qloop.state.phase_events import PhaseCheckpoint

REVIEWER = "reviewer"
EXECUTOR = "executor"
OPEN_BOXES = "open_boxes"
WANTING = "review"
MOST_TOLD = 5


Passed = tuple[PhaseCheckpoint | None, Result | None]


def judge_of(desk: PhaseDesk) -> str:
    """The role that judges the whole."""
    return REVIEWER if REVIEWER in desk.order.phase_config.agents else RECOGNIZER


def executors_preamble(desk: PhaseDesk) -> str:
    """What a team's implementers are told first; empty without a team.

    They end with a signal, not with a report: what landed accounts for the executor.
    """
    if judge_of(desk) != REVIEWER:
        return ""
    return render_preamble(desk.folder, EXECUTOR, is_reporting=False)


def judge_whole(desk: PhaseDesk, plan: Plan, events: Sequence[Event]) -> Passed:
    """What keeps a gated team's intent from its end, if anything does, and its reviewer's word.

    Without a team a recognizer says its word, which keeps nothing.
    """
    if judge_of(desk) == REVIEWER:
        return _pass_gate(desk, plan, events)
    return None, judge_landed(desk, plan, events)


def _pass_gate(desk: PhaseDesk, plan: Plan, events: Sequence[Event]) -> Passed:
    tick_done(desk.folder, [one.id for one in plan.stories if one.status is Status.PASSED])
    left = [box.text for box in read_lifecycle(desk.folder).open_boxes]
    if left:
        told = "; ".join(left[:MOST_TOLD]) + ("; …" if len(left) > MOST_TOLD else "")
        question = f"Open in checklist.md: {told}. Tick what is done, then go on?"
        return desk.ask(OPEN_BOXES, question, (GO_ON, ABANDON)), None
    number = desk.order.round + 1
    desk.step(EXECUTOR, {"round": number}, lambda: _executed(desk, number))
    if _is_accepted(desk):
        return None, _context(desk).get("found")
    found = _reviewed(desk, plan, events)
    wanting = None if found is None else _wanting(desk, found)
    if wanting is None:
        return None, found
    question = asking(wanting, "How to go on?")
    asked = (LOOK_AGAIN, ACCEPT, ABANDON)
    context = {"gate": WANTING, "round": _round(desk), "found": found}
    return desk.ask(WANTING, question, asked, **context), found


def _wanting(desk: PhaseDesk, found: Result) -> str | None:
    """Why the reviewer's word keeps the intent from its end; None where it does not.

    Where nobody is set as a reviewer, commands alone are the evidence, and that is noted.
    """
    if found.get("erred"):
        return f"Nobody could review it: {found['note']}"
    if found["passed"] is None:
        note = f"nobody reviewed the whole: {found['note']}; its commands are the evidence"
        _note(desk, note, is_autonomous=True)
    if found["passed"] is not False:
        return None
    return f"The reviewer finds it wanting: {'; '.join(found['issues'][:MOST_TOLD])}"


def _reviewed(desk: PhaseDesk, plan: Plan, events: Sequence[Event]) -> Result | None:
    """The word of somebody who made none of it, asked afresh, with an account in the folder."""
    said: list[Result | None] = []

    def review(member: Member) -> None:
        asked = Judge(REVIEWER, _criteria(desk), _round(desk), member.ask)
        said.append(judge_landed(desk, plan, events, asked))

    try:
        hand_over(fresh_member(desk, REVIEWER), _round(desk) + 1, review, nothing)
    except MemberErred as erred:
        return {"passed": None, "lines": [], "issues": [], "note": str(erred), "erred": True}
    return said[0]


def _executed(desk: PhaseDesk, number: int) -> Result:
    """The account of all that implemented: the wave loop did the work."""
    fault = find_fault(desk)
    return {**hand_over(Member(desk.folder, EXECUTOR), number, nothing, lambda _: fault)}


def _criteria(desk: PhaseDesk) -> tuple[str, ...]:
    """What the specification asks of the whole."""
    return tuple(map(str, read_criteria(read_lifecycle(desk.folder).spec or "")))


def _context(desk: PhaseDesk) -> dict[str, Any]:
    context = desk.order.checkpoint_context or {}
    return context if context.get("gate") == WANTING else {}


def _round(desk: PhaseDesk) -> int:
    """How often a person had it looked at again."""
    context, response = _context(desk), desk.order.user_response
    is_again = bool(context) and response is not None and response.option == LOOK_AGAIN.id
    return int(context.get("round", 0)) + is_again


def _is_accepted(desk: PhaseDesk) -> bool:
    response = desk.order.user_response
    if not _context(desk) or response is None or response.option != ACCEPT.id:
        return False
    erred = (_context(desk).get("found") or {}).get("erred")
    what = "it without a review" if erred else "what the reviewer finds wanting"
    _note(desk, f"a person accepts {what}. {response.note}".strip())
    return True


def _note(desk: PhaseDesk, text: str, *, is_autonomous: bool = False) -> None:
    if text not in (read_lifecycle(desk.folder).document or ""):
        add_insight(
            desk.folder, text, stage=Stage.EXEC, author="qloop", is_autonomous=is_autonomous
        )
