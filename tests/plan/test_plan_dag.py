"""The graph of stories: order, readiness, standing, what blocks what."""

from typing import Any

import pytest
from hypothesis import given

from plan.plans import plan, plans, story, unhurried
from qloop.plan.dag import blockers, ranks, ready, standing
from qloop.plan.model import Plan, Status, Story

SPENT: dict[str, Any] = {"status": "failed", "retries": {"attempts": 3}}
FAILED: dict[str, Any] = {"status": "failed", "retries": {"attempts": 2}}
PASSED: dict[str, Any] = {"status": "passed"}
RUNNING: dict[str, Any] = {"status": "in_progress"}


def ids(stories: list[Story]) -> list[str]:
    """The stories' ids."""
    return [item.id for item in stories]


def longest(value: Plan, name: str) -> int:
    """The rank by definition: try every chain of dependants."""
    own = next(item for item in value.stories if item.id == name)
    further = [longest(value, item.id) for item in value.stories if name in item.depends_on]
    return (own.status is not Status.PASSED) + max(further, default=0)


@unhurried
@given(plans())
def test_ranks_are_the_longest_remaining_chains(value: Plan) -> None:
    """A rank counts the stories not passed on the longest chain of dependants."""
    assert ranks(value.stories) == {item.id: longest(value, item.id) for item in value.stories}


def test_the_order_is_priority_then_chain_then_file() -> None:
    """Lower priority numbers first, then what most depends on, then as in the file."""
    value = plan(
        story("late", priority=5),
        story("default"),
        story("short", priority=2),
        story("same", priority=2),
        story("long", priority=2),
        story("after", "long", priority=1),
    )

    assert ids(ready(value)) == ["long", "short", "same", "late", "default"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, True),
        (FAILED, True),
        (SPENT, False),
        ({"status": "failed", "retries": {"attempts": 0, "maxAttempts": 0}}, False),
        ({"status": "pending", "retries": {"attempts": 3}}, True),
        (RUNNING, False),
        (PASSED, False),
        ({"status": "blocked"}, False),
        ({"status": "stale"}, False),
    ],
)
def test_pending_stories_and_failed_ones_with_attempts_left_are_ready(
    fields: dict[str, Any], expected: bool
) -> None:
    """Readiness follows the status, and for a failed story the attempts left."""
    assert bool(ready(plan(story("A", **fields)))) is expected


def test_every_dependency_must_have_passed() -> None:
    """One dependency that has not passed keeps a story back."""
    value = plan(story("A", **PASSED), story("B"), story("C", "A", "B"), story("D", "A"))

    assert ids(ready(value)) == ["B", "D"]


@pytest.mark.parametrize(
    ("stories", "expected"),
    [
        ([], "complete"),
        ([story("A", **PASSED)], "complete"),
        ([story("A", **RUNNING), story("B")], "ready"),
        ([story("A", **RUNNING), story("B", "A")], "running"),
        ([story("A", **SPENT), story("B", "A"), story("C", **PASSED)], "blocked"),
        ([story("A", status="stale")], "blocked"),
    ],
)
def test_where_a_plan_stands(stories: list[dict[str, Any]], expected: str) -> None:
    """Ready before running, complete only if all passed, else blocked."""
    assert standing(plan(*stories)) == expected


def test_what_can_never_run_is_explained_by_name() -> None:
    """Each story that is stuck names the story at the root of it, and why that is stuck."""
    value = plan(
        story("US-6", "US-5", "US-1"),
        story("US-1"),
        story("US-2", **SPENT),
        story("US-3", "US-2"),
        story("US-4", "US-3"),
        story("US-5", "US-4"),
        story("US-7", "US-6"),
        story("US-8", status="blocked"),
        story("US-9", "US-1", status="stale"),
    )
    spent = "US-2, which failed 3 of 3 attempts"
    far = f"which waits for …, which waits for {spent}"

    assert blockers(value) == {
        "US-6": f"US-6 waits for US-5, which waits for US-4, {far}",
        "US-2": "US-2 failed 3 of 3 attempts",
        "US-3": f"US-3 waits for {spent}",
        "US-4": f"US-4 waits for US-3, which waits for {spent}",
        "US-5": f"US-5 waits for US-4, which waits for US-3, which waits for {spent}",
        "US-7": f"US-7 waits for US-6, which waits for US-5, {far}",
        "US-8": "US-8 is blocked",
        "US-9": "US-9 is stale",
    }
    assert list(blockers(value)) == [item.id for item in value.stories if item.id != "US-1"]


@pytest.mark.parametrize("needed", [FAILED, RUNNING, PASSED, {}])
def test_a_dependency_that_can_still_pass_blocks_nobody(needed: dict[str, Any]) -> None:
    """Only what can never pass is told."""
    assert blockers(plan(story("A", **needed), story("B", "A"))) == {}


def test_stories_given_up_are_told_with_what_waits_for_them() -> None:
    """An excluded story counts as one that never passes, unless it is at work or done."""
    value = plan(
        story("A"), story("B", "A"), story("C", **RUNNING), story("D", "C"), story("E", **PASSED)
    )

    assert blockers(value, excluded=["A", "C", "E"]) == {
        "A": "A was given up in this run",
        "B": "B waits for A, which was given up in this run",
    }


def test_lowered_limits_are_told_as_they_are() -> None:
    """Where the limit is not the number of attempts, both are named."""
    value = plan(story("A", status="failed", retries={"attempts": 2, "maxAttempts": 1}))

    assert blockers(value) == {"A": "A failed after 2 attempts, allowed: 1"}


@unhurried
@given(plans())
def test_blockers_are_what_no_course_of_events_can_run(value: Plan) -> None:
    """The stories told are those left over when everything that can run passes."""
    hopeful = {
        item.id for item in value.stories if item.status in (Status.PASSED, Status.IN_PROGRESS)
    }
    waiting = [item for item in value.stories if item.id not in hopeful]
    for _ in waiting:
        hopeful |= {
            item.id
            for item in waiting
            if hopeful.issuperset(item.depends_on)
            and ready(plan(item.model_copy(update={"depends_on": []}).model_dump(by_alias=True)))
        }

    assert set(blockers(value)) == {item.id for item in value.stories} - hopeful


def test_ten_thousand_stories_in_a_row_need_no_deep_stack() -> None:
    """Chains as long as a plan is large are ranked and explained."""
    count = 10_000
    chain = [story(f"S{n}", f"S{n - 1}") for n in range(1, count)]
    value = plan(*reversed(chain), story("S0", **SPENT))

    assert ranks(value.stories)["S0"] == count
    assert len(blockers(value)) == count
    assert max(len(line) for line in blockers(value).values()) < 200
