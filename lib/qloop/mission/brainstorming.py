"""Brainstorming: what has to be decided before an intent is specified, and how.

Code says what the repository is, and takes the intent by its words; an agent, where one is set,
adds decisions with their reasons, findings that it can show, and questions left open.
"""

from qloop.agents.prompt import bullet_list
from qloop.agents.role_answers import IdeasAnswer
from qloop.mission.asking import Judged, find_cited, form_question, reading_place
from qloop.mission.context_text import mission_text
from qloop.mission.hand_off import Member
from qloop.mission.member_call import is_without
from qloop.mission.phase_desk import PhaseDesk
from qloop.mission.specification import numbered, sentences_of
from qloop.mission.upscaling import directive_of
from qloop.state.codebase import Facts
from qloop.state.insights import add_insight
from qloop.state.lifecycle import Stage, document_of, read_lifecycle
from qloop.state.sections import section_text, with_lines
from qloop.system.errors import InputMissing
from qloop.ui.recon_pages import recon_lines
from qloop.ui.report_markdown import fenced

BRAINSTORMING = "brainstorming"


def brainstorm(desk: PhaseDesk, member: Member, facts: Facts) -> None:
    """Fill `## Context` of the intent's document, where that says nothing yet."""
    document = document_of(desk.folder)
    text = read_lifecycle(desk.folder).document
    if document is None or text is None:
        raise InputMissing(
            "the intent has no document", where=str(desk.folder), fix="put it back first"
        )
    if section_text(text, "Context"):
        return
    desk.tell("brainstorming: what is to be decided")
    judged = _ask(desk, member, facts)
    lines = _context(desk, judged, facts)
    if not is_without(desk, BRAINSTORMING):
        for line in _decisions(judged):
            _note(desk, line)
    text = document.read_bytes().decode("utf-8", "surrogateescape")
    member.put(document.name, with_lines(text, "Context", ["", *lines]))


def _ask(desk: PhaseDesk, member: Member, facts: Facts) -> Judged[IdeasAnswer]:
    commit = desk.repository.git.find("HEAD^{commit}")
    if commit is None:
        return Judged(None, "there is no commit that an agent could read")
    context = desk.order.mission_context
    values = {
        "mission": mission_text(context),
        "sentences": numbered(sentences_of(directive_of(desk.folder, context))),
        "facts": "\n".join(recon_lines(facts)),
    }
    question = form_question(
        BRAINSTORMING, "thinks the intent over", values, IdeasAnswer, lambda answer: answer
    )
    place = reading_place(desk, commit)
    return member.ask(place, question)


def _context(desk: PhaseDesk, judged: Judged[IdeasAnswer], facts: Facts) -> list[str]:
    said = judged.answer
    lines = [*fenced("\n".join(recon_lines(facts)))[1:], "### Decisions", ""]
    lines += [f"- {one}" for one in _decisions(judged)]
    if said is None:
        return lines
    commit = desk.repository.git.find("HEAD^{commit}") or ""
    places = {place for one in said.findings for place in one.evidence}
    known = find_cited(desk.repository, commit, places)
    shown = [
        f"{_line(one.text)} ({', '.join(f'`{p}`' for p in one.evidence if p in known)})"
        for one in said.findings
        if known.intersection(one.evidence)
    ]
    for title, rows in (("Findings", shown), ("Open questions", said.open_questions)):
        if rows:
            lines += ["", f"### {title}", "", bullet_list([_line(row) for row in rows], "")]
    return lines


def _decisions(judged: Judged[IdeasAnswer]) -> list[str]:
    if judged.answer is None:
        return [f"The intent is taken by its words: {judged.note}."]
    return [f"{_line(one.text)}: {_line(one.why)}" for one in judged.answer.decisions]


def _note(desk: PhaseDesk, text: str) -> None:
    """A decision that nobody was asked about."""
    if text not in (read_lifecycle(desk.folder).document or ""):
        add_insight(desk.folder, text, stage=Stage.WHY, author=BRAINSTORMING, is_autonomous=True)


def _line(text: str) -> str:
    return " ".join(text.split())
