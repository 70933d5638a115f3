"""What agents add to a refinement: remarks on pages and flows, words of personas, what to do.

Each is asked after code has done its part, in a read-only checkout, and only where an agent is
set for its role; what keeps one from answering is said, and ends nothing.
Errors: KeyboardInterrupt where it is told to stop.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from qloop.agents.answers import MalformedAnswer
from qloop.agents.prompt import bullet_list, quoted
from qloop.agents.role_answers import PersonaAnswer, Remark, RemarksAnswer, SynthesisAnswer
from qloop.mission.asking import Judged, form_question, judge
from qloop.run.config_refinement import Persona
from qloop.run.reading_desk import ReadingPlace
from qloop.state.refinement import (
    JUDGED,
    Advice,
    Counsel,
    Finding,
    FlowResult,
    Flows,
    PageSeen,
    PersonaWord,
    Place,
    Remarks,
    Severity,
    Source,
    Visual,
)
from qloop.system.cancel import Cancel

INSPECTOR, EXERCISER = "visual-inspector", "e2e-exerciser"
PERSONA, SYNTH = "persona-simulator", "refinement-synth"
MOST_TEXT = 600
NOTHING = "(none)"


@dataclass(frozen=True, slots=True)
class Jury:
    """Where agents read, and what they are told of the mission."""

    place: ReadingPlace
    mission: str
    pictures: Path
    """The folder of screenshots."""
    logs: Path
    """The folder of the flows' logs."""
    tell: Callable[[str], None]
    cancel: Cancel

    def remark_on_pages(self, visual: Visual) -> Remarks:
        """What somebody who looks at the pages finds beside what code has found."""
        values = {"pages": self._pages(visual.pages), "known": _known(visual.findings)}
        return self._remarks(INSPECTOR, "looks at the pages", "visual", values)

    def remark_on_flows(self, flows: Flows) -> Remarks:
        """The same of flows."""
        values = {"flows": self._flows(flows.results), "known": _known(flows.findings)}
        return self._remarks(EXERCISER, "looks at the flows", "flow", values)

    def ask_persona(self, persona: Persona, visual: Visual, flows: Flows) -> PersonaWord:
        """What an agent says that plays *persona*; why none did, where nobody could."""
        pages, tried = self._pages(visual.pages), self._flows(flows.results)
        values = {
            "mission": self.mission,
            "persona": persona.name,
            "about": quoted(persona.about),
            "seen": f"Pages:\n\n{pages}\n\nFlows that were tried:\n\n{tried}",
        }
        task = f"is {persona.name}"
        question = form_question(PERSONA, task, values, PersonaAnswer, lambda said: said)
        judged: Judged[PersonaAnswer] = judge(self.place, question, self.tell, self.cancel)
        if judged.answer is None:
            return PersonaWord(name=persona.name, why=judged.note)
        findings = _findings(judged.answer.findings, "persona", f"{persona.name}: ")
        return PersonaWord(
            name=persona.name,
            recommends=judged.answer.would_recommend,
            why=judged.answer.why,
            findings=findings,
        )

    def counsel(self, findings: Sequence[Finding]) -> Counsel:
        """What is to be done about findings, of which several may have one cause."""
        listed = [f"{number}. {_told(one)}" for number, one in enumerate(findings, start=1)]
        values = {"mission": self.mission, "findings": quoted("\n".join(listed))}
        question = form_question(
            SYNTH,
            "puts the findings together",
            values,
            SynthesisAnswer,
            lambda said: _whole(said, findings),
        )
        judged: Judged[SynthesisAnswer] = judge(self.place, question, self.tell, self.cancel)
        made = () if judged.answer is None else judged.answer.improvements
        advice = tuple(
            Advice(title=one.title, text=one.text, findings=tuple(one.findings)) for one in made
        )
        return Counsel(advice=advice, note=judged.note)

    def _remarks(self, role: str, task: str, source: Source, values: dict[str, str]) -> Remarks:
        given = {"mission": self.mission, **values}
        question = form_question(role, task, given, RemarksAnswer, lambda said: said)
        judged: Judged[RemarksAnswer] = judge(self.place, question, self.tell, self.cancel)
        found = () if judged.answer is None else judged.answer.findings
        return Remarks(findings=_findings(found, source), note=judged.note)

    def _pages(self, pages: Sequence[PageSeen]) -> str:
        return bullet_list([self._page(one) for one in pages], NOTHING)

    def _page(self, page: PageSeen) -> str:
        pictures = ", ".join(str(self.pictures / name) for name in page.pictures)
        head = f"{page.name}: status {page.status}, title {page.title!r}"
        shown = f"{head}, pictures: {pictures}" if pictures else head
        text = page.text[:MOST_TEXT]
        return f"{shown}\n{quoted(text)}" if text else shown

    def _flows(self, results: Sequence[FlowResult]) -> str:
        return bullet_list([self._flow(one) for one in results], NOTHING)

    def _flow(self, one: FlowResult) -> str:
        log = f", its log: {self.logs / one.log}" if one.log else ""
        return f"{one.name} is {'green' if one.green else 'red'}{log}\n{quoted(one.line)}"


def _known(findings: Iterable[Finding]) -> str:
    return quoted("\n".join(_told(one) for one in findings)) or NOTHING


def _told(one: Finding) -> str:
    places = ", ".join(str(place) for place in one.places[:3])
    return f"{one.severity}: {one.text} ({places})"


def _findings(remarks: Iterable[Remark], source: Source, who: str = "") -> tuple[Finding, ...]:
    return tuple(
        Finding(
            severity=Severity(one.severity),
            source=source,
            rule=JUDGED,
            text=f"{who}{one.text}",
            places=tuple(Place(what=place) for place in one.places),
        )
        for one in remarks
    )


def _whole(said: SynthesisAnswer, findings: Sequence[Finding]) -> SynthesisAnswer:
    """The same, if it leaves out nothing critical and names no number that there is not."""
    named = [number for one in said.improvements for number in one.findings]
    numbers = range(1, len(findings) + 1)
    wrong = [f"there is no finding {one}" for one in dict.fromkeys(named) if one not in numbers]
    wrong += [f"finding {one} is mended twice" for one in set(named) if named.count(one) > 1]
    wrong += [
        f"finding {number} is critical, and no improvement mends it"
        for number, one in enumerate(findings, start=1)
        if one.severity is Severity.CRITICAL and number not in named
    ]
    if wrong:
        raise MalformedAnswer(*wrong)
    return said
