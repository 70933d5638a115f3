"""The published schema of quantum.json."""

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from qloop.plan.model import Json
from qloop.plan.schema import DIALECT, plan_schema, render_schema

ROOT = Path(__file__).parents[2]


def models() -> dict[str, Json]:
    """The objects of the schema by name."""
    return {"Plan": plan_schema()} | {
        name: part for name, part in plan_schema()["$defs"].items() if "properties" in part
    }


def test_the_published_file_is_what_the_models_say() -> None:
    """schemas/quantum.schema.json is generated, and up to date."""
    published = (ROOT / "schemas" / "quantum.schema.json").read_text("utf-8")

    assert published == render_schema(plan_schema())


def test_it_is_a_schema_of_its_dialect() -> None:
    """The schema is valid JSON Schema 2020-12 and names itself."""
    Draft202012Validator.check_schema(plan_schema())

    assert plan_schema()["$schema"] == DIALECT
    assert plan_schema()["$id"].startswith("urn:qloop:")
    assert plan_schema()["title"] == "quantum.json"


def test_only_what_the_contract_requires_is_required() -> None:
    """branchName, stories, and each story's id; nothing else."""
    required = {name: part["required"] for name, part in models().items() if "required" in part}

    assert required == {"Plan": ["branchName", "stories"], "Story": ["id"]}


def test_every_field_is_described_in_the_names_of_the_file() -> None:
    """Names are camelCase, and each has a text."""
    fields = [
        (name, field) for part in models().values() for name, field in part["properties"].items()
    ]

    assert [name for name, _ in fields if "_" in name] == []
    assert [name for name, field in fields if not field.get("description")] == []


def test_unknown_keys_and_nulls_are_welcome() -> None:
    """A validator of somebody else's takes what qloop takes: null for missing, more keys."""
    fields: dict[str, Any] = dict.fromkeys(models()["Story"]["properties"])
    top: dict[str, Any] = dict.fromkeys(plan_schema()["properties"])
    document = {**top, "branchName": "x", "stories": [{**fields, "id": "A", "mine": 1}], "mine": {}}

    assert list(Draft202012Validator(plan_schema()).iter_errors(document)) == []


def test_a_schema_is_rendered_as_a_file() -> None:
    """Two blanks per level, letters as they are, a line end at the end."""
    assert render_schema({"b": {"ü": 1}}) == '{\n  "b": {\n    "ü": 1\n  }\n}\n'
    assert json.loads(render_schema(plan_schema())) == plan_schema()
