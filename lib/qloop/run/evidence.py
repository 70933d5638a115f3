"""Evidence: the plan's own commands, run by qloop on what the agent left, fill the reviews."""

from dataclasses import dataclass

from qloop.plan.model import Phase
from qloop.plan.values import UNVERIFIED
from qloop.run.desk import Desk, shown
from qloop.run.gates import GateResult, Room, run_gates
from qloop.run.orders import AttemptOrder, Failed, Outcome, ReviewNote
from qloop.state.journal import EventKind


@dataclass(frozen=True, slots=True)
class _Judged:
    note: ReviewNote
    red: GateResult | None


def judge(order: AttemptOrder, desk: Desk, room: Room, outcome: Outcome) -> Outcome:
    """Run the story's verifying commands, then the plan's quality commands."""
    spec = _review(desk, room, "verify", _verifying(order))
    if spec.red is not None:
        return _failing(outcome, desk, spec.red).model_copy(update={"spec": spec.note})
    quality = _review(desk, room, "quality", order.commands.quality)
    notes = {"spec": spec.note, "quality": quality.note}
    if quality.red is not None:
        return _failing(outcome, desk, quality.red).model_copy(update=notes)
    return outcome.model_copy(update=notes)


def has_commands(order: AttemptOrder) -> bool:
    """Whether any command judges the story."""
    return bool(_verifying(order) or order.commands.quality)


def _verifying(order: AttemptOrder) -> tuple[str, ...]:
    story = order.read_story()
    return (*(item for task in story.tasks for item in task.commands), *story.verify)


def _review(desk: Desk, room: Room, kind: str, commands: tuple[str, ...]) -> _Judged:
    if not commands:
        note = ReviewNote(status="passed", evidence=f"{UNVERIFIED} no command judges this")
        return _Judged(note, None)
    results = run_gates(room, kind, commands)
    for result in results:
        facts = result.facts(shown(result.log, desk.terms))
        desk.emit(EventKind.GATE_ENDED, gate=result.name, **facts)
    red = None if results[-1].green else results[-1]
    evidence = "\n".join(result.evidence() for result in results)
    issues = (red.line,) if red is not None else ()
    note = ReviewNote(
        status="passed" if red is None else "failed", evidence=evidence, issues=issues
    )
    return _Judged(note, red)


def _failing(outcome: Outcome, desk: Desk, red: GateResult) -> Outcome:
    failed = Failed(phase=Phase.VERIFICATION, reason=red.evidence(), log=shown(red.log, desk.terms))
    return outcome.model_copy(update={"failed": failed})
