"""A reviewer's answer: one JSON object with a verdict, read from what it said last.

Only an object counts that has a `verdict` and that begins at the start of a line; what a reviewer
quotes from a change (each line of a patch has a mark before it) is none. Two different ones are
no answer.
Errors: MalformedReview.
"""

import re
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from qloop.agents.answer_schema import answer_schema
from qloop.agents.objects import find_objects

_PLACE = re.compile(r"(?P<path>\S(?:.*\S)?):(?P<line>[1-9]\d{0,8})(?:-(?P<end>[1-9]\d{0,8}))?")


class MalformedReview(Exception):
    """A reviewer's answer cannot be read; the text says why."""


class _Part(BaseModel):
    """A part of an answer; what else a reviewer adds to it is left alone."""

    model_config = ConfigDict(frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: Any) -> Any:
        """Null means missing."""
        if isinstance(value, dict):
            return {key: item for key, item in value.items() if item is not None}
        return value


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Places = Annotated[list[str], BeforeValidator(_listed, json_schema_input_type=list[str])]


class Criterion(_Part):
    """What a reviewer found of one acceptance criterion."""

    criterion: Annotated[
        int | str, Field(description="Its number in the list that was given, or its text.")
    ]
    met: bool
    evidence: Annotated[
        Places, Field(description="Places that show it, each as `path:line` or `path:first-last`.")
    ] = []
    note: Annotated[str, Field(description="Why, in a sentence.")] = ""


class Issue(_Part):
    """Something that is wrong or could be better."""

    severity: Annotated[
        Literal["critical", "major", "minor"],
        Field(description="A critical or major one keeps the change from landing."),
    ]
    text: Annotated[str, Field(description="What is wrong, and what would be right.")]
    evidence: Annotated[Places, Field(description="Where, each as `path:line`.")] = []


class Review(_Part):
    """A reviewer's whole answer."""

    verdict: Literal["passed", "failed"]
    criteria: Annotated[
        list[Criterion], Field(description="One for each acceptance criterion that was given.")
    ] = []
    issues: list[Issue] = []


def review_schema() -> dict[str, Any]:
    """The JSON Schema of a reviewer's answer."""
    return answer_schema(Review, "review")


def parse_review(answer: str) -> Review:
    """The one review in a final answer. Raises MalformedReview."""
    found = [value for value in find_objects(answer) if "verdict" in value]
    different = [value for number, value in enumerate(found) if value not in found[:number]]
    if len(different) != 1:
        raise MalformedReview(
            f"there are {len(different)} different reviews in it"
            if different
            else "there is no JSON object with a verdict in it"
        )
    try:
        return Review.model_validate(different[0])
    except ValidationError as exc:
        faults = (f"{_place_of(error['loc'])}: {error['msg'].lower()}" for error in exc.errors())
        raise MalformedReview("; ".join(faults)) from exc


def parse_place(text: str) -> tuple[str, int] | None:
    """Path and last line of `path:line` or `path:first-last`; None for anything else.

    Only a path within the tree is one: neither absolute nor leading upwards.
    """
    match = _PLACE.fullmatch(text.strip().strip("`"))
    if match is None:
        return None
    path = PurePosixPath(match["path"])
    if path.is_absolute() or ".." in path.parts or any(char in str(path) for char in "\n\r\0"):
        return None
    return str(path), max(int(match["line"]), int(match["end"] or 0))


def _place_of(location: tuple[int | str, ...]) -> str:
    return ".".join(map(str, location)) or "the answer"
