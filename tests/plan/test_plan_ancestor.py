"""Files written for quantum-loop, whose format qloop reads unchanged."""

import json
from pathlib import Path

from plan.plans import plan
from qloop.plan.dag import ready, standing
from qloop.plan.document import load_document, parse_document, render_document
from qloop.plan.model import Status
from qloop.plan.validate import check_plan, find_faults

FILE = Path(__file__).parents[1] / "fixtures" / "ancestor.json"


def test_it_validates() -> None:
    """Nulls, foreign phases, statuses, ids and fields of every sort are no faults."""
    assert find_faults(load_document(FILE)) == ()


def test_null_is_missing() -> None:
    """A null field has its default."""
    story = check_plan(load_document(FILE), str(FILE)).stories[1]

    assert (story.priority, story.tasks, story.started_at) == (999, [], None)
    assert story.review.spec_compliance.status == "pending"


def test_foreign_entries_are_kept() -> None:
    """Any phase stays in the failure log, any id with a completed wave."""
    value = check_plan(load_document(FILE), str(FILE))

    phases = [entry.phase for entry in value.stories[1].retries.failure_log]
    assert phases == ["no_signal", "merge_conflict", "stale_detection", "opaque-typecheck"]
    assert value.stories[0].retries.failure_log == []
    assert [wave.id for wave in value.execution.completed_waves] == [1, [2, "b"]]


def test_stale_counts_as_blocked() -> None:
    """A stale story never runs."""
    value = plan({"id": "A", "status": "stale"})

    assert value.stories[0].status is Status.STALE
    assert ready(value) == []
    assert standing(value) == "blocked"


def test_a_round_trip_changes_nothing() -> None:
    """Every unknown field, every null and the order of keys survive reading and writing."""
    data = FILE.read_bytes()
    rendered = render_document(parse_document(data, str(FILE)))

    assert rendered == data
    assert json.loads(rendered) == json.loads(data)
