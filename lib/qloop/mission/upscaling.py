"""The upscaler: makes the document of a mission from its directive.

Code keeps the directive and says what the repository is; an agent, where one is set, adds
problem, goals, approach and acceptance criteria. A document that is there is left as it is.
"""

from pathlib import Path

from qloop.agents.role_answers import SpecificationAnswer
from qloop.mission.asking import Judged, form_question, judge, reading_place
from qloop.mission.context_text import mission_text
from qloop.mission.direct_plan import has_stories
from qloop.mission.phase_desk import PhaseDesk, Result
from qloop.mission.phase_order import MissionContext
from qloop.mission.specification import (
    check_kept,
    numbered,
    render_specification,
    sentences_of,
)
from qloop.plan.prd_front import split_front_matter
from qloop.state.codebase import Facts
from qloop.state.intent import plain_lines
from qloop.state.lifecycle import document_of
from qloop.state.sections import section_text
from qloop.ui.recon_pages import recon_lines

UPSCALER = "upscaler"


def upscale(desk: PhaseDesk, facts: Facts) -> Result:
    """Make spec.md where there is none; `note` says how it came about.

    `criteria` are the acceptance criteria that an agent gave.
    """
    if desk.spec.exists():
        given = has_stories(desk.spec.read_text("utf-8-sig"))
        return {"note": "spec.md has stories" if given else "spec.md was there", "criteria": []}
    front, body = split_front_matter(
        plain_lines(directive_of(desk.folder, desk.order.mission_context))
    )
    directive = body or front
    desk.tell("upscaler makes spec.md of the directive")
    judged = _ask(desk, directive, facts)
    text = render_specification(directive, judged.answer, facts)
    desk.write("spec.md", f"---\n{front}---\n\n{text}" if body and front else text)
    criteria = [] if judged.answer is None else judged.answer.acceptance_criteria
    return {"note": judged.note, "criteria": [one.text for one in criteria]}


def directive_of(folder: Path, context: MissionContext) -> str:
    """All that is wanted: the text of the intent's document, else what the mission was told."""
    document = document_of(folder)
    text = None if document is None else document.read_text("utf-8-sig")
    return section_text(text or "", "Intent") or context.directive


def upscaler_values(context: MissionContext, directive: str, facts: Facts) -> dict[str, str]:
    """What fills the upscaler's prompt."""
    return {
        "mission": mission_text(context),
        "sentences": numbered(sentences_of(directive)),
        "facts": "\n".join(recon_lines(facts)),
    }


def _ask(desk: PhaseDesk, directive: str, facts: Facts) -> Judged[SpecificationAnswer]:
    commit = desk.repository.git.find("HEAD^{commit}")
    if commit is None:
        return Judged(None, "there is no commit that an upscaler could read")
    sentences = sentences_of(directive)
    question = form_question(
        UPSCALER,
        "makes a specification of the directive",
        upscaler_values(desk.order.mission_context, directive, facts),
        SpecificationAnswer,
        lambda answer: check_kept(answer, sentences),
    )
    return judge(reading_place(desk, commit), question, desk.tell, desk.cancel)
