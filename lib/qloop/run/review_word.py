"""A word on a story's reviews, by a person, a script or a coordinating agent.

It is written down beside what evidence said; what lands was never its to decide. A review that
evidence failed stays failed, whatever is said, until another attempt.
Errors: BadInput.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from qloop.plan.model import Json
from qloop.plan.values import UNVERIFIED
from qloop.run.records import set_reviews, story_document
from qloop.state.attempts import AttemptResult, newest_attempt
from qloop.state.journal import EventKind, Journal
from qloop.state.ownership import coordinator_of
from qloop.state.store import Store
from qloop.system.clock import utc_now
from qloop.system.errors import BadInput

Verdict = Literal["passed", "failed"]
PARTS = {"spec": "specCompliance", "quality": "codeQuality"}


@dataclass(frozen=True, slots=True)
class Word:
    """What is said of a story's newest attempt."""

    story: str
    verdicts: Mapping[str, Verdict]
    """By `spec`, `quality`; what is not named stays as it is."""
    evidence: str
    by_agent: bool = False
    """An agent's word verifies nothing: what no command judged stays unverified."""


def set_review(store: Store, journal: Journal, word: Word) -> Json:
    """Write the word down; the story's reviews as they stand then."""
    known = newest_attempt(journal.events(), word.story)
    attempt = _check_reviewed(word.story, known)
    for name, verdict in word.verdicts.items():
        _check_may_stand(word.story, name, verdict, attempt)
    with store.transaction(coordinator_of([word.story])) as draft:
        story = story_document(draft, word.story)
        old = story.get("review") or {}
        written = {
            PARTS[name]: _part(word, verdict, old.get(PARTS[name]) or {}, attempt.attempt)
            for name, verdict in word.verdicts.items()
        }
        set_reviews(story, written)
        reviews: Json = story["review"]
    Journal(journal.path, attempt.run).append(
        EventKind.REVIEW_ENDED,
        wave=attempt.wave,
        story=word.story,
        attempt=attempt.attempt,
        said=written,
        by="agent" if word.by_agent else "hand",
    )
    return reviews


def _check_reviewed(story: str, attempt: AttemptResult | None) -> AttemptResult:
    if attempt is None:
        raise BadInput(
            f"no attempt at {story} was ever made, so there is nothing to review",
            fix=f"qloop attempt {story}",
        )
    if attempt.state == "running" and not attempt.reviews:
        raise BadInput(
            f"attempt {attempt.attempt} at {story} is at work, its gates have not spoken yet",
            fix=f"qloop attempt {story} --wait 60",
        )
    return attempt


def _check_may_stand(story: str, name: str, verdict: Verdict, attempt: AttemptResult) -> None:
    found = attempt.reviews.get(PARTS[name]) or {}
    if verdict == "passed" and found.get("status") == "failed":
        why = next(iter(str(found.get("evidence", "")).splitlines()), "")
        raise BadInput(
            f"the {name} review of {story} failed on evidence, which no word turns: {why}",
            fix=f"only another attempt can pass it: qloop attempt {story}",
        )


def _part(word: Word, verdict: Verdict, old: Json, attempt: int) -> Json:
    evidence = word.evidence
    if word.by_agent and str(old.get("evidence", "")).startswith(UNVERIFIED):
        evidence = f"{UNVERIFIED} no command judges this; the coordinating agent says: {evidence}"
    return {
        "status": verdict,
        "issues": [word.evidence] if verdict == "failed" else [],
        "evidence": evidence,
        "reviewedAt": utc_now(),
        "attempt": attempt,
    }
