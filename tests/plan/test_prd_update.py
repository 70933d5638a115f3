"""Compiling again: what was done stays done, what changed starts again."""

from copy import deepcopy
from typing import Any

import pytest

from plan.prds import compiled
from qloop.plan.model import Json
from qloop.plan.update import archive_name, is_finished, update_plan
from qloop.plan.validate import find_faults

TEXT = """\
# Shop

## A1: One

**Tasks**
- T-001: a
- T-002: b

## A2: Two

**Depends on:** A1
**Priority:** 2

## A3: Three
"""

FAILURE = {"attempt": 2, "phase": "timeout", "reason": "too slow"}


def worked_on(text: str = TEXT) -> Json:
    """The plan of *text* after a run: each story has something that must not be lost."""
    plan = deepcopy(compiled(text))
    for story in plan["stories"]:
        story |= {"status": "passed", "startedAt": "then", "notes": "n", "extra": 1}
        story["review"]["specCompliance"] |= {"status": "passed", "evidence": "seen"}
        story["retries"] |= {"attempts": 2, "maxAttempts": 5, "failureLog": [FAILURE]}
        for task in story["tasks"]:
            task |= {"status": "passed", "testFirst": True}
    return plan | {
        "createdAt": "2020-01-01",
        "testCommand": "make test",
        "progress": ["p"],
        "codebasePatterns": ["c"],
        "execution": {"maxParallel": 2, "completedWaves": [{"id": "wave-1"}]},
        "extra": {"x": 1},
    }


def by_id(plan: Json) -> Json:
    """The stories of a plan by their ids."""
    return {story["id"]: story for story in plan["stories"]}


def test_nothing_changed() -> None:
    """The same document again changes nothing but the time of writing."""
    old = worked_on()
    update = update_plan(old, compiled(TEXT))

    assert update.document == old | {"updatedAt": update.document["updatedAt"]}
    assert (update.kept, update.changed) == (("A1", "A2", "A3"), ())
    assert (update.added, update.removed) == ((), ())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("A1: One", "A1: First"),
        ("## A1: One\n", "## A1: One\n\nText.\n"),
        ("## A1: One\n", "## A1: One\n\n**Priority:** 1\n"),
        ("## A1: One\n", "## A1: One\n\n**Depends on:** A3\n"),
        ("## A1: One\n", "## A1: One\n\n**Acceptance criteria**\n- c\n"),
        ("## A1: One\n", "## A1: One\n\n**Runner:** shell\n"),
        ("## A1: One\n", "## A1: One\n\n**Model:** big\n"),
        ("## A1: One\n", "## A1: One\n\n**Timeout:** 5m\n"),
        ("## A1: One\n", "## A1: One\n\n**Files:** a\n"),
        ("## A1: One\n", "## A1: One\n\n```verify\ntrue\n```\n"),
        ("- T-001: a\n", "- T-001: c\n"),
        ("- T-001: a\n", "- T-001: a\n\n  text\n"),
        ("- T-001: a\n", "- T-001: a\n  ```run\n  true\n  ```\n"),
        ("- T-001: a\n", "- T-001: a\n  ```verify\n  true\n  ```\n"),
        ("- T-001: a\n", ""),
    ],
)
def test_a_changed_story_starts_again(before: str, after: str) -> None:
    """It is pending, unjudged and uncharged; its failures, limit, notes and extras stay."""
    new = compiled(TEXT.replace(before, after))
    update = update_plan(worked_on(), new)
    story = by_id(update.document)["A1"]

    assert update.changed == ("A1",)
    assert update.kept == ("A2", "A3")
    assert story == by_id(new)["A1"] | {
        "tasks": [task | {"testFirst": True} for task in by_id(new)["A1"]["tasks"]],
        "retries": {"attempts": 0, "maxAttempts": 5, "failureLog": [FAILURE]},
        "notes": "n",
        "extra": 1,
    }


def test_stories_come_and_go() -> None:
    """New stories are added as they are, missing ones leave; the PRD gives the order."""
    new = compiled("# Shop\n\n## A3: Three\n\n## A4: Four\n\n## A1: One\n\n**Tasks**\n- a\n- b\n")
    update = update_plan(worked_on(), new)

    assert [story["id"] for story in update.document["stories"]] == ["A3", "A4", "A1"]
    assert (update.kept, update.added) == (("A3", "A1"), ("A4",))
    assert (update.removed, update.changed) == (("A2",), ())
    assert by_id(update.document)["A4"] == by_id(new)["A4"]


def test_a_plan_of_another_writer() -> None:
    """Missing fields, nulls and empty text are no difference."""
    text = "## A1: One\n"
    old: Json = {
        "branchName": "ql/x",
        "createdAt": None,
        "progress": None,
        "execution": None,
        "stories": [
            {
                "id": "A1",
                "title": "One",
                "description": None,
                "priority": 999,
                "tasks": None,
                "retries": None,
                "status": "passed",
            }
        ],
    }
    update = update_plan(old, compiled(text))

    assert update.kept == ("A1",)
    assert update.document == compiled(text) | {
        "branchName": "ql/x",
        "stories": [compiled(text)["stories"][0] | {"status": "passed"}],
    }


def test_what_the_front_matter_sets_wins() -> None:
    """Fields of the PRD replace those of the plan; lists that grow and the execution are joined."""
    front = (
        "---\nbranchName: ql/other\ntestCommand: ninja\nprogress: [q]\ncodebasePatterns: [c, d]\n"
        "execution: {maxParallel: 7}\ncreatedAt: 2030-01-01\n---\n"
    )
    update = update_plan(worked_on(), compiled(front + TEXT))

    assert update.document == update.document | {
        "branchName": "ql/other",
        "testCommand": "ninja",
        "progress": ["p", "q"],
        "codebasePatterns": ["c", "d"],
        "execution": {"maxParallel": 7, "completedWaves": [{"id": "wave-1"}]},
        "createdAt": "2020-01-01",
        "extra": {"x": 1},
    }


def test_a_new_title_keeps_the_branch() -> None:
    """The branch where the stories landed stays, unless the PRD names another."""
    update = update_plan(worked_on(), compiled(TEXT.replace("# Shop", "# Market")))

    assert update.document["project"] == "Market"
    assert update.document["branchName"] == "ql/shop"


def test_the_inputs_stay_as_they_are() -> None:
    """Neither plan is changed, and the result is valid."""
    old, new = worked_on(), compiled(TEXT.replace("One", "First"))
    copies = deepcopy(old), deepcopy(new)
    update = update_plan(old, new)

    assert (old, new) == copies
    assert find_faults(update.document) == ()


@pytest.mark.parametrize(
    ("statuses", "finished"),
    [([], True), (["passed", "passed"], True), (["passed", "failed"], False), ([None], False)],
)
def test_finished(statuses: list[Any], finished: bool) -> None:
    """A plan is finished when every story has passed; one without stories is."""
    assert is_finished({"stories": [{"status": status} for status in statuses]}) is finished
    assert is_finished({"stories": [{}]}) is False


def test_archive_names() -> None:
    """The name sorts by time, tells the plan, and is safe in any file system."""
    now = "2026-01-02T03:04:05.678901Z"
    stamp = "20260102T030405678901Z"

    assert archive_name({"branchName": "ql/todo-api"}, now) == f"{stamp}-todo-api.json"
    assert archive_name({"branchName": "Feat/Ä b"}, now) == f"{stamp}-feat-a-b.json"
