"""Validation of a whole document: every fault, with its path and the offending value."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from plan.plans import document, story, unhurried
from qloop.plan.model import Json, parse_stripped, without_nulls
from qloop.plan.shape import find_shape_faults
from qloop.plan.validate import check_plan, find_faults
from qloop.system.errors import Faults

ANCESTOR = json.loads((Path(__file__).parents[1] / "fixtures" / "ancestor.json").read_bytes())
ID_RULE = "up to 64 letters, digits, '-' and '_', the first a letter or digit"


def told(value: Json) -> list[str]:
    """The faults of a document as lines."""
    return [str(fault) for fault in find_faults(value)]


def fits_models(value: Json) -> bool:
    """Whether the models take a document without nulls."""
    try:
        parse_stripped(value)
    except ValidationError:
        return False
    return True


SHAPE_FAULTS: list[tuple[Json, str]] = [
    ({"stories": []}, "branchName: is missing"),
    ({"branch_name": "x", "stories": []}, "branchName: is missing"),
    ({"branchName": "x"}, "stories: is missing"),
    ({"branchName": None, "stories": []}, "branchName: is missing"),
    ({"branchName": 3, "stories": []}, "branchName: must be a string, not 3"),
    ({"branchName": "x", "stories": {}}, "stories: must be an array, not {}"),
    (document({}), "stories[0].id: is missing"),
    (document(story("a/b")), f"stories[0].id: unsafe id 'a/b': {ID_RULE}"),
    (document(story("a\n")), f"stories[0].id: unsafe id 'a\\n': {ID_RULE}"),
    (document(story("A", "../x")), f"stories[0].dependsOn[0]: unsafe id '../x': {ID_RULE}"),
    (document(story("A", priority="1")), "stories[0].priority: must be a whole number, not '1'"),
    (document(story("A", priority=True)), "stories[0].priority: must be a whole number, not true"),
    (document(story("A", priority=1.0)), "stories[0].priority: must be a whole number, not 1.0"),
    (
        document(story("A", status="pased")),
        "stories[0].status: must be one of pending, in_progress, passed, failed, blocked, stale, "
        "not 'pased' (did you mean 'passed'?)",
    ),
    (
        document(story("A", status="Zzz")),
        "stories[0].status: must be one of pending, in_progress, passed, failed, blocked, stale, "
        "not 'Zzz'",
    ),
    (document(story("A", status=1)), "stories[0].status: must be a string, not 1"),
    (
        document(story("A", review={"codeQuality": {"status": "ok"}})),
        "stories[0].review.codeQuality.status: must be one of pending, passed, failed, not 'ok'",
    ),
    (document(story("A", review="no")), "stories[0].review: must be an object, not 'no'"),
    (
        document(story("A", retries={"attempts": -1})),
        "stories[0].retries.attempts: must be at least 0, not -1",
    ),
    (
        document(story("A", retries={"failureLog": ["crash"]})),
        "stories[0].retries.failureLog[0]: must be an object, not 'crash'",
    ),
    (document(story("A", timeout=-5)), "stories[0].timeout: must be at least 0, not -5"),
    (document(story("A", timeout=-5.5)), "stories[0].timeout: must be at least 0, not -5.5"),
    (
        document(story("A", timeout=[1])),
        "stories[0].timeout: must be a string or a number, not [1]",
    ),
    (
        document(story("A", allowEmpty="yes")),
        "stories[0].allowEmpty: must be true or false, not 'yes'",
    ),
    (
        document(story("A", tasks=[{"filePaths": [None]}])),
        "stories[0].tasks[0].filePaths[0]: must be a string, not null",
    ),
    (document(execution={"maxParallel": 0}), "execution.maxParallel: must be at least 1, not 0"),
    (document(contracts=[]), "contracts: must be an object, not []"),
    ({**document(), "x\ud800": 1}, '["x\\ud800"]: key holds half of a surrogate pair'),
    (
        document({"id": "A", "\udfff": 1}),
        'stories[0]["\\udfff"]: key holds half of a surrogate pair',
    ),
]


@pytest.mark.parametrize(("value", "line"), SHAPE_FAULTS)
def test_faults_of_form_are_told_alike_by_schema_and_models(value: Json, line: str) -> None:
    """What the schema rejects the models reject, and the message names path and value."""
    stripped = without_nulls(value)

    assert told(value) == [line]
    assert find_shape_faults(stripped)
    assert not fits_models(stripped)


@st.composite
def damaged(draw: st.DrawFn) -> Json:
    """The ancestor's document with some values replaced, at any depth."""
    root = copy.deepcopy(ANCESTOR)
    for _ in range(draw(st.integers(1, 3))):
        node: Any = root
        while True:
            key = draw(st.sampled_from(list(node) if isinstance(node, dict) else range(len(node))))
            if not isinstance(node[key], dict | list) or not node[key] or draw(st.booleans()):
                break
            node = node[key]
        node[key] = draw(st.sampled_from([None, True, 0, -1, 1.0, "1", "passed", [], {}, ["x"]]))
    damage: Json = without_nulls(root)
    return damage


@unhurried
@given(damaged())
def test_schema_and_models_agree_on_any_document(value: Json) -> None:
    """However a document is damaged, both take it or both refuse it."""
    assert fits_models(value) is not bool(find_shape_faults(value))


MEANING_FAULTS: list[tuple[Json, list[str]]] = [
    (
        document(story("A"), story("B"), story("A"), story("A")),
        [
            "stories[2].id: duplicate story id 'A', first at stories[0]",
            "stories[3].id: duplicate story id 'A', first at stories[0]",
        ],
    ),
    (document(story("A", "US-9")), ["stories[0].dependsOn[0]: unknown story 'US-9'"]),
    (document(story("A", "A")), ["stories[0].dependsOn[0]: story 'A' depends on itself"]),
    (
        document(story("US-1", "US-2"), story("US-2", "US-1"), story("US-3", "US-1")),
        ["stories[0].dependsOn: dependency cycle US-1 → US-2 → US-1"],
    ),
    (
        document(
            story("A", "B"), story("B", "A", "C"), story("C", "B"), story("X", "Y"), story("Y", "X")
        ),
        [
            "stories[0].dependsOn: dependency cycle A → B → A (further cycles lead through C)",
            "stories[3].dependsOn: dependency cycle X → Y → X",
        ],
    ),
    (
        document(story("A", files=["ok.py", "/etc/passwd", "a/../b"])),
        [
            "stories[0].tasks[0].filePaths[1]: unsafe file path '/etc/passwd': it is absolute",
            "stories[0].tasks[0].filePaths[2]: unsafe file path 'a/../b': it leads out by '..'",
        ],
    ),
    (document(copyFiles=[".env", ""]), ["copyFiles[1]: unsafe file path '': it is empty"]),
    (
        document(fileConflicts=[{"file": "C:\\x", "stories": ["none", "such"]}]),
        ["fileConflicts[0].file: unsafe file path 'C:\\\\x': it is absolute"],
    ),
    (
        {"branchName": "-x y", "stories": []},
        ["branchName: unsafe branch name '-x y': it holds the character ' '"],
    ),
    (
        document(story("A", timeout="soon"), story("B", timeout="1h30m"), story("C", timeout=5.5)),
        ["stories[0].timeout: 'soon' is no duration; write it like 90s, 15m, 2h or 1h30m"],
    ),
    (
        document(story("A", timeout=10**400), story("B", timeout="9" * 5000 + "h")),
        [
            f"stories[0].timeout: no end is in sight: 1{'0' * 78}…",
            f"stories[1].timeout: '{'9' * 78}… is no duration; write it like 90s, 15m, 2h or 1h30m",
        ],
    ),
    (
        document(story("A", tasks=[{"id": "T-1"}, {"id": "T-2"}, {"id": "T-1"}, {}, {}])),
        ["stories[0].tasks[2].id: duplicate task id 'T-1', first at stories[0].tasks[0]"],
    ),
    (document(story("A", tasks=[{"id": "T"}]), story("B", tasks=[{"id": "T"}])), []),
    (document(story("A", "B", "B"), story("B")), []),
    (document(), []),
]


@pytest.mark.parametrize(("value", "lines"), MEANING_FAULTS)
def test_faults_of_meaning_are_told(value: Json, lines: list[str]) -> None:
    """Names that clash, lead nowhere, in circles or out of the repository, each with its path."""
    assert told(value) == lines


def test_all_faults_are_told_at_once() -> None:
    """Faults of form hide no faults of meaning, nor the other way round."""
    broken = document(
        story("A", "B", priority="high"),
        "no story",  # type: ignore[arg-type]
        story("B", "A", "gone", files=["../x"]),
        {"id": 7, "dependsOn": ["gone", 3], "tasks": "none"},
        branchName="a..b",
    )

    assert told(broken) == [
        "stories[0].priority: must be a whole number, not 'high'",
        "stories[1]: must be an object, not 'no story'",
        "stories[3].id: must be a string, not 7",
        "stories[3].dependsOn[1]: must be a string, not 3",
        "stories[3].tasks: must be an array, not 'none'",
        "branchName: unsafe branch name 'a..b': it holds '..'",
        "stories[2].tasks[0].filePaths[0]: unsafe file path '../x': it leads out by '..'",
        "stories[2].dependsOn[1]: unknown story 'gone'",
        "stories[3].dependsOn[0]: unknown story 'gone'",
        "stories[0].dependsOn: dependency cycle A → B → A",
    ]


def test_a_fault_carries_the_offending_value() -> None:
    """Scripts get the value itself; where something is missing there is none."""
    faults = find_faults(document(story("A", "gone", priority=[1]), {}))

    assert [(fault.path, fault.value) for fault in faults] == [
        ("stories[0].priority", [1]),
        ("stories[1].id", None),
        ("stories[0].dependsOn[0]", "gone"),
    ]


def test_a_plan_that_holds_is_returned() -> None:
    """Checking a sound document gives its value."""
    checked = check_plan(document(story("A"), story("B", "A", priority=None)), "quantum.json")

    assert [(item.id, item.priority) for item in checked.stories] == [("A", 999), ("B", 999)]


@pytest.mark.parametrize(
    ("broken", "what"),
    [(document(story("A", "B")), "1 fault"), (document(story("A", "B", priority="x")), "2 faults")],
)
def test_a_plan_that_does_not_hold_is_refused(broken: Json, what: str) -> None:
    """The error has a line for each fault, names the file, and is exit code 65."""
    with pytest.raises(Faults) as caught:
        check_plan(broken, "my/quantum.json")

    assert caught.value.faults == tuple(told(broken))
    assert caught.value.where == "my/quantum.json"
    assert caught.value.what.startswith(what)
    assert caught.value.exit_code == 65


@pytest.mark.parametrize("closed", [False, True])
def test_long_chains_need_no_deep_stack(closed: bool) -> None:
    """Ten thousand stories in a row are checked; in a ring they are one cycle."""
    count = 10_000
    chain = [story(f"S{n}", f"S{n + 1}") for n in range(count - 1)]
    last = story(f"S{count - 1}", *(["S0"] if closed else []))

    faults = find_faults(document(*chain, last))

    assert [len(fault.value) for fault in faults] == ([count + 1] if closed else [])
