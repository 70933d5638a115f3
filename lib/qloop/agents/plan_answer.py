"""A planner's answer: one JSON object with stories, read from what it said last.

It holds what a document can say and nothing of what happens to stories later; what is not known
is a fault.
"""

from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from qloop.agents.answer_schema import answer_schema
from qloop.agents.answers import FORM, Text, parse_answer
from qloop.plan.values import STORY_ID, Json

NAME = "plan"
"""The name of the schema."""
KEY = "stories"
"""What an object has that is such an answer."""

Id = Annotated[str, StringConstraints(pattern=STORY_ID)]


class _Part(BaseModel):
    model_config = FORM


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
    """The plan in a final answer. Raises MalformedAnswer."""
    return parse_answer(PlanAnswer, answer, KEY)
