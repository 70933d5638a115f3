"""A wave's end, written down for a wave whose coordinator did not come to it.

Errors: BadInput for a wave that is not known or not over, RepositoryBusy while a run is on.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from qloop.plan.model import Json, Plan
from qloop.plan.validate import check_plan
from qloop.repo.checkout import Repository
from qloop.repo.line import find_landed
from qloop.run import holder
from qloop.run.records import execution_of
from qloop.run.recover import Started
from qloop.state.journal import Event, EventKind
from qloop.state.ownership import coordinator_of
from qloop.state.store import Store
from qloop.system.clock import utc_now
from qloop.system.errors import BadInput


@dataclass(frozen=True, slots=True)
class WaveEnd:
    """What a wave came to."""

    wave: str
    signal: str
    landed: dict[str, str | None]
    """Each of its stories, and the commit under which it landed."""

    def to_json(self) -> Json:
        """The value as plain JSON values."""
        return {"wave": self.wave, "signal": self.signal, "stories": self.landed}


def complete_wave(
    repository: Repository, store: Store, events: Sequence[Event], wave: str
) -> WaveEnd:
    """Write the wave's entry where there is none, by what git says; what it came to."""
    plan = check_plan(store.current(), str(store.path))
    started = attempts_of_wave(events, plan.branch_name, wave)
    if not started:
        raise BadInput(f"there is no wave {wave!r} of {plan.branch_name}", where=str(store.path))
    landed = {
        one.story: find_landed(repository, plan.branch_name, one.attempt_id, one.story)
        for one in started
    }
    recorded = _recorded(plan, wave)
    if recorded is not None:
        return WaveEnd(wave, recorded, landed)
    lock = holder.try_lock(repository)
    if lock is None:
        raise holder.busy(holder.private_folder(repository))
    try:
        _check_over(plan, wave, started)
        signal = "WAVE_PASSED" if all(landed.values()) else "WAVE_FAILED"
        _write(store, wave, signal, started, events)
    finally:
        holder.release(lock)
    return WaveEnd(wave, signal, landed)


def attempts_of_wave(events: Sequence[Event], branch: str, wave: str) -> list[Started]:
    """The dispatches of the newest wave of that name on a branch."""
    own = [
        event
        for event in events
        if event.event is EventKind.ATTEMPT_STARTED
        and event.wave == wave
        and event.data.get("branch") == branch
    ]
    return [
        Started(event.story, event.attempt, str(event.data.get("attempt_id", "")))
        for event in own
        if event.run == own[-1].run and event.story and event.attempt
    ]


def _recorded(plan: Plan, wave: str) -> str | None:
    entries = (one for one in plan.execution.completed_waves if one.id == wave)
    return next((one.signal for one in entries if one.signal), None)


def _check_over(plan: Plan, wave: str, started: Sequence[Started]) -> None:
    stories = [plan.story(one.story) for one in started]
    at_work = [one.id for one in stories if one is not None and one.status == "in_progress"]
    if at_work:
        raise BadInput(
            f"{wave} is not over: {', '.join(at_work)} not settled",
            fix="`qloop run` settles what a run that is gone left",
        )


def _write(
    store: Store, wave: str, signal: str, started: Sequence[Started], events: Sequence[Event]
) -> None:
    ids = {one.attempt_id for one in started}
    begun = [event.ts for event in events if event.data.get("attempt_id") in ids]
    entry: Json = {
        "id": wave,
        "stories": [one.story for one in started],
        "signal": signal,
        "startedAt": begun[0],
        "completedAt": utc_now(),
        "findings": [],
    }
    with store.transaction(coordinator_of(one.story for one in started)) as draft:
        execution = execution_of(draft)
        execution["completedWaves"] = [*(execution.get("completedWaves") or []), entry]
