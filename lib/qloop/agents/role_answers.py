"""What the agents of a mission's phases answer, each in a form of its own.

Their answers add judgement to what code has found out; a claim counts by the places that it
cites, as `path:line` or `path:first-last`.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from qloop.agents.answer_schema import answer_schema
from qloop.agents.answers import FORM, Place, Text

Places = Annotated[list[Place], Field(min_length=1)]


class _Part(BaseModel):
    model_config = FORM


class Claim(_Part):
    """Something that holds in the repository."""

    text: Annotated[Text, Field(description="In one sentence.")]
    evidence: Places


class Purpose(_Part):
    """What one of the repository's entry points is there for."""

    path: Text
    purpose: Annotated[Text, Field(description="In one sentence.")]
    evidence: Places


class SurveyAnswer(_Part):
    """A scout's whole answer."""

    patterns: Annotated[list[Claim], Field(description="How things are built here.")]
    conventions: Annotated[list[Claim], Field(description="Rules that the code keeps.")] = []
    gotchas: Annotated[
        list[Claim], Field(description="What would surprise somebody who changes the code.")
    ] = []
    entry_points: list[Purpose] = []


class Decision(_Part):
    """Something that was open, and how it is to be."""

    text: Annotated[Text, Field(description="What is decided, in a sentence.")]
    why: Annotated[Text, Field(description="The reason, and what was not taken instead.")]


class IdeasAnswer(_Part):
    """The whole answer of somebody who thinks an intent over."""

    decisions: Annotated[list[Decision], Field(min_length=1)]
    findings: Annotated[
        list[Claim], Field(description="What the repository has that bears on it.")
    ] = []
    open_questions: Annotated[list[Text], Field(description="What only a person could say.")] = []


class Point(_Part):
    """One point of a specification."""

    text: Annotated[Text, Field(description="In a sentence or two.")]
    sentences: Annotated[
        list[int], Field(description="Numbers of the directive's sentences that it keeps.")
    ] = []


class SpecificationAnswer(_Part):
    """An upscaler's whole answer."""

    title: Annotated[Text, Field(description="What the whole is called, in a few words.")]
    problem: Annotated[Text, Field(description="What is wrong or missing today, and for whom.")]
    goals: Annotated[list[Point], Field(min_length=1)]
    non_goals: Annotated[list[Point], Field(description="What is left alone on purpose.")] = []
    approach: Annotated[
        list[Point], Field(description="How, in terms of this repository's own parts.")
    ] = []
    acceptance_criteria: Annotated[
        list[Point], Field(min_length=1, description="What can be seen to hold in the end.")
    ]


class Remark(_Part):
    """One thing to improve."""

    severity: Annotated[
        Literal["critical", "minor"],
        Field(description="A critical one keeps people from what they came for."),
    ]
    text: Annotated[Text, Field(description="What is wrong, and what would be right.")]
    places: Annotated[
        list[Text],
        Field(min_length=1, description="A page, a flow, or a file as `path:line`."),
    ]


class RemarksAnswer(_Part):
    """The whole answer of somebody who looks at pages or flows."""

    findings: list[Remark]


class PersonaAnswer(_Part):
    """The whole answer of somebody who plays a persona."""

    would_recommend: bool
    why: Annotated[Text, Field(description="In the persona's own words, a sentence or two.")]
    findings: list[Remark] = []


class Improvement(_Part):
    """One thing to do about one or several findings."""

    title: Annotated[Text, Field(description="What to do, in a few words.")]
    severity: Literal["critical", "minor"]
    text: Annotated[Text, Field(description="What to do, and why.")]
    findings: Annotated[
        list[int], Field(min_length=1, description="The numbers of the findings that it mends.")
    ]


class SynthesisAnswer(_Part):
    """A refinement synthesiser's whole answer."""

    improvements: list[Improvement]


class DiagnosisAnswer(_Part):
    """A debugger's whole answer."""

    cause: Annotated[Text, Field(description="Why it failed, in a sentence or two.")]
    evidence: Places
    fix: Annotated[Text, Field(description="The smallest change that would mend it.")]
    files: Annotated[list[Text], Field(description="The files that it would change.")] = []


ROLE_ANSWERS: dict[str, tuple[type[BaseModel], str]] = {
    "survey": (SurveyAnswer, "patterns"),
    "ideas": (IdeasAnswer, "decisions"),
    "specification": (SpecificationAnswer, "acceptanceCriteria"),
    "remarks": (RemarksAnswer, "findings"),
    "persona": (PersonaAnswer, "wouldRecommend"),
    "synthesis": (SynthesisAnswer, "improvements"),
    "diagnosis": (DiagnosisAnswer, "cause"),
}
"""Each form by the name of its schema, with what an object has that is such an answer."""


def role_answer_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of the form of that name."""
    return answer_schema(ROLE_ANSWERS[name][0], name)
