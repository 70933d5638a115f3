"""The JSON Schema of an agent's answer, made from the model that reads it.

Source: JSON Schema 2020-12.
"""

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class _Untitled(GenerateJsonSchema):
    """Without titles that repeat a field's name."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False


def answer_schema(model: type[BaseModel], name: str) -> dict[str, Any]:
    """The schema of what *model* reads, under the name that `qloop schema` knows it by."""
    made = model.model_json_schema(schema_generator=_Untitled)
    return {"$schema": DIALECT, "$id": f"urn:qloop:schema:{name}", **made}
