"""The upscaler: makes the document of a mission from its directive.

Code keeps the directive and says what the repository is; an agent, where one is set, adds
problem, goals, approach and acceptance criteria. A document that is there is left as it is.
"""

from pathlib import Path

from qloop.agents.prompt import quoted
from qloop.agents.role_answers import SpecificationAnswer
from qloop.mission.asking import Asks, Judged, form_question, judging, reading_place
from qloop.mission.context_text import mission_text
from qloop.mission.direct_plan import has_stories
from qloop.mission.hand_off import Member
from qloop.mission.phase_desk import PhaseDesk, Result
from qloop.mission.phase_order import MissionContext
from qloop.mission.specification import (
    check_kept,
    numbered,
    render_specification,
    sentences_of,
    specification_of,
)
from qloop.plan.prd_front import split_front_matter
from qloop.run.planning import read_text
from qloop.state.codebase import Facts
from qloop.state.intent import plain_lines
from qloop.state.lifecycle import read_lifecycle, read_real
from qloop.state.sections import section_text
from qloop.ui.recon_pages import recon_lines

UPSCALER = "upscaler"


def upscale(desk: PhaseDesk, facts: Facts) -> Result:
    """Make spec.md where there is none; `note` says how it came about.

    `criteria` are the acceptance criteria that an agent gave.
    """
    if desk.spec.exists():
        given = has_stories(read_text(desk.spec))
        return {"note": "spec.md has stories" if given else "spec.md was there", "criteria": []}
    front, directive = _parts(desk)
    desk.tell("upscaler makes spec.md of the directive")
    judged = _ask(desk, directive, facts, UPSCALER, judging(desk))
    text = render_specification(directive, judged.answer, facts)
    desk.write("spec.md", front + text)
    criteria = [] if judged.answer is None else judged.answer.acceptance_criteria
    return {"note": judged.note, "criteria": [one.text for one in criteria]}


def specify(desk: PhaseDesk, facts: Facts, member: Member) -> None:
    """The same by a member of an intent's team, whose specification always has criteria.

    Without an agent each sentence of the intent is one.
    """
    if read_real(desk.spec) is not None:
        return
    front, directive = _parts(desk)
    desk.tell(f"{member.role}: spec.md")
    judged = _ask(desk, directive, facts, member.role, member.ask)
    answer = judged.answer or specification_of(directive)
    member.put("spec.md", front + render_specification(directive, answer, facts))


def _parts(desk: PhaseDesk) -> tuple[str, str]:
    """What the directive says of the whole plan, as front matter, and its words."""
    text = plain_lines(directive_of(desk.folder, desk.order.mission_context))
    front, body = split_front_matter(text)
    return (f"---\n{front}---\n\n" if body and front else "", body or front)


def directive_of(folder: Path, context: MissionContext) -> str:
    """All that is wanted: the text of the intent's document, else what the mission was told."""
    return section_text(read_lifecycle(folder).document or "", "Intent") or context.directive


def upscaler_values(context: MissionContext, directive: str, facts: Facts) -> dict[str, str]:
    """What fills the upscaler's prompt."""
    return {
        "mission": mission_text(context),
        "sentences": numbered(sentences_of(directive)),
        "facts": "\n".join(recon_lines(facts)),
    }


def _ask(
    desk: PhaseDesk, directive: str, facts: Facts, role: str, asks: Asks
) -> Judged[SpecificationAnswer]:
    commit = desk.repository.git.find("HEAD^{commit}")
    if commit is None:
        return Judged(None, "there is no commit that an agent could read")
    sentences = sentences_of(directive)
    values = upscaler_values(desk.order.mission_context, directive, facts)
    decided = section_text(read_lifecycle(desk.folder).document or "", "Context")
    if role != UPSCALER and decided:
        values["mission"] += f"\n\nContext, as it was thought over:\n\n{quoted(decided)}"
    question = form_question(
        role,
        "makes a specification of the directive",
        values,
        SpecificationAnswer,
        lambda answer: check_kept(answer, sentences),
    )
    return asks(reading_place(desk, commit), question)
