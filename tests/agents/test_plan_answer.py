"""A planner's answer, read from whatever it printed."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qloop.agents.answers import MalformedAnswer
from qloop.agents.plan_answer import (
    PlanAnswer,
    parse_plan_answer,
    plan_answer_schema,
)
from qloop.plan.schema import render_schema
from qloop.plan.values import STORY_ID
from qloop.system.assets import read_asset

STORY = {"id": "US-001", "title": "One"}
GOOD = json.dumps({"stories": [STORY]})
OTHER = json.dumps({"stories": [{**STORY, "title": "Two"}]}, indent=2)


def faults(*stories: dict[str, Any], **top: Any) -> tuple[str, ...]:
    """What is wrong in an answer."""
    with pytest.raises(MalformedAnswer) as caught:
        parse_plan_answer(json.dumps({**top, "stories": list(stories)}))
    return caught.value.faults


@pytest.mark.parametrize(
    "answer", [GOOD, f"Here it is.\n```json\n{GOOD}\n```\nDone.", f"{OTHER}\nNo:\n{GOOD}\n{{}}"]
)
def test_the_last_plan_in_an_answer_counts(answer: str) -> None:
    """Prose, fences and other objects around it do not matter."""
    assert parse_plan_answer(answer).stories[0].title == "One"


def test_what_it_leaves_out_stays_out_and_null_is_left_out() -> None:
    """In the names of quantum.json."""
    text = json.dumps({"project": None, "stories": [{**STORY, "dependsOn": ["US-000"]}]})

    assert parse_plan_answer(text).to_json() == {"stories": [{**STORY, "dependsOn": ["US-000"]}]}


def test_every_fault_of_form_is_named_at_once() -> None:
    """Its place, what stands there and what is wrong."""
    found = faults({"id": "US 1", "title": 3}, {"id": "A"}, branchName="main")

    assert found == (
        f"stories[0].id: 'US 1': string should match pattern '{STORY_ID}'",
        "stories[0].title: 3: input should be a valid string",
        "stories[1].title: it is missing",
        "branchName: this is not yours to say; leave it out",
    )
    assert "stories: " in faults()[0]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("", "no JSON object with stories"),
        (f"> {GOOD}", "no JSON object with stories"),
        ('{"stories": [\n  {"id": "A" "title": "B"}]}', "breaks at line 2, column 14"),
        ('{"stories": [], "stories": []}', "'stories' stands twice"),
    ],
)
def test_what_is_no_plan_says_why(answer: str, told: str) -> None:
    """A quotation is none; JSON that is broken is told where."""
    with pytest.raises(MalformedAnswer, match=told):
        parse_plan_answer(answer)


@given(st.text() | st.text('{}[]":, \nstories0'))
def test_any_text_is_a_plan_or_refused(text: str) -> None:
    """With a reason."""
    try:
        found = parse_plan_answer(text)
    except MalformedAnswer as exc:
        told = exc.faults
    else:
        told = tuple(one.id for one in found.stories)

    assert told


def test_the_published_schema_is_what_is_read() -> None:
    """schemas/plan.schema.json is generated, and up to date."""
    schema = plan_answer_schema()

    assert read_asset("schemas", "plan.schema.json") == render_schema(schema)
    assert schema["required"] == ["stories"]
    assert set(schema["properties"]) == {field.alias for field in PlanAnswer.model_fields.values()}
