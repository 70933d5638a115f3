"""Plans as other tools and hands write them: null for missing, fields of their own."""

import json
from typing import Any

from qloop.plan.model import Execution, Plan, ReviewPart, Story, Task
from world import World


def nulls_of(model: type[Story | Plan | Task | Execution | ReviewPart]) -> dict[str, None]:
    """Every field of a part of quantum.json, each null."""
    return {str(field.alias or name): None for name, field in model.model_fields.items()}


def assert_kept(before: Any, after: Any, path: str = "") -> None:
    """Keys stand in their old order, and what is not qloop's is what it was."""
    if isinstance(before, dict):
        assert [key for key in after if key in before] == list(before), path
        for key, value in before.items():
            assert_kept(value, after[key], f"{path}.{key}")
    elif isinstance(before, list):
        for number, item in enumerate(before):
            assert_kept(item, after[number], f"{path}[{number}]")
    elif path.rpartition(".")[2].startswith("x"):
        assert after == before, path


def test_null_is_missing_wherever_it_stands(world: World) -> None:
    """A plan in which everything that may be missing is null runs, fails and passes like any."""
    review = {"specCompliance": nulls_of(ReviewPart), "codeQuality": None}
    retries = {"attempts": None, "maxAttempts": 2, "failureLog": None}
    world.plan(
        {**nulls_of(Story), "id": "A-1", "tasks": [nulls_of(Task)], "retries": retries},
        {**nulls_of(Story), "id": "B-1", "review": review},
        **{**nulls_of(Plan), "branchName": "ql/feature", "execution": nulls_of(Execution)},
    )
    good = [["write", "own.txt", "own\n"], ["commit", "own"]]
    world.agent(A_1=[[["say", "STORY_FAILED"]], good], B_1=[[["write", "b.txt", "b\n"]]])

    ran = world.run()

    assert ran.code == 0, ran.err
    assert world.statuses() == {"A-1": "passed", "B-1": "passed"}
    assert world.failures("A-1") == ["agent_failed"]


def test_a_plan_whose_execution_is_null_runs(world: World) -> None:
    """The part that qloop itself fills is made where it is null."""
    world.plan({"id": "A-1"}, execution=None)
    world.writes_own_file("A-1")

    ran = world.run()

    assert ran.code == 0, ran.err
    assert world.document["execution"]["currentWave"] == 1


def test_fields_of_others_outlive_a_run(world: World) -> None:
    """Unknown fields and the order of keys are kept in every part that qloop writes into."""
    review = {"xz": 1, "codeQuality": {"xq": [1], "status": "pending", "xa": {"b": 1, "a": 2}}}
    failure = {"xf": 1, "phase": "odd", "attempt": 0, "xa": 2}
    story = {
        "xz": 1,
        "id": "A-1",
        "tasks": [{"xt": 1, "id": "T-1", "status": "pending", "xa": [3]}],
        "review": {**review, "specCompliance": {"xs": 1, "issues": [], "xa": None}},
        "retries": {"xr": 1, "maxAttempts": 2, "failureLog": [failure], "xa": 1, "attempts": 0},
        "status": "pending",
        "xa": None,
    }
    document = {
        "xz": 1,
        "stories": [story],
        "execution": {"xz": 1, "completedWaves": [{"xw": 1, "id": "old"}], "xa": 2},
        "branchName": "ql/feature",
        "progress": [{"xp": 1}],
        "xa": None,
    }
    world.quantum.write_text(json.dumps(document), encoding="utf-8")
    world.agent(A_1=[[["say", "STORY_FAILED"]], [["write", "own.txt", "own\n"]]])

    ran = world.run()

    assert ran.code == 0, ran.err
    assert world.statuses() == {"A-1": "passed"}
    assert_kept(document, world.document)
