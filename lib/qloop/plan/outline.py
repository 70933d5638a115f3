"""The outline of a plan: of each story what order, status and summary need, and no more. Pure.

An outline of ten thousand stories takes a few megabytes, and is read without the models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from qloop.plan.values import DEFAULT_MAX_ATTEMPTS, DEFAULT_PRIORITY, Status

if TYPE_CHECKING:
    from qloop.plan.likeness import AnyPlan, AnyStory


class StoryOutline(NamedTuple):
    """`AnyStory` in a few hundred bytes."""

    id: str
    title: str | None = None
    status: Status = Status.PENDING
    priority: int = DEFAULT_PRIORITY
    depends_on: tuple[str, ...] = ()
    file_paths: tuple[str, ...] = ()
    attempts: int = 0
    max_attempts: int = DEFAULT_MAX_ATTEMPTS
    started_at: str | None = None
    last_reason: str | None = None
    is_unverified: bool = False


class ConflictOutline(NamedTuple):
    """`AnyConflict` as a value."""

    stories: tuple[str, ...]


class ExecutionOutline(NamedTuple):
    """`AnyExecution` as a value."""

    max_parallel: int | None = None
    current_wave: int | None = None
    force_sequential: bool = False


class Outline(NamedTuple):
    """`AnyPlan` as a value."""

    branch_name: str
    created_at: str | None
    stories: tuple[StoryOutline, ...]
    file_conflicts: tuple[ConflictOutline, ...]
    execution: ExecutionOutline


def outline_of(plan: AnyPlan[AnyStory]) -> Outline:
    """The outline of a plan's models, which are not kept alive by it."""
    run = plan.execution
    return Outline(
        branch_name=plan.branch_name,
        created_at=plan.created_at,
        stories=tuple(map(_story_outline, plan.stories)),
        file_conflicts=tuple(ConflictOutline(tuple(one.stories)) for one in plan.file_conflicts),
        execution=ExecutionOutline(run.max_parallel, run.current_wave, run.force_sequential),
    )


def _story_outline(story: AnyStory) -> StoryOutline:
    return StoryOutline(
        id=story.id,
        title=story.title,
        status=story.status,
        priority=story.priority,
        depends_on=tuple(story.depends_on),
        file_paths=tuple(story.file_paths),
        attempts=story.attempts,
        max_attempts=story.max_attempts,
        started_at=story.started_at,
        last_reason=story.last_reason,
        is_unverified=story.is_unverified,
    )
