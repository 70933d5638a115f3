"""EXECUTION: the wave loop over the mission's plan, in this very process.

Every end of the run is an event that a person can go on from. Errors: those of opening a run.
"""

import shlex
from collections.abc import Sequence

from qloop.mission import warming
from qloop.mission.execution_answers import accepted_red, take_answer
from qloop.mission.execution_end import BUDGET, GO_ON, question_of, read_end
from qloop.mission.execution_feed import Feed
from qloop.mission.final_gate import executors_preamble, judge_of, judge_whole
from qloop.mission.held_run import run_held
from qloop.mission.landed_judge import recognition_words
from qloop.mission.phase_desk import PhaseDesk
from qloop.mission.summaries import FOLDER, summaries_of
from qloop.mission.turns import await_other, turn
from qloop.plan.model import Plan, Status
from qloop.plan.outline import outline_of
from qloop.plan.validate import check_plan
from qloop.run.engine import Done, run_whole
from qloop.run.forks import begin_run
from qloop.run.planning import path_in_plan
from qloop.run.prepare import Wanted
from qloop.state.journal import Event, EventKind
from qloop.state.ownership import PLAN
from qloop.state.phase_events import Metrics, PhaseEvent
from qloop.state.phases import Autonomy
from qloop.state.spending import MICROS, Book, total_usd
from qloop.state.store import store_for
from qloop.system.clock import parse_utc, utc_now
from qloop.system.counting import counted
from qloop.system.errors import RepositoryBusy
from qloop.ui.history import events_of_plan
from qloop.ui.progress import Follower, end_of


def coordinate(desk: PhaseDesk) -> PhaseEvent:
    """Run waves until every story has passed, none can start, or a person is to look."""
    if _is_spent(desk):
        return desk.ask(BUDGET, "The mission's budget is spent. Raise it, then go on?", (GO_ON,))
    with turn(desk):
        is_enough = _prepare(desk)
    if is_enough:
        return _complete(desk)
    with run_held(desk):
        done = _run(desk)
    end = read_end(done.ending, done.plan, done.events, _plan_option(desk))
    asked = question_of(end, by_wave=_is_by_wave(desk))
    if asked is None:
        return _complete(desk, done.ending.reasons)
    _write_summaries(desk, *_known(desk))
    return asked


def _prepare(desk: PhaseDesk) -> bool:
    """Act on a person's answer and hand the mission's warmth down; whether nothing is to run."""
    store = store_for(desk.quantum, desk.repository.root)
    for text in store.adopt():
        desk.tell(text)
    check_plan(store.read(), str(desk.quantum))
    is_enough = take_answer(desk, store)
    told = warming.told_down(desk.order.mission_context)
    with store.transaction(PLAN) as draft:
        draft["codebasePatterns"] = warming.with_patterns(draft.get("codebasePatterns") or (), told)
    return is_enough


def _run(desk: PhaseDesk) -> Done:
    """One run of the engine; it waits for another one that is on."""
    while True:
        try:
            return _run_once(desk)
        except RepositoryBusy as busy:
            await_other(desk, busy)


def _run_once(desk: PhaseDesk) -> Done:
    plan, events = _known(desk)
    feed = Feed.of(desk.order.run_id, outline_of(plan), desk.tell)
    journal = desk.journal.path
    follower = Follower(journal, feed.take, end_of(journal))
    feed.begin()
    by_wave = _is_by_wave(desk)
    wanted = Wanted(
        budget_usd=_limit_usd(desk, plan, events),
        strict_waves=by_wave,
        max_iterations=1 if by_wave else None,
        recognize=True,
        asks_at_gate=True,
        accepted_red=accepted_red(desk),
        preamble=executors_preamble(desk),
    )
    with begin_run(desk.order.run_id) as forks:
        return run_whole(
            desk.repository,
            desk.quantum,
            None,
            wanted,
            forks,
            follower.look,
            lambda _: desk.tell("stopping: nothing new starts"),
        )


def _plan_option(desk: PhaseDesk) -> str:
    """What commands must be told to find this plan, where the checkout has another one."""
    root = desk.repository.root
    if not (root / desk.quantum.name).exists():
        return ""
    return f" --quantum {shlex.quote(path_in_plan(desk.quantum, root))}"


def _is_by_wave(desk: PhaseDesk) -> bool:
    return desk.order.mission_context.autonomy is Autonomy.HANDS_ON


def _is_spent(desk: PhaseDesk) -> bool:
    left = desk.order.mission_context.budget.remaining
    return left is not None and left <= 0


def _limit_usd(desk: PhaseDesk, plan: Plan, events: Sequence[Event]) -> float | None:
    """What the run may cost: what the mission has left, and what its account began with.

    The account of a run that died goes on; the mission has counted that as spent already.
    """
    left = desk.order.mission_context.budget.remaining
    if left is None:
        return None
    book = Book()
    book.take(events)
    carried = book.carried(plan.branch_name)
    return left + (carried.spent_micros + carried.reserved_micros) / MICROS


def _known(desk: PhaseDesk) -> tuple[Plan, list[Event]]:
    """The plan as it stands, and all that the journal tells."""
    store = store_for(desk.quantum, desk.repository.root)
    return check_plan(store.read(), str(desk.quantum)), desk.journal.events()


def _complete(desk: PhaseDesk, notes: Sequence[str] = ()) -> PhaseEvent:
    """The phase is done; *notes* are what else a person should know of how its run ended."""
    plan, events = _known(desk)
    _write_summaries(desk, plan, events)
    own = events_of_plan(plan, events, parse_utc(utc_now()))
    passed = sum(story.status is Status.PASSED for story in plan.stories)
    left = [story.id for story in plan.stories if story.status is not Status.PASSED]
    attempts = sum(event.event is EventKind.ATTEMPT_STARTED for event in own)
    count = f"{counted(passed, 'story')} passed"
    without = f"; a person goes on without {', '.join(left)}" if left else ""
    asked, judged = judge_whole(desk, plan, own)
    if asked is not None:
        return asked
    down = warming.told_down(desk.order.mission_context)
    return desk.complete(
        f"{count} in {counted(attempts, 'attempt')}{without}"
        f"{recognition_words(judged, judge_of(desk))}{''.join(f'; {note}' for note in notes)}",
        (FOLDER, "quantum.json"),
        metrics=_metrics(desk, plan),
        warmth=warming.told_up(plan, down),
    )


def _write_summaries(desk: PhaseDesk, plan: Plan, events: Sequence[Event]) -> None:
    (desk.folder / FOLDER).mkdir(parents=True, exist_ok=True)
    own = events_of_plan(plan, events, parse_utc(utc_now()))
    for name, text in summaries_of(desk.repository, plan, own):
        desk.write(name, text)


def _metrics(desk: PhaseDesk, plan: Plan) -> Metrics:
    """What all runs of the plan took, whoever judged what landed included."""
    events = desk.journal.events()
    own = events_of_plan(plan, events, parse_utc(utc_now()))
    runs = {event.run for event in own}
    book = Book()
    book.take(events)
    return Metrics(
        agents_spawned=sum(event.event is EventKind.AGENT_STARTED for event in own),
        commits=sum(event.event is EventKind.STORY_LANDED for event in own),
        cost_usd=total_usd(call for call in book.calls.values() if call.run in runs),
    )
