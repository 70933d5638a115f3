"""A plan compiled again from its changed requirements document: what was done stays done.

Also what becomes of a plan that makes room for another: whether it is finished, and the name
under which it is put away. Pure.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from qloop.plan.prd_names import default_branch
from qloop.plan.values import DEFAULT_PRIORITY, Json, Status

_STORY_CONTENT: Json = {
    "id": None,
    "title": None,
    "description": None,
    "acceptanceCriteria": [],
    "priority": DEFAULT_PRIORITY,
    "dependsOn": [],
    "verify": [],
    "runner": None,
    "model": None,
    "timeout": None,
}
"""What a PRD can say of a story besides its tasks, and what stands for nothing said."""

_TASK_CONTENT: Json = {
    "id": None,
    "title": None,
    "description": None,
    "filePaths": [],
    "run": [],
    "commands": [],
}
_PROGRESS = ("status", "startedAt", "review")
_APPENDED = ("progress", "codebasePatterns")


@dataclass(frozen=True, slots=True)
class PlanUpdate:
    """A plan brought up to date, and the ids of its stories by what became of them."""

    document: Json
    kept: tuple[str, ...]
    changed: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]


def update_plan(old: Json, new: Json) -> PlanUpdate:
    """*new*, just compiled, with what *old*, its earlier state, knows of the same stories.

    Both are valid. An unchanged story keeps all that happened to it. A changed one is pending
    again, with its failure log, its limit of attempts, its notes and the fields that no PRD
    gives. What the PRD does not set at the top level stays as it was, the branch's name too.
    """
    before = {story["id"]: story for story in old["stories"]}
    after = {story["id"]: story for story in new["stories"]}
    kept = {name for name in after if name in before and _is_same(before[name], after[name])}
    stories = [
        _merged_story(before[name], story, keep=name in kept) if name in before else story
        for name, story in after.items()
    ]
    return PlanUpdate(
        {**_merged_top(old, new), "stories": stories},
        kept=tuple(name for name in after if name in kept),
        changed=tuple(name for name in after if name in before and name not in kept),
        added=tuple(name for name in after if name not in before),
        removed=tuple(name for name in before if name not in after),
    )


def is_finished(document: Json) -> bool:
    """Whether every story has passed, so that nothing is lost when another plan comes."""
    return all(story.get("status") == Status.PASSED for story in document["stories"])


def archive_name(document: Json, now: str) -> str:
    """The file name under which a plan is put away: the time *now* and the plan's branch."""
    stamp = re.sub("[^0-9TZ]", "", now)
    branch = default_branch(str(document["branchName"]).removeprefix("ql/")).removeprefix("ql/")
    return f"{stamp}-{branch}.json"


def _is_same(old: Json, new: Json) -> bool:
    return _content(old, _STORY_CONTENT) == _content(new, _STORY_CONTENT) and [
        _content(task, _TASK_CONTENT) for task in old.get("tasks") or []
    ] == [_content(task, _TASK_CONTENT) for task in new["tasks"]]


def _content(fields: Json, known: Json) -> Json:
    """The fields that a PRD gives; null, empty text and the default are one and the same."""
    return {
        name: default if fields.get(name) in (None, "") else fields[name]
        for name, default in known.items()
    }


def _merged_story(old: Json, new: Json, *, keep: bool) -> Json:
    merged = {**new, **_beyond(old, {*_STORY_CONTENT, "tasks", "retries"}, keep=keep)}
    merged["retries"] = {**new["retries"], **_present(old.get("retries") or {})}
    if not keep:
        merged["retries"]["attempts"] = 0
    tasks = {task.get("id"): task for task in old.get("tasks") or []}
    merged["tasks"] = [
        {**task, **_beyond(tasks.get(task["id"], {}), {*_TASK_CONTENT}, keep=keep)}
        for task in new["tasks"]
    ]
    return merged


def _beyond(old: Json, content: set[str], *, keep: bool) -> Json:
    """What *old* holds besides *content*, its progress only if that is to be kept."""
    left_out = content if keep else {*content, *_PROGRESS}
    return {name: value for name, value in _present(old).items() if name not in left_out}


def _merged_top(old: Json, new: Json) -> Json:
    merged = {**new, **{name: value for name, value in _present(old).items() if name not in new}}
    for name in _APPENDED:
        merged[name] = _appended(old.get(name) or [], new[name])
    if old.get("createdAt") is not None:
        merged["createdAt"] = old["createdAt"]
    if new["branchName"] == default_branch(new.get("project", "")):
        merged["branchName"] = old["branchName"]
    if old.get("execution") is not None:
        merged["execution"] = {**old["execution"], **new.get("execution", {})}
    return merged


def _appended(old: Sequence[Any], new: Sequence[Any]) -> list[Any]:
    return [*old, *(entry for entry in new if entry not in old)]


def _present(fields: Json) -> Json:
    return {name: value for name, value in fields.items() if value is not None}
