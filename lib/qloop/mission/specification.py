"""The document of a mission: what a directive asks, kept sentence by sentence. Pure.

`spec.md` keeps the directive word for word; what an upscaler adds stands beside it. Sentences
count from 1.
"""

import re
from collections.abc import Iterator, Sequence

from qloop.agents.answers import MalformedAnswer
from qloop.agents.role_answers import Point, SpecificationAnswer
from qloop.mission.coverage import SECTION, identify
from qloop.mission.direct_plan import title_of
from qloop.state.codebase import Facts, Purpose

MOST_SENTENCES = 80
"""In a longer directive paragraphs are counted instead."""
COMMANDS: tuple[Purpose, ...] = ("setup", "build", "test", "lint", "types", "format")

_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)]|#{1,6})\s)")
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[^\s\da-z])")


def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences of a directive, or its paragraphs where it has too many."""
    paragraphs = [" ".join(one.split()) for one in _PARAGRAPH.split(text)]
    paragraphs = [one for one in paragraphs if any(sign.isalnum() for sign in one)]
    found = [part for one in paragraphs for part in _SENTENCE.split(one)]
    return tuple(paragraphs if len(found) > MOST_SENTENCES else found)


def numbered(sentences: Sequence[str]) -> str:
    """Sentences for a prompt, each behind its number."""
    return "\n".join(f"{number}. {text}" for number, text in enumerate(sentences, start=1))


def check_kept(answer: SpecificationAnswer, sentences: Sequence[str]) -> SpecificationAnswer:
    """The answer itself. Raises MalformedAnswer, which names the sentences that it lost."""
    points = _points(answer)
    kept = {number for point in points for number in point.sentences}
    known = range(1, len(sentences) + 1)
    lost = [
        f"sentence {number} stands in no point's sentences: {sentences[number - 1]}"
        for number in known
        if number not in kept
    ]
    strange = [f"there is no sentence {number}" for number in sorted(kept) if number not in known]
    if lost or strange:
        raise MalformedAnswer(*lost, *strange)
    return answer


def render_specification(directive: str, answer: SpecificationAnswer | None, facts: Facts) -> str:
    """The text of spec.md, in which no heading is a story's."""
    title = title_of(directive) if answer is None else " ".join(answer.title.split())
    lines = [f"# {title}", "", "## Directive", "", _as_quoted(directive), ""]
    if answer is not None:
        lines += ["## Problem", "", answer.problem.strip(), ""]
        lines += _section("Goals", answer.goals)
        lines += _section("Non-Goals", answer.non_goals)
        lines += _section("Approach", answer.approach)
        named = identify([" ".join(one.text.split()) for one in answer.acceptance_criteria])
        lines += [f"## {SECTION}", "", *(f"- [ ] {one}" for one in named), ""]
    lines += ["## What the repository is", "", *_facts(facts)]
    return "\n".join(lines).rstrip("\n") + "\n"


def specification_of(directive: str) -> SpecificationAnswer:
    """The specification that a directive is by its own words: each sentence is to hold."""
    sentences = sentences_of(directive) or (directive.strip() or title_of(directive),)
    points = [{"text": text, "sentences": [at]} for at, text in enumerate(sentences, start=1)]
    return SpecificationAnswer.model_validate(
        {
            "title": title_of(directive) or "Intent",
            "problem": "What the directive asks is not there yet.",
            "goals": points,
            "acceptanceCriteria": points,
        }
    )


def _points(answer: SpecificationAnswer) -> list[Point]:
    return [*answer.goals, *answer.non_goals, *answer.approach, *answer.acceptance_criteria]


def _section(title: str, points: Sequence[Point]) -> list[str]:
    rows = [f"- {' '.join(one.text.split())}" for one in points]
    return [f"## {title}", "", *(rows or ["None."]), ""]


def _facts(facts: Facts) -> Iterator[str]:
    languages = [one.name for one in facts.languages if one.is_source]
    yield f"- Languages: {', '.join(languages) or 'no source yet'}"
    for purpose in COMMANDS:
        found = facts.find_command(purpose)
        if found is not None:
            yield f"- {purpose}: `{found.command}` ({found.source.text})"
    for one in facts.documents:
        if one.kind in ("agents", "contributors"):
            yield f"- Rules: {one.source.path}"


def _as_quoted(text: str) -> str:
    """A quotation: what it holds is neither heading nor story of the document."""
    return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines())
