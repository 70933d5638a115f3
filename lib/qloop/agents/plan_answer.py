"""A planner's answer: one JSON object with stories, read from what it said last.

It holds what a document can say and nothing of what happens to stories later; what is not known
is a fault. Where an answer has several such objects, the last one is the answer.
"""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic.alias_generators import to_camel

from qloop.agents.answer_schema import answer_schema
from qloop.agents.objects import find_break, find_objects
from qloop.plan.faults import Fault, render_path, show
from qloop.plan.model import without_nulls
from qloop.plan.values import STORY_ID, Json

NAME = "plan"
"""The name of the schema."""

Id = Annotated[str, StringConstraints(pattern=STORY_ID)]
Text = Annotated[str, StringConstraints(min_length=1)]


class MalformedPlan(Exception):
    """An answer cannot be read as a plan; `faults` says why."""

    def __init__(self, *faults: str) -> None:
        self.faults = faults
        super().__init__("; ".join(faults))


class _Part(BaseModel):
    """A part of an answer, in which nothing unknown may stand."""

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", frozen=True, strict=True, validate_by_alias=True
    )


class PlannedTask(_Part):
    """A step inside a story."""

    id: Annotated[Text | None, Field(description="Such as T-001, once in a story.")] = None
    title: Text
    description: str | None = None
    file_paths: Annotated[
        list[str], Field(description="Files and folders it touches, from the repository's root.")
    ] = []
    commands: Annotated[
        list[Text], Field(description="Shell commands that end with 0 if the step is done.")
    ] = []


class PlannedStory(_Part):
    """One agent's unit of work."""

    id: Annotated[Id, Field(description="Such as US-001.")]
    title: Text
    description: Annotated[str, Field(description="What is wanted, and why.")] = ""
    acceptance_criteria: Annotated[
        list[Text], Field(description="What can be seen to hold when it is done.")
    ] = []
    priority: Annotated[int | None, Field(description="Lower starts first.")] = None
    depends_on: Annotated[
        list[Id], Field(description="Stories whose result this one needs; no circles.")
    ] = []
    tasks: list[PlannedTask] = []
    verify: Annotated[
        list[Text], Field(description="Shell commands that end with 0 if the story is done.")
    ] = []


class PlannedConflict(_Part):
    """Stories that must not be at work together, since they share a file."""

    file: Text
    stories: list[Id]


class PlanAnswer(_Part):
    """A planner's whole answer."""

    project: str | None = None
    description: Annotated[str | None, Field(description="What the whole is for.")] = None
    setup_commands: Annotated[
        list[Text], Field(description="Run once in each fresh worktree, such as `npm ci`.")
    ] = []
    test_command: Annotated[
        str | None, Field(description="Tests the whole tree, which is green with it now.")
    ] = None
    quality_commands: Annotated[
        list[Text], Field(description="Judge the code of every story, such as a linter.")
    ] = []
    codebase_patterns: Annotated[
        list[Text], Field(description="What everybody who works on a story should know.")
    ] = []
    file_conflicts: list[PlannedConflict] = []
    stories: Annotated[list[PlannedStory], Field(min_length=1)]

    def to_json(self) -> Json:
        """What it says, in the names of quantum.json."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


def plan_answer_schema() -> Json:
    """The JSON Schema of a planner's answer."""
    return answer_schema(PlanAnswer, NAME)


def parse_plan_answer(answer: str) -> PlanAnswer:
    """The plan in a final answer. Raises MalformedPlan."""
    found = [value for value in find_objects(answer) if "stories" in value]
    if not found:
        told = (
            "there is no JSON object with stories in it that begins at the start of a line; "
            "only the answer itself is read, no file that was written"
        )
        raise MalformedPlan(*filter(None, [told, find_break(answer)]))
    try:
        return PlanAnswer.model_validate(without_nulls(found[-1]))
    except ValidationError as exc:
        raise MalformedPlan(*map(_fault, exc.errors())) from exc


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
