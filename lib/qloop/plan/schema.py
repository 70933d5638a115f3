"""The JSON Schema of quantum.json, made from the models that read it.

Source: JSON Schema 2020-12.
"""

import ast
import functools
import inspect
import itertools
import json

from pydantic.alias_generators import to_camel

from qloop.plan import model
from qloop.plan.model import Json, Plan

DIALECT = "https://json-schema.org/draft/2020-12/schema"
IDENTITY = "urn:qloop:schema:quantum"
NULL = {"type": "null"}

_HEAD = {
    "$schema": DIALECT,
    "$id": IDENTITY,
    "title": "quantum.json",
    "description": "A plan of qloop. Null means missing; unknown keys are allowed, and kept.",
}


@functools.cache
def plan_schema() -> Json:
    """The schema of quantum.json. It is made once; treat it as read-only."""
    made = Plan.model_json_schema(by_alias=True, mode="validation")
    texts = _field_descriptions()
    models = {"Plan": made, **made["$defs"]}
    for name, part in models.items():
        if "properties" in part:
            part["properties"] = _properties(part, texts[name])
    return {**_HEAD, **{key: item for key, item in made.items() if key not in _HEAD}}


def render_schema(schema: Json) -> str:
    """A schema as the text of a file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _properties(part: Json, texts: dict[str, str]) -> Json:
    required = part.get("required", [])
    return {
        name: {
            **({"description": texts[name]} if name in texts else {}),
            **(_tidy(value) if name in required else _optional(_tidy(value))),
        }
        for name, value in part["properties"].items()
    }


def _tidy(value: Json) -> Json:
    """A property without what says nothing: a title that repeats its name, an empty default."""
    kept = {key: item for key, item in value.items() if key != "title"}
    if kept.get("default") is None or isinstance(kept["default"], dict):
        kept.pop("default", None)
    return kept


def _optional(value: Json) -> Json:
    """The property, or null, which means the same as leaving it out."""
    rest = {key: value[key] for key in ("default",) if key in value}
    kind = {key: item for key, item in value.items() if key not in rest}
    branches = [branch for branch in kind.get("anyOf", [kind]) if branch != NULL]
    if len(branches) > 1 or "$ref" in branches[0]:
        return {"anyOf": [*branches, NULL], **rest}
    only = branches[0]
    if "type" in only:
        only = {**only, "type": [only["type"], "null"]}
    if "enum" in only:
        only = {**only, "enum": [*only["enum"], None]}
    return {**only, **rest}


def _field_descriptions() -> dict[str, dict[str, str]]:
    """By model and by the file's name of the field: the docstring under the field.

    pydantic could do this while it builds the models, at a cost to every start of qloop.
    """
    tree = ast.parse(inspect.getsource(model))
    return {
        node.name: _docstrings(node.body) for node in tree.body if isinstance(node, ast.ClassDef)
    }


def _docstrings(body: list[ast.stmt]) -> dict[str, str]:
    found = {}
    for field, text in itertools.pairwise(body):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(words))),
            ):
                found[to_camel(name)] = inspect.cleandoc(words)
            case _:
                pass
    return found
