"""Writing down what a run settles: statuses in the driver's name, and the journal."""

from pathlib import Path

from qloop.plan.model import Json
from qloop.repo import line
from qloop.repo.starts import release_start
from qloop.run.opening import Opened
from qloop.run.orders import Dispatch, Settled
from qloop.run.records import execution_of
from qloop.run.recover import Started, add_failure, fill_landed
from qloop.run.settle import End, Settlement
from qloop.run.wave import Wave
from qloop.state.journal import EventKind
from qloop.state.ownership import DRIVER


def find_landed(opened: Opened, one: Dispatch) -> str | None:
    """The commit under which this attempt stands on the line, by git alone."""
    return line.find_landed(opened.repository, opened.terms.place.branch, one.attempt_id, one.story)


def fill_records(opened: Opened, one: Dispatch) -> None:
    """Write for a coordinator that died after landing what it did not come to write."""
    started = Started(one.story, one.attempt, one.attempt_id)
    fill_landed(opened.store, opened.journal.events(opened.terms.run_id), [started])


def write_settlement(
    opened: Opened,
    wave: str,
    one: Dispatch,
    settlement: Settlement,
    landed: str | None,
    told: Settled | None,
) -> None:
    """The story's status, its charge and its failure, in one write; then the journal."""
    failed = settlement.failed
    started = Started(one.story, one.attempt, one.attempt_id)
    with opened.store.transaction(DRIVER, [one.story]) as draft:
        _leave(draft, opened, one)
        for story in draft["stories"]:
            if story.get("id") != one.story:
                continue
            story["status"] = str(settlement.status)
            story["startedAt"] = None
            if failed is not None:
                add_failure(story, started, failed.phase, failed.reason, failed.log)
                if failed.charged:
                    story["retries"]["attempts"] = (story["retries"].get("attempts") or 0) + 1
    facts: Json = {"status": str(settlement.status), "attempt_id": one.attempt_id}
    if failed is not None:
        facts |= failed.model_dump(mode="json")
    if landed is not None:
        facts["commit"] = landed
    if told is not None:
        facts["seconds"] = told.seconds
    opened.journal.append(
        EventKind.STORY_SETTLED, wave=wave, story=one.story, attempt=one.attempt, **facts
    )


def write_back(opened: Opened, one: Dispatch) -> None:
    """A story that was not begun is pending again, at nobody's charge."""
    with opened.store.transaction(DRIVER, [one.story]) as draft:
        _leave(draft, opened, one)
        for story in draft["stories"]:
            if story.get("id") == one.story:
                story["status"] = "pending"
                story["startedAt"] = None


def end_wave(opened: Opened, wave: Wave, end: End, told: str) -> None:
    """Let go of what its attempts held; journal its end, and where its word is not the truth."""
    release_start(opened.repository, *(one.attempt_id for one in wave.order.dispatches))
    opened.journal.append(
        EventKind.WAVE_ENDED,
        wave=wave.wave_id,
        signal=end.signal,
        how=end.how,
        landed=sorted(wave.landed),
        disagreement=told,
    )


def note_hand_over(opened: Opened, wave: Wave, why: str) -> None:
    """Journal that the orchestrator of a run has given way to coordinators."""
    opened.journal.append(EventKind.RUN_HANDED_OVER, wave=wave.wave_id, reason=why)


def _leave(draft: Json, opened: Opened, one: Dispatch) -> None:
    tree = str(Path(opened.terms.place.base) / one.attempt_id)
    execution = execution_of(draft)
    at_work = execution.get("activeWorktrees") or []
    execution["activeWorktrees"] = [path for path in at_work if path != tree]
