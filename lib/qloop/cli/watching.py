"""What `watch` does once its words are parsed: a run that goes on elsewhere, or the last one."""

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from qloop.cli.looking import Place, find_place, this_moment
from qloop.cli.mission_watching import watch_mission_here
from qloop.cli.planning import read_plan
from qloop.run.holder import Holder, read_holder
from qloop.state.facts import is_beside, is_planning
from qloop.state.journal import Event, EventKind, Journal
from qloop.system.errors import BadInput
from qloop.ui import console
from qloop.ui.board import build_board, ended_words
from qloop.ui.history import events_of_plan

LOOK_EVERY_S = 0.25
BEGINNINGS = (EventKind.RUN_STARTED, EventKind.ATTEMPT_STARTED)


def watch_here(quantum: Path | None) -> int:
    """Show the run that is on until it ends; where none is, the last one as it ended."""
    if quantum is None and watch_mission_here():
        return 0
    place = find_place(quantum)
    holder = read_holder(place.private)
    if holder is None or not holder.alive:
        _show_last(place)
    else:
        _follow(place, holder)
    return 0


def _follow(place: Place, holder: Holder) -> None:
    from qloop.ui.board_reader import BoardReader
    from qloop.ui.live import follow_board, follow_lines

    def is_on() -> bool:
        now = read_holder(place.private)
        return now is not None and now.run_id == holder.run_id and now.alive

    journal = place.private / "events.jsonl"
    start = _await_start(Journal(journal), holder.run_id, is_on)
    if start is not None:
        _check_plan(place, start)
        if console.is_fancy(sys.stdout):
            follow_board(BoardReader(place.private, place.state_file, run=holder.run_id), is_on)
        else:
            follow_lines(journal, holder.run_id, is_on)
    _tell_end(holder.run_id, Journal(journal).events(holder.run_id))


def _await_start(journal: Journal, run: str, is_on: Callable[[], bool]) -> Event | None:
    """The event with which a run began; None where it was gone before that."""
    offset = 0
    while True:
        alive = is_on()
        events, offset = journal.read_from(offset)
        began = [event for event in events if event.run == run and event.event in BEGINNINGS]
        if began or not alive:
            return began[0] if began else None
        time.sleep(LOOK_EVERY_S)


def _check_plan(place: Place, start: Event) -> None:
    """Raises InputMissing, Faults, and BadInput where the run is about another state file."""
    plan = read_plan(place.state_file)
    branch = start.data.get("branch")
    if branch not in (None, plan.branch_name):
        raise BadInput(
            f"the run that is on works for {branch}, this plan is for {plan.branch_name}",
            where=str(place.state_file),
            fix="name its state file: --quantum FILE",
        )


def _show_last(place: Place) -> None:
    """The plan with its last run, as far as that came."""
    from qloop.ui.live import print_board

    plan, now = read_plan(place.state_file), this_moment()
    told = [one for one in events_of_plan(plan, place.events(), now) if not is_beside(one.run)]
    run = told[-1].run if told else None
    events = [event for event in told if event.run == run]
    if run is None:
        console.result("no run is on, and none was made of this plan yet")
    else:
        console.result("no run is on; this is the last one")
    print_board(build_board(plan, events, {}, now, alive=False))
    if run is not None:
        _tell_end(run, events)


def _tell_end(run: str, events: Sequence[Event]) -> None:
    """How a run ended, and why where it said so."""
    if is_planning(run):
        console.result(f"a plan was being made ({run}); that is over")
        return
    gone = "is gone without an end; the next `qloop run` takes it up"
    words = (ended_words(events) or gone) if events else "ended before it began"
    console.result(f"run {run} {words}")
    for event in events:
        reasons = event.data.get("reasons") if event.event is EventKind.RUN_ENDED else None
        for reason in reasons if isinstance(reasons, list) else ():
            console.result(console.printable(str(reason)))
