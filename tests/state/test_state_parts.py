"""Some stories of a state file: read and written without the others, to the same end."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plan.plans import plans, unhurried
from qloop.plan.document import parse_document, render_document
from qloop.plan.model import Json, Plan, parse_plan
from qloop.plan.outline import outline_of
from qloop.state.ownership import DRIVER, NotOwner, coordinator_of
from qloop.state.parts import Outliner, read_part
from qloop.state.store import Store
from state.documents import document, new_store, story

TEXT = 'line\n    {\n      "id": "US-2",\n    }\n  ]\n  "stories": [\u2028 "quoted" \\'
NESTED = {"stories": [{"id": "US-2"}], "id": "US-2", "deep": [{"id": "US-3"}, [], {}]}


def awkward() -> Json:
    """A document that says in texts and elsewhere what marks a story."""
    return document(
        story("US-1", notes=TEXT, tasks=[{"id": "US-2", "title": TEXT}], extra=NESTED),
        {"title": "id comes last", "status": "pending", "id": "US-2"},
        {"id": "US-3"},
        story("US-20", big=2**70, half="\ud800", number=1.5),
        progress=[{"id": "US-2", "text": TEXT}, NESTED],
        contracts={"stories": [{"id": "US-3"}]},
        updatedAt="2026-01-02T03:04:05.000001Z",
    )


@pytest.mark.parametrize(
    "ids", [[], ["US-1"], ["US-2"], ["US-3", "US-1"], ["US-20"], ["US-9"], ["US-2", "US-2"]]
)
def test_a_part_has_the_stories_asked_for(ids: list[str]) -> None:
    """All fields, and of the stories those of these ids, in the file's order."""
    whole = awkward()
    part = read_part(render_document(whole), ids)

    assert part is not None
    chosen = [one for one in whole["stories"] if one["id"] in ids]
    assert part.document == {**whole, "stories": chosen}
    assert part.before() == part.document


def test_a_part_is_written_as_the_whole_is() -> None:
    """Changed stories and fields are in the bytes, all others are the bytes they were."""
    whole = awkward()
    data = render_document(whole)
    for name in ("US-1", "US-2", "US-3", "US-20"):
        part = read_part(data, [name])
        assert part is not None
        assert part.render() == data

        after = copy.deepcopy(whole)
        for target in (part.document["stories"][0], _of(after, name)):
            target["status"] = "passed"
            target["new"] = NESTED
        for target in (part.document, after):
            target["progress"] = [*target["progress"], {"x": 1}]
        assert parse_document(part.render(), "x") == after


@unhurried
@given(plans(), st.data())
def test_any_plan_is_taken_apart_and_joined(value: Plan, data: st.DataObject) -> None:
    """Parts of any plan render to the whole, and its outline is that of the models."""
    whole = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    text = render_document(whole)
    ids = [one["id"] for one in whole["stories"]]
    part = read_part(text, data.draw(st.lists(st.sampled_from(ids or ["A"]), max_size=3)))

    assert (part is None) == (not ids)
    if part is not None:
        assert part.render() == text
        assert Outliner().read(text) == outline_of(value)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(awkward()),
        json.dumps(awkward(), indent=4),
        json.dumps({"branchName": "x", "stories": []}, indent=2),
        json.dumps({"branchName": "x"}, indent=2),
        "{}",
        "",
        '{\n  "stories": [\n    {\n',
    ],
)
def test_another_form_is_no_part(text: str) -> None:
    """What qloop did not write, or what has no stories, is read as a whole."""
    assert read_part(text.encode("utf-8", "surrogatepass"), ["US-1"]) is None
    assert Outliner().read(text.encode("utf-8", "surrogatepass")) is None


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with stories US-1 to US-3."""
    return new_store(tmp_path, document())


def test_transactions_on_parts_and_on_the_whole_take_turns(store: Store) -> None:
    """Each sees what the other wrote, in one store and in two."""
    other = Store(store.path, store.private)
    for turn in range(3):
        with store.transaction(DRIVER, ["US-2"]) as draft:
            (only,) = draft["stories"]
            assert only.get("startedAt") == (f"whole {turn - 1}" if turn else None)
            only["startedAt"] = f"part {turn}"
        with other.transaction(DRIVER) as draft:
            assert draft["stories"][1]["startedAt"] == f"part {turn}"
            draft["stories"][1]["startedAt"] = f"whole {turn}"
        assert other.current() == store.current() == store.read()

    assert [one["id"] for one in store.read()["stories"]] == ["US-1", "US-2", "US-3"]


def test_nothing_is_written_for_no_change(store: Store) -> None:
    """A part that was left as it was is no new generation; nor is one that raised."""
    before = store.path.read_bytes()
    with store.transaction(DRIVER, ["US-1"]):
        pass
    with pytest.raises(KeyError), store.transaction(DRIVER, ["US-1"]) as draft:
        _fail_after_a_change(draft)

    assert store.path.read_bytes() == before


@pytest.mark.parametrize("change", ["title", "id", "gone", "added", "field"])
def test_owners_are_held_to_their_fields(store: Store, change: str) -> None:
    """A part makes nobody the owner of more; nothing is written."""
    before = store.path.read_bytes()
    with pytest.raises(NotOwner), store.transaction(DRIVER, ["US-1"]) as draft:
        _wrong(draft, change)
    with pytest.raises(NotOwner), store.transaction(coordinator_of(["US-1"]), ["US-2"]) as draft:
        draft["stories"][0]["review"] = {"codeQuality": {"status": "passed"}}

    assert store.path.read_bytes() == before


def test_an_edit_of_a_person_is_taken_in_first(store: Store) -> None:
    """A file that somebody saved is merged, in whatever form, and its parts are then read."""
    edited = store.read()
    edited["stories"][1]["title"] = "by hand"
    store.path.write_text(json.dumps(edited), encoding="utf-8")

    assert store.outline() is None
    assert [one["title"] for one in store.part(["US-2"])["stories"] if one["id"] == "US-2"] == [
        "by hand"
    ]
    with store.transaction(DRIVER, ["US-2"]) as draft:
        _of(draft, "US-2")["status"] = "in_progress"
    assert (_of(store.read(), "US-2")["title"], _of(store.read(), "US-2")["status"]) == (
        "by hand",
        "in_progress",
    )
    outline = store.outline()
    assert outline == outline_of(parse_plan(store.read()))


def test_an_edit_in_the_midst_of_a_write_is_not_lost(store: Store) -> None:
    """What a person saves while a part is changed is merged into what is written."""
    edited = store.read()
    edited["stories"][2]["title"] = "by hand"
    with store.transaction(DRIVER, ["US-2"]) as draft:
        draft["stories"][0]["status"] = "in_progress"
        store.path.write_text(json.dumps(edited), encoding="utf-8")
    after = store.read()

    assert _of(after, "US-3")["title"] == "by hand"
    assert _of(after, "US-2")["status"] == "in_progress"


def _fail_after_a_change(draft: Json) -> None:
    draft["stories"][0]["status"] = "passed"
    raise KeyError


def _of(whole: Json, name: str) -> Json:
    found: Json = next(one for one in whole["stories"] if one["id"] == name)
    return found


def _wrong(draft: Json, change: str) -> None:
    stories: list[Any] = draft["stories"]
    match change:
        case "gone":
            stories.clear()
        case "added":
            stories.append(story("US-9"))
        case "field":
            draft["branchName"] = "other"
        case _:
            stories[0][change] = "US-8"
