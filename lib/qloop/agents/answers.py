"""Answers of agents: one JSON object of a known form, read from what an agent said last.

What is not known is a fault. Where an answer has several such objects, the last one is the
answer.
"""

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic.alias_generators import to_camel

from qloop.agents.objects import find_break, find_objects
from qloop.plan.faults import Fault, render_path, show
from qloop.plan.model import without_nulls

Text = Annotated[str, StringConstraints(min_length=1)]
Place = Annotated[
    str, Field(description="A place that shows it, as `path:line` or `path:first-last`.")
]

Answer = TypeVar("Answer", bound=BaseModel)


class MalformedAnswer(Exception):
    """An answer cannot be used; `faults` says why."""

    def __init__(self, *faults: str) -> None:
        self.faults = faults
        super().__init__("; ".join(faults))


FORM = ConfigDict(
    alias_generator=to_camel, extra="forbid", frozen=True, strict=True, validate_by_alias=True
)
"""How each part of an answer is read: nothing unknown may stand in it."""


def has_answer(answer: str, key: str) -> bool:
    """Whether there is an object in what was said that could be the answer."""
    return any(key in value for value in find_objects(answer))


def parse_answer(model: type[Answer], answer: str, key: str) -> Answer:
    """The answer in what an agent said last: an object with *key*. Raises MalformedAnswer."""
    found = [value for value in find_objects(answer) if key in value]
    if not found:
        told = (
            f"there is no JSON object with {key} in it that begins at the start of a line; "
            "only the answer itself is read, no file that was written"
        )
        raise MalformedAnswer(*filter(None, [told, find_break(answer)]))
    try:
        return model.model_validate(without_nulls(found[-1]))
    except ValidationError as exc:
        raise MalformedAnswer(*map(_fault, exc.errors())) from exc


def _fault(error: Any) -> str:
    path = render_path(error["loc"])
    match error["type"]:
        case "extra_forbidden":
            return str(Fault(path, "this is not yours to say; leave it out"))
        case "missing":
            return str(Fault(path, "it is missing"))
        case _:
            told = error["msg"][:1].lower() + error["msg"][1:]
            return str(Fault(path, f"{show(error['input'])}: {told}"))
