"""A refinement, step by step: inspector, exerciser, personas, synthesiser; then its pages.

Errors: those of `showing`.
"""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from qloop.mission.improvement_prd import render_prd
from qloop.mission.showing import Scene, Show
from qloop.mission.synthesis import merge_findings, plan_improvements
from qloop.state.refinement import Flows, Personas, Refinement, Visual
from qloop.system.files import write_atomic
from qloop.ui.refinement_pages import render_plan

PLAN, PRD = "REFINEMENT_PLAN.md", "refinement-prd.md"

Result = dict[str, Any]
Step = Callable[[str, object, Callable[[], Result]], Result]
"""The result of a step that was done about the same, else that of doing it now."""


def do_now(_name: str, _about: object, make: Callable[[], Result]) -> Result:
    """A step where none is remembered."""
    return make()


def refine(scene: Scene, step: Step) -> Refinement:
    """Do every step, and write what was found into the scene's folder."""
    settings = scene.config.refinement
    about = {"commit": scene.commit, "settings": settings.model_dump(mode="json")}
    scene.folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as undo:
        show = Show(scene, undo)
        seen = step("visual-inspector", about, lambda: _json(show.inspect()))
        visual = Visual.model_validate(seen)
        tried = step("e2e-exerciser", about, lambda: _json(show.exercise()))
        flows = Flows.model_validate(tried)
    personas = Personas()
    scene.tell("refinement-synth puts the findings in order")
    found = (*flows.findings, *visual.findings, *personas.findings)
    refinement = Refinement(
        commit=scene.commit,
        visual=visual,
        flows=flows,
        personas=personas,
        findings=merge_findings(found),
    )
    write_pages(scene, refinement)
    return refinement


def write_pages(scene: Scene, refinement: Refinement) -> None:
    """The plan for people, and a document to compile, where there is something to do."""
    write_atomic(scene.folder / PLAN, render_plan(refinement).encode())
    prd = scene.folder / PRD
    improvements = plan_improvements(refinement.findings)
    if not improvements:
        prd.unlink(missing_ok=True)
        return
    write_atomic(prd, render_prd(improvements, scene.plan, files_of(refinement)).encode())


def files_of(refinement: Refinement) -> tuple[str, ...]:
    """The places that are files of the repository."""
    is_files = refinement.visual.source == "files"
    return tuple(page.name for page in refinement.visual.pages) if is_files else ()


def _json(value: Visual | Flows) -> Result:
    return value.model_dump(mode="json")
