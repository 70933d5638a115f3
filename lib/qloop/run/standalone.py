"""One wave by hand: a coordinator without a driver, for stories that are in_progress already.

It holds the run lock like a driver would, and settles no status: that is for the next run,
which finds in git what landed.
"""

import os
from collections.abc import Callable
from pathlib import Path

from qloop.plan.model import Plan
from qloop.plan.validate import check_plan
from qloop.repo.checkout import Repository
from qloop.run import coordinator, dispatch, holder
from qloop.run.opening import BY_HAND, Opened, open_by_hand
from qloop.run.preconditions import unmet_precondition
from qloop.state.store import store_for
from qloop.system.cancel import Cancel
from qloop.system.errors import QloopError


def run_wave(
    repository: Repository,
    quantum: Path,
    prd: Path | None,
    wave_id: str,
    stories: tuple[str, ...],
    cancel: Cancel,
    say: Callable[[str], None],
) -> str:
    """Carry out one wave and return its signal; BLOCKED where a precondition is unmet."""
    try:
        plan = check_plan(store_for(quantum, repository.root).read(), str(quantum))
    except QloopError as exc:
        say(str(exc))
        return "BLOCKED"
    unmet = unmet_precondition(plan, list(stories))
    if unmet:
        say(unmet)
        return "BLOCKED"
    opened = open_by_hand(repository, quantum, prd)
    try:
        return _run(opened, plan, wave_id, stories, cancel)
    finally:
        holder.release(opened.lock)


def _run(opened: Opened, plan: Plan, wave_id: str, stories: tuple[str, ...], cancel: Cancel) -> str:
    chosen = [story for story in plan.stories if story.id in stories]
    slots = dispatch.Slots(len(chosen))
    order = dispatch.hand_out(opened, wave_id, chosen, slots, dispatch.read_counter(opened))
    control, held = os.pipe()
    with (
        os.fdopen(control, encoding="utf-8") as words,
        os.fdopen(held, "wb"),  # closed first: a reader is at work on the words until then
        Path(os.devnull).open("w") as nobody,
    ):
        signal = coordinator.serve(order, words, nobody, cancel)
    holder.write_holder(opened.private, opened.terms.run_id, BY_HAND, ended=True)
    return signal
