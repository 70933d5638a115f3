"""Who may write which field."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from qloop.plan.model import Json
from qloop.state.ownership import (
    DRIVER,
    PERSON,
    PLAN,
    NotOwner,
    Writer,
    check_ownership,
    coordinator_of,
)
from state.documents import changed_paths, document, story, story_of

COORDINATOR = coordinator_of(["US-1", "US-3"])
WRITERS = {"driver": DRIVER, "coordinator": COORDINATOR, "plan": PLAN, "person": PERSON}

PERSONS_OF_A_STORY = [
    "title", "description", "acceptanceCriteria", "priority", "dependsOn", "tasks", "verify",
    "runner", "model", "timeout", "allowEmpty", "notes", "unknown",
]  # fmt: skip
PERSONS_OF_THE_TOP = [
    "project", "branchName", "description", "prdPath", "prdHash", "designPath", "createdAt",
    "testCommand", "qualityCommands", "setupCommands", "copyFiles", "contracts", "fileConflicts",
    "unknown", "brandNew",
]  # fmt: skip

Change = Callable[[Json], Any]


def full() -> Json:
    """A document that has every field."""
    stories = [
        story(
            name,
            description="d",
            acceptanceCriteria=["a"],
            priority=1,
            dependsOn=[],
            verify=["true"],
            runner="shell",
            model="m",
            timeout="1m",
            allowEmpty=False,
            startedAt="2026-01-01T00:00:00Z",
            notes="n",
            tasks=[{"id": "T-1", "title": "t", "status": "pending", "commands": ["true"]}],
            review={"specCompliance": {"status": "pending"}, "codeQuality": {"status": "pending"}},
            retries={"attempts": 0, "maxAttempts": 3, "failureLog": []},
            unknown={"deep": 1},
        )
        for name in ("US-1", "US-2", "US-3")
    ]
    return document(
        *stories,
        project="p",
        description="d",
        prdPath="prd.md",
        prdHash="sha256:00",
        designPath="design.md",
        createdAt="2026-01-01T00:00:00Z",
        updatedAt="2026-01-01T00:00:00Z",
        testCommand="true",
        qualityCommands=["true"],
        setupCommands=["true"],
        copyFiles=[".env"],
        progress=["one"],
        codebasePatterns=["one"],
        contracts={"a": {"b": 1}},
        fileConflicts=[{"file": "f", "stories": ["US-1"]}],
        execution={
            "mode": "coordinator",
            "maxParallel": 4,
            "currentWave": 1,
            "forceSequential": False,
            "activeWorktrees": [],
            "completedWaves": [{"id": "wave-1"}],
        },
        unknown=1,
    )


def put(*steps: str | int, value: Any = "changed") -> Change:
    """A change that sets what is found by these steps."""

    def change(value_of: Any) -> None:
        for step in steps[:-1]:
            value_of = value_of[step]
        value_of[steps[-1]] = value

    return change


def drop(*steps: str | int) -> Change:
    """A change that takes away what is found by these steps."""

    def change(value_of: Any) -> None:
        for step in steps[:-1]:
            value_of = value_of[step]
        del value_of[steps[-1]]

    return change


def first(*steps: str | int, value: Any = "changed") -> Change:
    """A change in the story US-1."""
    return put("stories", 0, *steps, value=value)


CASES: list[tuple[str, Change, str]] = [
    ("stories[US-1].status", first("status"), "driver"),
    ("stories[US-1].startedAt", first("startedAt"), "driver"),
    ("stories[US-1].startedAt", drop("stories", 0, "startedAt"), "driver"),
    ("stories[US-1].retries.attempts", first("retries", "attempts", value=1), "driver"),
    ("stories[US-1].retries.maxAttempts", first("retries", "maxAttempts", value=5), "driver"),
    ("stories[US-1].retries.failureLog", first("retries", "failureLog", value=[1]), "driver"),
    ("stories[US-1].retries.unknown", first("retries", "unknown"), "driver"),
    ("updatedAt", put("updatedAt"), "driver"),
    ("execution.mode", put("execution", "mode"), "driver"),
    ("execution.maxParallel", put("execution", "maxParallel", value=1), "driver"),
    ("execution.currentWave", put("execution", "currentWave", value=2), "driver"),
    ("execution.forceSequential", put("execution", "forceSequential", value=True), "driver"),
    ("execution.activeWorktrees", put("execution", "activeWorktrees", value=["w"]), "driver"),
    ("execution.unknown", put("execution", "unknown"), "driver"),
    (
        "stories[US-1].review.specCompliance.status",
        first("review", "specCompliance", "status"),
        "coordinator",
    ),
    (
        "stories[US-1].review.codeQuality.evidence",
        first("review", "codeQuality", "evidence"),
        "coordinator",
    ),
    ("stories[US-1].tasks[T-1].status", first("tasks", 0, "status"), "coordinator"),
    ("stories[US-3].review.other", put("stories", 2, "review", "other"), "coordinator"),
    ("progress", put("progress", value=["one", "two"]), "coordinator"),
    ("progress", drop("progress"), ""),
    ("progress", put("progress", value=["two", "one"]), ""),
    ("progress", put("progress", value=[]), ""),
    ("codebasePatterns", put("codebasePatterns", value=["one", {"x": 1}]), "coordinator"),
    ("codebasePatterns", put("codebasePatterns", value=["two"]), ""),
    (
        "execution.completedWaves",
        put("execution", "completedWaves", value=[{"id": "wave-1"}, {"id": "wave-2"}]),
        "coordinator",
    ),
    ("execution.completedWaves", put("execution", "completedWaves", value=[{"id": "x"}]), ""),
    ("stories[US-2].review.specCompliance", put("stories", 1, "review", "specCompliance"), ""),
    ("stories[US-2].tasks[T-1].status", put("stories", 1, "tasks", 0, "status"), ""),
    ("execution", put("execution", value=[]), ""),
    *[(f"stories[US-1].{name}", first(name), "person") for name in PERSONS_OF_A_STORY],
    ("stories[US-1].priority", first("priority", value=1.0), "person"),
    ("stories[US-1].priority", first("priority", value=True), "person"),
    ("stories[US-1].brandNew", first("brandNew"), "person"),
    ("stories[US-1].tasks[T-1].title", first("tasks", 0, "title"), "person"),
    ("stories[US-1].tasks[T-2]", first("tasks", 0, "id", value="T-2"), "person"),
    ("stories[US-9]", lambda value: value["stories"].append(story("US-9")), "person"),
    ("stories[US-2]", drop("stories", 1), "person"),
    ("stories", lambda value: value["stories"].reverse(), "person"),
    ("stories", put("stories", value={}), "person"),
    *[(name, put(name), "person") for name in PERSONS_OF_THE_TOP],
    ("contracts.a.b", put("contracts", "a", "b", value=2), "person"),
]


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize(("path", "change", "owner"), CASES)
def test_each_field_has_one_writer(path: str, change: Change, owner: str, writer: str) -> None:
    """A change passes for its owner and for `qloop plan`; for others it is refused by name.

    Without an owner only `qloop plan` may do it.
    """
    before, after = full(), full()
    change(after)

    assert path in changed_paths(before, after)
    if writer in (owner, "plan"):
        check_ownership(before, after, WRITERS[writer])
    else:
        with pytest.raises(NotOwner) as caught:
            check_ownership(before, after, WRITERS[writer])
        assert path in caught.value.fields
        assert path in str(caught.value)
        assert WRITERS[writer].name in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "writer"),
    [
        ({"execution": {"currentWave": 1}}, DRIVER),
        ({"execution": {}}, DRIVER),
        ({"execution": {"completedWaves": []}}, COORDINATOR),
        ({"execution": {}}, COORDINATOR),
        ({"progress": ["one"], "codebasePatterns": []}, COORDINATOR),
    ],
)
@pytest.mark.parametrize("former", [{}, {"execution": None, "progress": None}])
def test_what_is_missing_may_be_made_by_who_owns_what_is_in_it(
    fields: Json, writer: Writer, former: Json
) -> None:
    """An owner may make the object or list that its fields lie in; null is as good as missing."""
    before = document(**former)

    check_ownership(before, {**before, **fields}, writer)


@pytest.mark.parametrize(
    ("entry", "allowed"),
    [
        ({"findings": ["old", {"text": "new"}]}, True),
        ({"findings": ["new", "old"]}, False),
        ({"findings": []}, False),
        ({"findings": ["old", "new"], "signal": "WAVE_FAILED"}, False),
    ],
)
@pytest.mark.parametrize(("stories", "is_own"), [(["US-3"], True), (["US-2"], False), ([], False)])
def test_findings_may_be_added_to_the_coordinators_own_wave(
    entry: Json, allowed: bool, stories: list[str], is_own: bool
) -> None:
    """Whatever else of a wave that is over stays as its coordinator wrote it."""
    over = {"id": "wave-1", "stories": stories, "signal": "WAVE_PASSED", "findings": ["old"]}
    before = document(execution={"completedWaves": [over]})
    after = document(execution={"completedWaves": [{**over, **entry}]})

    if allowed and is_own:
        check_ownership(before, after, COORDINATOR)
    else:
        with pytest.raises(NotOwner):
            check_ownership(before, after, COORDINATOR)


def test_the_objects_of_a_story_may_be_made_by_their_owners() -> None:
    """Retries and startedAt come from the driver, reviews and task statuses from a coordinator."""
    before = document(story("US-1", tasks=[{"title": "no id"}], review=None))
    by_driver, by_coordinator = copy.deepcopy(before), copy.deepcopy(before)
    story_of(by_driver, "US-1").update(retries={"attempts": 1}, startedAt="now")
    story_of(by_coordinator, "US-1").update(
        tasks=[{"title": "no id", "status": "passed"}], review={"codeQuality": {}}
    )

    check_ownership(before, by_driver, DRIVER)
    check_ownership(before, by_coordinator, COORDINATOR)
    with pytest.raises(NotOwner):
        check_ownership(before, by_driver, COORDINATOR)
    with pytest.raises(NotOwner):
        check_ownership(before, by_coordinator, DRIVER)


def test_every_foreign_field_is_named() -> None:
    """A refusal tells all fields at once, and those that were fine are not among them."""
    before, after = full(), full()
    for change in (first("status"), first("title"), put("progress", value=[]), put("project")):
        change(after)

    with pytest.raises(NotOwner) as caught:
        check_ownership(before, after, DRIVER)

    assert sorted(caught.value.fields) == ["progress", "project", "stories[US-1].title"]


def test_stories_are_matched_by_id() -> None:
    """Moving stories is a change of their order, not of each of them."""
    before, after = full(), full()
    after["stories"].insert(0, after["stories"].pop())

    assert changed_paths(before, after) == ["stories"]


def test_order_of_keys_is_no_change() -> None:
    """The same keys in another order are the same."""
    before = full()
    after = dict(reversed(before.items()))

    assert changed_paths(before, after) == []


def test_doubled_and_missing_ids_are_told_by_position() -> None:
    """Stories that cannot be told apart by id are told by where they stand."""
    before = document({"id": "A"}, {"id": "A"}, {"title": "none"})
    after = document({"id": "A"}, {"id": "A", "title": "x"}, {"title": "y"})

    assert changed_paths(before, after) == ["stories[#1].title", "stories[#2].title"]
