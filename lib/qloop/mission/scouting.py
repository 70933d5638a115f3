"""What a scout that is an agent adds to the facts: claims, each with places that exist."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from qloop.agents.role_answers import Claim, Purpose, SurveyAnswer
from qloop.mission.asking import (
    find_cited,
    form_question,
    judging,
    reading_place,
    uncited,
)
from qloop.mission.context_text import mission_text
from qloop.mission.phase_desk import PhaseDesk, Result
from qloop.mission.phase_order import MissionContext
from qloop.repo.checkout import Repository
from qloop.state.phases import Warmth
from qloop.ui.report_markdown import code, plain

SCOUT = "scout"
Shown = TypeVar("Shown", Claim, Purpose)
GROUPS = {"patterns": "Patterns", "conventions": "Conventions", "gotchas": "Gotchas"}


def ask_scout(desk: PhaseDesk, commit: str, facts: str) -> Result:
    """The scout's survey as JSON under `survey`, null without one; `note` says who or why."""
    values = scout_values(desk.order.mission_context, facts)
    task = "reads the repository"
    repository = desk.repository
    question = form_question(
        SCOUT, task, values, SurveyAnswer, lambda said: keep_shown(repository, commit, said)
    )
    place = reading_place(desk, commit)
    judged = judging(desk)(place, question)
    survey = None if judged.answer is None else judged.answer.model_dump(mode="json", by_alias=True)
    return {"survey": survey, "note": judged.note}


def scout_values(context: MissionContext, facts: str) -> dict[str, str]:
    """What fills the scout's prompt."""
    return {"mission": mission_text(context), "facts": facts}


def keep_shown(repository: Repository, commit: str, said: SurveyAnswer) -> SurveyAnswer:
    """The survey without claims that no place in *commit* shows.

    Raises MalformedAnswer where that leaves nothing of what was said.
    """
    claims: list[Claim | Purpose] = [*said.patterns, *said.conventions, *said.gotchas]
    asked = [place for one in [*claims, *said.entry_points] for place in one.evidence]
    there = find_cited(repository, commit, asked)
    if asked and not there:
        raise uncited(asked[:5])
    shown = {name: _shown(getattr(said, name), there) for name in GROUPS}
    return said.model_copy(update={**shown, "entry_points": _shown(said.entry_points, there)})


def survey_of(result: Result) -> SurveyAnswer | None:
    """The survey in a step's result."""
    found = result["survey"]
    return None if found is None else SurveyAnswer.model_validate(found)


def survey_warmth(survey: SurveyAnswer | None) -> Warmth:
    """What all later phases are told of it."""
    if survey is None:
        return Warmth()
    kept = [*survey.patterns, *survey.conventions]
    return Warmth(patterns=_texts(kept), gotchas=_texts(survey.gotchas))


def render_survey(survey: SurveyAnswer | None, note: str) -> str:
    """The part of RECON_REPORT.md that an agent wrote, marked as such."""
    return "\n".join(["", "## What the scout adds", "", f"{plain(note)}.", *_body(survey), ""])


def _body(survey: SurveyAnswer | None) -> Iterator[str]:
    if survey is None:
        return
    for name, title in GROUPS.items():
        claims: Sequence[Claim] = getattr(survey, name)
        if claims:
            yield from ("", f"### {title}", "")
            yield from (f"- {plain(one.text)} ({_places(one)})" for one in claims)
    if survey.entry_points:
        yield from ("", "### What entry points are for", "")
    for one in survey.entry_points:
        yield f"- {code(one.path)}: {plain(one.purpose)} ({_places(one)})"


def _places(one: Claim | Purpose) -> str:
    return ", ".join(map(code, one.evidence))


def _shown(claims: Sequence[Shown], there: frozenset[str]) -> list[Shown]:
    found = [(one, [place for place in one.evidence if place in there]) for one in claims]
    return [one.model_copy(update={"evidence": places}) for one, places in found if places]


def _texts(claims: Sequence[Claim]) -> tuple[str, ...]:
    return tuple(f"{one.text} ({one.evidence[0]})" for one in claims)
