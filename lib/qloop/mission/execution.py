"""EXECUTION: the wave loop over the mission's plan, in this very process.

Errors: those of opening a run.
"""

from pathlib import Path

from qloop.mission.phase_desk import PhaseDesk
from qloop.plan.model import Status
from qloop.run.engine import Done, run_whole
from qloop.run.forks import begin_run
from qloop.run.prepare import Wanted
from qloop.state.facts import EventKind
from qloop.state.journal import Journal
from qloop.state.phase_events import Metrics, Option, PartialWork, PhaseEvent, PhaseFailure
from qloop.state.spending import MICROS, Book

RETRY = Option(id="retry", description="reset the stories that failed, and go on")
ADJUST = Option(id="adjust", description="change the plan (quantum.json) first, then go on")


def coordinate(desk: PhaseDesk) -> PhaseEvent:
    """Run waves until every story has passed or none can start."""
    left = desk.order.mission_context.budget.remaining
    wanted = Wanted(budget_usd=left or None)
    spec = desk.spec if desk.spec.exists() else None
    with begin_run(desk.order.run_id) as forks:
        done = run_whole(
            desk.repository, desk.quantum, spec, wanted, forks, lambda: None, lambda _: None
        )
    return _event(desk, done)


def _event(desk: PhaseDesk, done: Done) -> PhaseEvent:
    passed = [one.id for one in done.plan.stories if one.status == Status.PASSED]
    left = [one.id for one in done.plan.stories if one.status != Status.PASSED]
    if not left:
        text = f"{len(passed)} stories passed"
        return desk.complete(text, ("quantum.json",), metrics=_metrics(desk, done))
    failed = next((one.id for one in done.plan.stories if one.status == Status.FAILED), None)
    return PhaseFailure(
        phase_id=desk.phase,
        failure_type="unrecoverable",
        reason="; ".join(done.ending.reasons) or f"the run ended {done.ending.signal}",
        partial_work=PartialWork(
            completed_blocks=tuple(passed),
            failed_block=failed,
            pending_blocks=tuple(one for one in left if one != failed),
        ),
        recovery_options=(RETRY, ADJUST),
    )


def _metrics(desk: PhaseDesk, done: Done) -> Metrics:
    book = Book()
    book.take(Journal(Path(desk.journal.path)).events())
    commits = sum(event.event == EventKind.STORY_LANDED for event in done.events)
    agents = sum(event.event == EventKind.AGENT_STARTED for event in done.events)
    cost = book.of_run(desk.order.run_id).spent_micros / MICROS
    return Metrics(commits=commits, agents_spawned=agents, cost_usd=cost)
