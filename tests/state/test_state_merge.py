"""Three-way merge of a person's edit."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qloop.plan.model import Json
from qloop.state.changes import is_same
from qloop.state.merge import find_unmergeable, merge_edit
from state.documents import changed_paths, document, story, story_of


def ids(value: Json) -> list[str]:
    """A document's story ids in their order."""
    return [item["id"] for item in value["stories"]]


def edited(value: Json, story_id: str, **fields: Any) -> Json:
    """A copy in which a story has these fields."""
    made = copy.deepcopy(value)
    story_of(made, story_id).update(fields)
    return made


def test_both_sides_are_kept() -> None:
    """A title by the person and a status by the driver stand side by side."""
    base = document()
    theirs = edited(base, "US-1", title="new")
    ours = edited(base, "US-1", status="in_progress")

    merged = merge_edit(base, theirs, ours)

    found = story_of(merged.document, "US-1")
    assert (found["title"], found["status"]) == ("new", "in_progress")
    assert merged.taken == ("stories[US-1].title",)
    assert merged.put_back == ()


OWNED = [
    ({"status": "passed"}, "stories[US-1].status"),
    ({"startedAt": "now"}, "stories[US-1].startedAt"),
    ({"retries": {"attempts": 7}}, "stories[US-1].retries.attempts"),
    ({"retries": None}, "stories[US-1].retries"),
    ({"review": {"codeQuality": {"status": "passed"}}}, "stories[US-1].review.codeQuality.status"),
    ({"tasks": [{"id": "T-1", "status": "passed"}]}, "stories[US-1].tasks[T-1].status"),
]


@pytest.mark.parametrize(("fields", "path"), OWNED)
def test_a_storys_owned_fields_are_put_back(fields: Json, path: str) -> None:
    """What driver and coordinator own in a story stays as it was, and is named."""
    base = document(story("US-1", tasks=[{"id": "T-1"}]))
    theirs = edited(base, "US-1", **fields)

    merged = merge_edit(base, theirs, base)

    assert changed_paths(base, merged.document) == []
    assert merged.put_back == (path,)
    assert merged.taken == ()


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"progress": ["a", "b"]}, "progress"),
        ({"codebasePatterns": []}, "codebasePatterns"),
        ({"execution": {"maxParallel": 9}}, "execution.maxParallel"),
        ({"execution": {"completedWaves": [1]}}, "execution.completedWaves"),
    ],
)
def test_owned_fields_of_the_top_are_put_back(fields: Json, path: str) -> None:
    """What driver and coordinator own outside the stories stays as it was, and is named."""
    base = document(progress=["a"], codebasePatterns=["p"])

    merged = merge_edit(base, {**base, **fields}, base)

    assert is_same(merged.document, base)
    assert path in merged.put_back


def test_what_is_right_anyway_is_not_named() -> None:
    """An owned field that the person set to the very value that it has is no news."""
    base = document()
    both = edited(base, "US-1", status="passed")

    assert merge_edit(base, both, both).put_back == ()


def test_the_persons_newest_word_counts() -> None:
    """A field of the person's that both sides changed takes what the file says now."""
    base = document()
    merged = merge_edit(base, edited(base, "US-1", title="B"), edited(base, "US-1", title="A"))

    assert story_of(merged.document, "US-1")["title"] == "B"


def test_removed_fields_are_removed() -> None:
    """A field of the person's that is gone from the file is gone; owned ones come back."""
    base = document(story("US-1", notes="n", retries={"attempts": 1}), project="p")
    theirs: Json = {"branchName": "ql/x", "stories": [{"id": "US-1", "status": "pending"}]}

    merged = merge_edit(base, theirs, base)

    assert "project" not in merged.document
    assert "notes" not in story_of(merged.document, "US-1")
    assert story_of(merged.document, "US-1")["retries"] == {"attempts": 1}
    assert merged.put_back == ("stories[US-1].retries.attempts",)


def test_unknown_objects_are_merged_key_by_key_and_lists_whole() -> None:
    """Both sides' keys of an object are kept; a list is one value."""
    base = document(extra={"a": 1, "b": [1], "deep": {"x": 1}})
    theirs = {**base, "extra": {"a": 1, "b": [1, 2], "deep": {"x": 1, "y": 2}}}
    ours = {**base, "extra": {"a": 3, "b": [1], "deep": {"x": 4}}}

    merged = merge_edit(base, theirs, ours)

    assert merged.document["extra"] == {"a": 3, "b": [1, 2], "deep": {"x": 4, "y": 2}}


def test_a_new_story_is_taken() -> None:
    """A story that the person adds comes in where they put it."""
    base = document()
    theirs = copy.deepcopy(base)
    theirs["stories"].insert(1, story("US-9", status="blocked", retries={"attempts": 2}))

    merged = merge_edit(base, theirs, edited(base, "US-3", status="passed"))

    assert ids(merged.document) == ["US-1", "US-9", "US-2", "US-3"]
    assert story_of(merged.document, "US-9") == story_of(theirs, "US-9")
    assert merged.put_back == ()
    assert merged.taken == ("stories[US-9]",)


@pytest.mark.parametrize("status", ["passed", "in_progress", "nonsense"])
def test_a_new_story_was_not_worked_on(status: str) -> None:
    """A story cannot come into a run as passed or at work: it is pending, and that is named."""
    base = document()
    theirs = {**base, "stories": [*base["stories"], story("US-9", status=status)]}

    merged = merge_edit(base, theirs, base)

    assert story_of(merged.document, "US-9")["status"] == "pending"
    assert merged.put_back == ("stories[US-9].status",)


def test_a_removed_story_goes() -> None:
    """A story that the person takes out is taken out, whatever became of it meanwhile."""
    base = document()
    theirs = {**base, "stories": base["stories"][1:]}

    merged = merge_edit(base, theirs, edited(base, "US-1", status="failed"))

    assert ids(merged.document) == ["US-2", "US-3"]
    assert merged.put_back == ()


def test_a_story_at_work_stays() -> None:
    """A story that is being worked on cannot be taken out, and that is named."""
    base = document()
    theirs = {**base, "stories": [base["stories"][0], base["stories"][2]]}

    merged = merge_edit(base, theirs, edited(base, "US-2", status="in_progress"))

    assert ids(merged.document) == ["US-1", "US-2", "US-3"]
    assert merged.put_back == ("stories[US-2]",)


def test_saving_an_old_buffer_again_undoes_nothing() -> None:
    """An editor that was opened before other edits brings its own change, and none of the old."""
    base = document()
    ours = edited(base, "US-2", status="in_progress")
    ours["stories"].append(story("US-9"))
    ours["stories"].pop(0)
    ours["project"] = "set meanwhile"

    merged = merge_edit(base, edited(base, "US-3", title="new"), ours)

    assert ids(merged.document) == ["US-2", "US-3", "US-9"]
    assert merged.document["project"] == "set meanwhile"
    assert story_of(merged.document, "US-3")["title"] == "new"
    assert merged.put_back == ()


def test_saving_a_new_story_again_does_not_reset_it() -> None:
    """A story added by the same editor before may be at work by now."""
    base = document()
    theirs = {**base, "stories": [*base["stories"], story("US-9", title="better")]}
    ours = {**base, "stories": [*base["stories"], story("US-9", status="in_progress")]}

    merged = merge_edit(base, theirs, ours)

    found = story_of(merged.document, "US-9")
    assert (found["title"], found["status"]) == ("better", "in_progress")
    assert merged.put_back == ()


def test_a_changed_story_that_was_removed_comes_back() -> None:
    """A story that is edited in one editor after another editor took it out is wanted."""
    base = document()
    ours = {**base, "stories": base["stories"][1:]}

    merged = merge_edit(base, edited(base, "US-1", title="still needed"), ours)

    assert ids(merged.document) == ["US-1", "US-2", "US-3"]


def test_order_is_the_persons() -> None:
    """Keys and stories stand as the person arranged them; what only ours has is put between."""
    base = document(story("US-1"), story("US-2"), project="p", extra=1)
    theirs = {"extra": 1, "stories": base["stories"][::-1], "project": "p", "branchName": "ql/x"}
    ours = {**base, "execution": {"currentWave": 1}}

    merged = merge_edit(base, theirs, ours)

    assert list(merged.document) == ["extra", "execution", "stories", "project", "branchName"]
    assert ids(merged.document) == ["US-2", "US-1"]


def test_tasks_are_merged_by_their_ids() -> None:
    """A task's text is the person's, its status the coordinator's, also when tasks move."""
    base = document(story("US-1", tasks=[{"id": "T-1"}, {"id": "T-2"}]))
    theirs = edited(base, "US-1", tasks=[{"id": "T-2", "title": "new"}, {"id": "T-1"}])
    ours = edited(base, "US-1", tasks=[{"id": "T-1"}, {"id": "T-2", "status": "passed"}])

    merged = merge_edit(base, theirs, ours)

    assert story_of(merged.document, "US-1")["tasks"] == [
        {"id": "T-2", "title": "new", "status": "passed"},
        {"id": "T-1"},
    ]


def test_merging_changes_none_of_its_arguments() -> None:
    """The three documents stay as they were."""
    base = document()
    theirs = edited(base, "US-1", title="new", status="passed")
    ours = edited(base, "US-2", status="passed")
    before = copy.deepcopy((base, theirs, ours))

    merge_edit(base, theirs, ours)

    assert (base, theirs, ours) == before


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"stories": {}}, "has no list of stories"),
        ({}, "has no list of stories"),
        ({"stories": [{"title": "x"}]}, "has a story without an id"),
        ({"stories": [7]}, "has a story without an id"),
        ({"stories": [{"id": "A"}, {"id": "A"}]}, "has two stories of one id"),
        ({"stories": [{"id": "A"}]}, None),
    ],
)
def test_what_cannot_be_merged_is_told(value: Json, why: str | None) -> None:
    """Stories must be a list of objects with ids of their own."""
    assert find_unmergeable(value) == why


NAMES = ("A", "B", "C", "D")
PERSONS = ("title", "notes", "priority", "unknown")
json_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(0, 3),
    st.text("xy", max_size=2),
    st.lists(st.integers(0, 2), max_size=2),
    st.dictionaries(st.sampled_from("pq"), st.integers(0, 2), max_size=2),
)
persons_fields = st.dictionaries(st.sampled_from(PERSONS), json_values)
drivers_fields = st.fixed_dictionaries(
    {},
    optional={
        "status": st.sampled_from(["pending", "in_progress", "passed", "failed"]),
        "startedAt": st.sampled_from(["now", None]),
        "retries": st.fixed_dictionaries({"attempts": st.integers(0, 3)}),
        "review": st.fixed_dictionaries({"codeQuality": st.just({"status": "passed"})}),
    },
)
edits_of_person = st.fixed_dictionaries(dict.fromkeys(NAMES, persons_fields))
edits_of_driver = st.fixed_dictionaries(dict.fromkeys(NAMES, drivers_fields))


@given(
    edits_of_person,
    edits_of_driver,
    st.dictionaries(st.sampled_from("uvw"), json_values),
    st.permutations(NAMES),
)
def test_no_change_of_either_side_is_lost(
    persons: dict[str, Json], drivers: dict[str, Json], top: Json, order: list[str]
) -> None:
    """Any edits of the person's fields and any writes of the driver's are all in the result."""
    base = document(*(story(name, notes="n", retries={"attempts": 0}) for name in NAMES))
    theirs: Json = {**base, **top, "updatedAt": "old"}
    theirs["stories"] = [{**story_of(base, name), **persons[name]} for name in order]
    ours: Json = {**base, "progress": ["done"], "updatedAt": "new"}
    ours["stories"] = [{**story_of(base, name), **drivers[name]} for name in NAMES]

    merged = merge_edit(base, theirs, ours)

    expected = {**theirs, "progress": ["done"], "updatedAt": "new"}
    expected["stories"] = [
        {**story_of(base, name), **drivers[name], **persons[name]} for name in order
    ]
    assert is_same(merged.document, expected)
    assert merged.put_back == ()


@given(edits_of_person, edits_of_driver, edits_of_driver)
def test_owned_fields_are_always_ours(
    persons: dict[str, Json], meddling: dict[str, Json], drivers: dict[str, Json]
) -> None:
    """Whatever a person writes into owned fields, ours stay, and each real difference is named."""
    base = document(*(story(name) for name in NAMES))
    theirs = {
        **base,
        "stories": [{**story_of(base, n), **persons[n], **meddling[n]} for n in NAMES],
    }
    ours = {**base, "stories": [{**story_of(base, name), **drivers[name]} for name in NAMES]}

    merged = merge_edit(base, theirs, ours)

    persons_alone = {
        **base,
        "stories": [{**story_of(base, n), **drivers[n], **persons[n]} for n in NAMES],
    }
    assert is_same(merged.document, persons_alone)
    meddled = {
        f"stories[{name}].status"
        for name in NAMES
        if meddling[name].get("status", "pending")
        not in ("pending", drivers[name].get("status", "pending"))
    }
    assert meddled <= set(merged.put_back)
