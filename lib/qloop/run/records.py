"""What a coordinator writes down of its wave: reviews, task statuses, progress, the wave's end."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from qloop.plan.model import Json
from qloop.run.orders import Outcome, ReviewNote, Settled, WaveOrder
from qloop.state.ownership import coordinator_of
from qloop.state.store import Store
from qloop.system.clock import utc_now
from qloop.system.errors import BadInput

_REVIEW = ("status", "issues", "evidence", "reviewedAt", "attempt")


@dataclass(frozen=True, slots=True)
class Records:
    """Writes to the state file in the coordinator's name, its own wave's stories only."""

    order: WaveOrder
    store: Store

    def reset_reviews(self) -> None:
        """Reviews and tasks of the wave's stories are pending again: an attempt starts."""
        with self._transaction() as draft:
            for dispatch in self.order.dispatches:
                story = story_document(draft, dispatch.story)
                pending = {"status": "pending", "issues": []}
                set_reviews(story, {"specCompliance": pending, "codeQuality": pending})
                for task in story.get("tasks") or []:
                    task["status"] = "pending"

    def write_reviews(self, story_id: str, written: Json) -> None:
        """What evidence says of the reviews that were made."""
        with self._transaction() as draft:
            set_reviews(story_document(draft, story_id), written)

    def write_progress(self, settled: Settled) -> None:
        """One entry for an attempt that ended; the tasks of one that landed have passed."""
        failed = settled.failed
        entry: Json = {
            "timestamp": utc_now(),
            "iteration": self.order.wave,
            "storyId": settled.story,
            "action": "story_passed" if settled.landed else "story_failed",
            "details": settled.landed or (f"{failed.phase}: {failed.reason}" if failed else ""),
        }
        with self._transaction() as draft:
            draft["progress"] = [*(draft.get("progress") or []), entry]
            if settled.landed:
                for task in story_document(draft, settled.story).get("tasks") or []:
                    task["status"] = "passed"

    def end_wave(self, signal: str, began: str, findings: Sequence[str | Json]) -> None:
        """The wave's entry among the completed ones."""
        entry: Json = {
            "id": self.order.wave,
            "stories": [one.story for one in self.order.dispatches],
            "signal": signal,
            "startedAt": began,
            "completedAt": utc_now(),
            "findings": list(findings),
        }
        with self._transaction() as draft:
            execution = execution_of(draft)
            execution["completedWaves"] = [*(execution.get("completedWaves") or []), entry]

    def _transaction(self) -> AbstractContextManager[Json]:
        stories = [one.story for one in self.order.dispatches]
        return self.store.transaction(coordinator_of(stories), stories)


def review_documents(outcome: Outcome, attempt: int) -> Json:
    """The reviews that were made, as they stand in the state file."""
    notes = {"specCompliance": outcome.spec, "codeQuality": outcome.quality}
    return {name: _review(note, attempt) for name, note in notes.items() if note is not None}


def set_reviews(story: Json, written: Json) -> None:
    """Write reviews into a story of the document; fields of others in them stay in their place."""
    reviews = dict(story.get("review") or {})
    for name, review in written.items():
        old = reviews.get(name) or {}
        kept = {key: value for key, value in old.items() if key in review or key not in _REVIEW}
        reviews[name] = {**kept, **review}
    story["review"] = reviews


def execution_of(draft: Json) -> Json:
    """The document's `execution`, to be changed in place; made where it is missing or null."""
    execution: Json = draft.get("execution") or {}
    draft["execution"] = execution
    return execution


def story_document(document: Json, story_id: str) -> Json:
    """The story's part of the document. Raises BadInput where the plan has lost it."""
    for story in document.get("stories") or []:
        if story.get("id") == story_id:
            found: Json = story
            return found
    raise BadInput(f"{story_id} is no longer in the plan")


def _review(note: ReviewNote, attempt: int) -> Json:
    return {
        "status": note.status,
        "issues": list(note.issues),
        "evidence": note.evidence,
        "reviewedAt": utc_now(),
        "attempt": attempt,
    }
