"""The outline of a document that is a plan beyond doubt. Pure.

A story is looked at by itself, and only what the others must know of it is kept, so that stories
can come one after the other from a file that is never held as a whole.
"""

from collections.abc import Iterable
from typing import Any

from qloop.plan.cycles import find_knots
from qloop.plan.outline import ConflictOutline, ExecutionOutline, Outline, StoryOutline
from qloop.plan.sound import PLAN, STORY, is_sound
from qloop.plan.values import DEFAULT_MAX_ATTEMPTS, DEFAULT_PRIORITY, UNVERIFIED, Json, Status

_STATUSES = {str(status): status for status in Status}
_REVIEWS = ("specCompliance", "codeQuality")


def find_outline(document: Json) -> Outline | None:
    """The outline; None where there is any doubt that the document is a plan that can be run."""
    stories = document.get("stories")
    if not isinstance(stories, list):
        return None
    fields = {key: value for key, value in document.items() if key != "stories"}
    return join_outline(fields, map(find_story_outline, stories))


def join_outline(fields: Json, stories: Iterable[StoryOutline | None]) -> Outline | None:
    """The outline of top-level *fields* and of stories; None where there is any doubt."""
    if fields.get("branchName") is None or not is_sound(fields, PLAN):
        return None
    known: list[StoryOutline] = []
    for story in stories:
        if story is None:
            return None
        known.append(story)
    if not _is_graph(known):
        return None
    return _outline(fields, tuple(known))


def find_story_outline(story: Any) -> StoryOutline | None:
    """The outline of one story; None where there is any doubt about it."""
    if not isinstance(story, dict) or story.get("id") is None or not is_sound(story, STORY):
        return None
    tasks = story.get("tasks") or ()
    ids = [task["id"] for task in tasks if task.get("id") is not None]
    if len(set(ids)) < len(ids):
        return None
    tries = story.get("retries") or {}
    most, priority = tries.get("maxAttempts"), story.get("priority")
    log, review = tries.get("failureLog"), story.get("review")
    return StoryOutline(
        id=story["id"],
        title=story.get("title"),
        status=_STATUSES[story.get("status") or "pending"],
        priority=DEFAULT_PRIORITY if priority is None else priority,
        depends_on=tuple(story.get("dependsOn") or ()),
        file_paths=tuple(path for task in tasks for path in task.get("filePaths") or ()),
        attempts=tries.get("attempts") or 0,
        max_attempts=DEFAULT_MAX_ATTEMPTS if most is None else most,
        started_at=story.get("startedAt"),
        last_reason=log[-1].get("reason") if log else None,
        is_unverified=_is_unverified(review) if review else False,
    )


def _outline(fields: Json, stories: tuple[StoryOutline, ...]) -> Outline:
    run = fields.get("execution") or {}
    conflicts = fields.get("fileConflicts") or ()
    return Outline(
        branch_name=fields["branchName"],
        created_at=fields.get("createdAt"),
        stories=stories,
        file_conflicts=tuple(ConflictOutline(tuple(one.get("stories") or ())) for one in conflicts),
        execution=ExecutionOutline(
            run.get("maxParallel"), run.get("currentWave"), run.get("forceSequential") or False
        ),
    )


def _is_unverified(review: Json) -> bool:
    parts = (review.get(name) or {} for name in _REVIEWS)
    evidence = (part.get("evidence") for part in parts)
    return any(isinstance(text, str) and text.startswith(UNVERIFIED) for text in evidence)


def _is_graph(stories: list[StoryOutline]) -> bool:
    """Whether ids are unique, and dependencies known and free of circles."""
    graph = {story.id: story.depends_on for story in stories}
    if len(graph) < len(stories):
        return False
    if not any(graph.values()):
        return True
    for name, needs in graph.items():
        if name in needs or not all(needed in graph for needed in needs):
            return False
    return not find_knots(graph)
