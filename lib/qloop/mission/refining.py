"""A refinement, step by step: what code sees and tries, what agents add, then its pages.

Errors: those of `showing`; KeyboardInterrupt where an agent is told to stop.
"""

import re
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from pydantic import BaseModel

from qloop.mission.improvement_prd import render_prd
from qloop.mission.judges import EXERCISER, INSPECTOR, PERSONA, SYNTH, Jury
from qloop.mission.showing import E2E, SHOTS, Scene, Show
from qloop.mission.synthesis import merge_findings, plan_improvements
from qloop.state.refinement import (
    Counsel,
    Finding,
    Flows,
    Personas,
    PersonaWord,
    Refinement,
    Remarks,
    Visual,
)
from qloop.system.files import write_atomic
from qloop.ui.refinement_pages import render_persona, render_plan

PLAN, PRD, PERSONAS = "REFINEMENT_PLAN.md", "refinement-prd.md", "personas"
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")

Made = TypeVar("Made", bound=BaseModel)
Result = dict[str, Any]
Step = Callable[[str, object, Callable[[], Result]], Result]
"""The result of a step that was done about the same, else that of doing it now."""


def do_now(_name: str, _about: object, make: Callable[[], Result]) -> Result:
    """A step where none is remembered."""
    return make()


def refine(scene: Scene, step: Step) -> Refinement:
    """Do every step, and write what was found into the scene's folder."""
    scene.folder.mkdir(parents=True, exist_ok=True)
    steps = _Steps(scene, step)
    visual, flows = steps.look_and_try()
    jury = Jury(
        scene.agents,
        scene.mission,
        scene.folder / SHOTS,
        scene.folder / E2E,
        scene.tell,
        scene.cancel,
    )
    notes: list[str] = []
    if visual.pages:
        remarks = steps.judge(INSPECTOR, Remarks, lambda: jury.remark_on_pages(visual))
        visual = visual.model_copy(update={"findings": (*visual.findings, *remarks.findings)})
        notes.append(remarks.note)
    if flows.results:
        remarks = steps.judge(EXERCISER, Remarks, lambda: jury.remark_on_flows(flows))
        flows = flows.model_copy(update={"findings": (*flows.findings, *remarks.findings)})
        notes.append(remarks.note)
    personas = steps.ask_personas(jury, visual, flows)
    findings = merge_findings((*flows.findings, *visual.findings, *personas.findings))
    counsel = steps.advise(jury, findings)
    refinement = Refinement(
        commit=scene.commit,
        visual=visual,
        flows=flows,
        personas=personas,
        findings=findings,
        advice=counsel.advice,
        notes=tuple(note for note in (*notes, counsel.note) if note),
    )
    _write_pages(scene, refinement)
    return refinement


@dataclass(frozen=True, slots=True)
class _Steps:
    """The steps of one refinement, each done once about the same commit and settings."""

    scene: Scene
    step: Step

    def look_and_try(self) -> tuple[Visual, Flows]:
        """What code sees of pages, and what becomes of the flows, on one site for both."""
        with ExitStack() as undo:
            show = Show(self.scene, undo)
            visual = self._do(INSPECTOR, self._about, Visual, show.inspect)
            return visual, self._do(EXERCISER, self._about, Flows, show.exercise)

    def judge(
        self, name: str, model: type[Made], make: Callable[[], Made], about: object = None
    ) -> Made:
        """What an agent adds; *name* is its role's, and whatever tells it from others."""
        config = self.scene.config
        asked = config.model_dump(mode="json", include={"runner", "model", "roles"})
        return self._do(f"{name}, an agent", [self._about, asked, about], model, make)

    def ask_personas(self, jury: Jury, visual: Visual, flows: Flows) -> Personas:
        """What each declared persona says; a page each."""
        said = []
        for one in self.scene.config.refinement.personas:
            make = partial(jury.ask_persona, one, visual, flows)
            word = self.judge(f"{PERSONA} {one.name}", PersonaWord, make)
            name = _UNSAFE.sub("-", one.name).strip("-")
            page = self.scene.folder / PERSONAS / f"{name}.md"
            write_atomic(page, render_persona(word, one.about).encode())
            said.append(word)
        return Personas(said=tuple(said))

    def advise(self, jury: Jury, findings: tuple[Finding, ...]) -> Counsel:
        """What is to be done, where there is more than one thing to put together."""
        self.scene.tell(f"{SYNTH} puts the findings in order")
        if len(findings) < 2:
            return Counsel(note="")
        about = [one.model_dump(mode="json") for one in findings]
        return self.judge(SYNTH, Counsel, lambda: jury.counsel(findings), about)

    def _do(self, name: str, about: object, model: type[Made], make: Callable[[], Made]) -> Made:
        done = self.step(name, about, lambda: make().model_dump(mode="json"))
        return model.model_validate(done)

    @property
    def _about(self) -> object:
        settings = self.scene.config.refinement.model_dump(mode="json")
        return {"commit": self.scene.commit, "settings": settings}


def _write_pages(scene: Scene, refinement: Refinement) -> None:
    """The plan for people, and a document to compile, where there is something to do."""
    write_atomic(scene.folder / PLAN, render_plan(refinement).encode())
    prd = scene.folder / PRD
    improvements = plan_improvements(refinement.findings, (), refinement.advice)
    if not improvements:
        prd.unlink(missing_ok=True)
        return
    write_atomic(prd, render_prd(improvements, scene.plan, files_of(refinement)).encode())


def files_of(refinement: Refinement) -> tuple[str, ...]:
    """The places that are files of the repository."""
    is_files = refinement.visual.source == "files"
    return tuple(page.name for page in refinement.visual.pages) if is_files else ()
