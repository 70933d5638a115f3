"""Snapshots: a changed document as it was before, sharing what did not change."""

import copy

from hypothesis import given
from hypothesis import strategies as st

from qloop.plan.model import Json
from qloop.state.changes import is_same
from qloop.state.snapshot import Snapshot, share_stories
from state.documents import document, story

values = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False),
    st.text(alphabet=st.characters()), st.lists(st.integers(), max_size=3),
)  # fmt: skip
objects = st.dictionaries(st.text(max_size=3), values, max_size=3)
documents = st.one_of(
    objects,
    st.builds(lambda top, stories: {**top, "stories": stories}, objects, st.lists(objects)),
)


@given(documents, documents)
def test_any_document_comes_back(before: Json, after: Json) -> None:
    """Whatever a document is changed into, it can be rebuilt as it was, to the type."""
    snapshot = Snapshot(before)
    wanted = copy.deepcopy(before)
    before.clear()
    before.update(after)

    assert is_same(snapshot.rebuild(Snapshot(before), before), wanted)


def test_unchanged_stories_are_shared() -> None:
    """Only what changed is built again."""
    value = document()
    snapshot = Snapshot(value)
    value["stories"][1]["title"] = "new"

    before = snapshot.rebuild(Snapshot(value), value)

    assert before["stories"][0] is value["stories"][0]
    assert before["stories"][1] == story("US-2")


def test_equal_stories_become_one_object() -> None:
    """A document borrows the stories that another one has as well, and only those."""
    lender, value = document(), document()
    value["stories"][1]["title"] = "new"

    shared = share_stories(lender, value)

    assert shared == value
    same = [shared["stories"][place] is lender["stories"][place] for place in range(3)]
    assert same == [True, False, True]
    assert share_stories(lender, {"stories": 1}) == {"stories": 1}
