"""The outline read fast: what it takes for a plan is one, and it says of it what the models say."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plan.plans import document, plans, story, unhurried
from qloop.plan.document import parse_document
from qloop.plan.glance import find_outline
from qloop.plan.model import Json, Plan, parse_plan
from qloop.plan.outline import outline_of
from qloop.plan.validate import find_faults

ANCESTOR = json.loads((Path(__file__).parents[1] / "fixtures" / "ancestor.json").read_bytes())
EXAMPLE = json.loads((Path(__file__).parents[2] / "quantum.json.example").read_bytes())
REVIEW = {"status": "passed", "issues": [], "evidence": "unverified: none", "attempt": 2}
FULL = document(
    story("A", files=["src/a.py", "docs/ü.md"], priority=3, status="passed", timeout="15m"),
    story(
        "B",
        "A",
        title="Größe",
        status="failed",
        startedAt="2026-01-02T03:04:05Z",
        timeout=1.5,
        allowEmpty=True,
        verify=["true"],
        review={"specCompliance": REVIEW, "codeQuality": None},
        retries={"attempts": 1, "maxAttempts": 0, "failureLog": [{"phase": "x", "reason": "why"}]},
        extra={"kept": [1, None, {"x": 1e5}]},
    ),
    project="p",
    createdAt="2026-01-02T03:04:05Z",
    copyFiles=[".env"],
    fileConflicts=[{"file": "x", "stories": ["A", "Z"]}, {}],
    execution={"maxParallel": 2, "currentWave": 0, "completedWaves": [{"id": 1, "stories": []}]},
    contracts={"a": {"b": []}},
)
ODD: list[Any] = [
    *(None, True, 0, 1, -1, 1.0, 1e300, 10**30, "", "x", "A", "passed", "../x", "/x", "C:/x"),
    *("C:", "a b", "a/../b", "a\0", "\ud800", [], ["A"], ["A", "A"], [None], [3], {}, {"a": 1}),
    *({"id": "A"}, [{}], [{"id": "T-1"}, {"id": "T-1"}], {"\ud800": 1}, "1h", "1e9999", "9" * 400),
    *("HEAD", "a.lock", ["\ud800"], [["\ud800"]], float("1e308")),
]


def agrees(value: Json) -> bool:
    """Whether the outline is left to others, or is that of a plan without faults."""
    found = find_outline(_copy(value))
    if found is None:
        return True
    return not find_faults(value) and found == outline_of(parse_plan(value))


@pytest.mark.parametrize("value", [ANCESTOR, EXAMPLE, FULL, document()])
def test_a_sound_plan_is_seen(value: Json) -> None:
    """Plans as people and programs write them need no second look."""
    assert find_outline(value) == outline_of(parse_plan(value))


@unhurried
@given(plans())
def test_any_valid_plan_is_seen(value: Plan) -> None:
    """A plan that the models take, without nulls, has the outline that they have."""
    made = value.model_dump(mode="json", by_alias=True, exclude_none=True)

    assert find_outline(made) == outline_of(value)


@pytest.mark.parametrize("base", [ANCESTOR, EXAMPLE, FULL])
def test_a_doubtful_value_is_left_to_the_full_check(base: Json) -> None:
    """Whatever stands at any place of a plan, the outline never takes faults for a plan."""
    places = list(_places(base))
    wrong = [
        (place, odd)
        for place in places
        for odd in ODD
        if not agrees(_with(_copy(base), place, odd))
    ]

    assert wrong == []


@unhurried
@given(st.data())
def test_several_doubtful_values(data: st.DataObject) -> None:
    """The same for several at once, new keys among them."""
    value = _copy(FULL)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.sampled_from(list(_places(value))))
        value = _with(value, place, data.draw(st.sampled_from(ODD)))
        if not isinstance(value, dict):
            return

    assert agrees(value)


def test_what_nests_deep_is_left_to_the_full_check() -> None:
    """The outline is read from documents whose depth nobody has measured."""
    deep: Any = 1
    for _ in range(150):
        deep = {"x": deep}

    assert find_outline(document(story("A"), progress=[deep])) is None
    assert find_outline(document({**story("A"), "x": deep})) is None
    assert find_outline({**document(), "contracts": deep}) is None


@pytest.mark.parametrize("needs", [["A"], ["B"], ["Z"]])
def test_a_graph_that_cannot_run_is_no_outline(needs: list[str]) -> None:
    """Circles, self and unknown dependencies are told by the full check."""
    assert find_outline(document(story("A", *needs), story("B", "A"))) is None


def test_text_of_a_file_is_seen_the_same(tmp_path: Path) -> None:
    """What is read from bytes is what stands in them."""
    text = json.dumps(FULL).encode()

    assert find_outline(parse_document(text, str(tmp_path))) == outline_of(parse_plan(FULL))


def _places(node: Any, path: tuple[str | int, ...] = ()) -> Any:
    if path:
        yield path
    if isinstance(node, dict):
        for key in [*node, "new"]:
            yield from _places(node.get(key), (*path, key))
    elif isinstance(node, list):
        for index in sorted({0, len(node) - 1} if node else ()):  # those between are read alike
            yield from _places(node[index], (*path, index))


def _with(root: Any, path: tuple[str | int, ...], value: Any) -> Any:
    holder = root
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = _copy(value)
    return root


def _copy(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # a fraction of the time that `copy` takes
