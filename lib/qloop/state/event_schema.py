"""The JSON Schema of the journal's events."""

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from qloop.plan.model import Json
from qloop.plan.schema import DIALECT
from qloop.state.journal import Event


def event_schema() -> Json:
    """The schema of one line."""
    schema = Event.model_json_schema(schema_generator=_WithoutNulls)
    return {"$schema": DIALECT, "$id": "urn:qloop:schema:event", **schema}


class _WithoutNulls(GenerateJsonSchema):
    """What is None is left out of a line, so that null is no value of it."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])
