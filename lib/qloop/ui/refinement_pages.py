"""What a refinement leaves for people to read: its plan, and what it says in short. Pure."""

from collections.abc import Iterable, Sequence

from qloop.state.refinement import (
    JUDGED,
    Advice,
    Finding,
    PersonaWord,
    Place,
    Refinement,
    Severity,
    count_words,
)
from qloop.ui.markup import clean
from qloop.ui.report_markdown import code, fenced, plain

MOST_PLACES = 20
MOST_EVIDENCE = 2_000


def render_plan(refinement: Refinement) -> str:
    """REFINEMENT_PLAN.md."""
    lines = [
        "# Refinement plan",
        "",
        plain(refinement.summary),
        "",
        f"Looked at: {code(refinement.commit)}. All together: {count_words(refinement.findings)}.",
        "",
    ]
    lines += _advice(refinement.advice)
    numbered = list(enumerate(refinement.findings, start=1))
    for severity in Severity:
        own = [(number, one) for number, one in numbered if one.severity is severity]
        lines += [f"## {severity.capitalize()}", "", *(_findings(own) or ["Nothing.", ""])]
    lines += ["## Flows", "", *_flows(refinement)]
    lines += ["## Personas", "", *_personas(refinement)]
    lines += ["## Pages", "", *_pages(refinement)]
    notes = (*refinement.notes, *refinement.visual.notes, *refinement.flows.notes)
    if notes:
        lines += ["## To know", "", *(f"- {plain(note)}" for note in notes), ""]
    return "\n".join(lines)


def render_short(refinement: Refinement) -> str:
    """What was found, for a terminal: a line each, then the summary.

    Of agents that were not asked, or could not answer, the page tells.
    """
    lines = [
        f"{one.severity:8}  {one.places[0]}  {clean(one.text)}"
        + (f" (and {len(one.places) - 1} more)" if len(one.places) > 1 else "")
        for one in refinement.findings
    ]
    notes = (*refinement.visual.notes, *refinement.flows.notes)
    lines += [f"note      {clean(note)}" for note in notes]
    return "\n".join([*lines, refinement.summary])


def _findings(findings: Iterable[tuple[int, Finding]]) -> list[str]:
    lines: list[str] = []
    for number, one in findings:
        lines += [f"### {number}. {plain(one.text)}", ""]
        lines += [f"Found by: {_found_by(one)}. Where: {_places(one.places)}.", ""]
        if one.evidence:
            lines += [*fenced(one.evidence[-MOST_EVIDENCE:])[1:]]
    return lines


def _found_by(one: Finding) -> str:
    names = {
        "visual": "the visual inspector",
        "flow": "the end-to-end exerciser",
        "persona": "a persona",
    }
    judged = ", an agent's judgement" if one.rule == JUDGED and one.source != "persona" else ""
    return f"{names[one.source]}{judged}"


def _advice(advice: Sequence[Advice]) -> list[str]:
    """What an agent would do, marked as such."""
    if not advice:
        return []
    lines = ["## What an agent would do", ""]
    for number, one in enumerate(advice, start=1):
        about = ", ".join(map(str, one.findings))
        text = f"{plain(one.text)} (findings {about})"
        lines.append(f"{number}. **{plain(one.title)}**: {text}")
    return [*lines, ""]


def _places(places: Sequence[Place]) -> str:
    more = f" and {len(places) - MOST_PLACES} more" if len(places) > MOST_PLACES else ""
    return f"{', '.join(code(str(place)) for place in places[:MOST_PLACES])}{more}"


def _flows(refinement: Refinement) -> list[str]:
    results = refinement.flows.results
    if not results:
        return ["None.", ""]
    rows = [
        f"| {plain(one.name)} | {'green' if one.green else 'red'} | {plain(one.line)} "
        f"| {code(f'e2e/{one.log}') if one.log else ''} |"
        for one in results
    ]
    return ["| flow | result | how | log |", "| --- | --- | --- | --- |", *rows, ""]


def _personas(refinement: Refinement) -> list[str]:
    said = refinement.personas.said
    words = {True: "would recommend it", False: "would not recommend it", None: "was not asked"}
    lines = [f"- **{plain(one.name)}** {words[one.recommends]}: {plain(one.why)}" for one in said]
    return [*(lines or ["None are declared."]), ""]


def _pages(refinement: Refinement) -> list[str]:
    pages = refinement.visual.pages
    if not pages:
        return ["None.", ""]
    rows = [
        f"| {plain(one.name)} | {one.status or 'no answer'} | {plain(one.title)} "
        f"| {' '.join(code(f'screenshots/{name}') for name in one.pictures)} |"
        for one in pages
    ]
    return ["| page | status | title | screenshots |", "| --- | --- | --- | --- |", *rows, ""]


def render_persona(word: PersonaWord, about: str) -> str:
    """What one persona said."""
    said = {True: "Would recommend it.", False: "Would not recommend it.", None: "Was not asked."}
    lines = [f"# {plain(word.name)}", "", plain(about), "", said[word.recommends], ""]
    lines += [plain(word.why), ""]
    lines += _findings(enumerate(word.findings, start=1))
    return "\n".join(lines)
