"""The planner: the mission's document becomes a plan, by code or by an agent.

Errors: Faults for a document whose stories cannot be a plan; those of the talk with an agent,
where the document has no stories and one is set.
"""

from collections.abc import Sequence
from typing import TypeVar

from qloop.agents.answers import MalformedAnswer
from qloop.agents.prompt import quoted
from qloop.mission.action_plan import has_actions, plan_of_actions
from qloop.mission.asking import Asks, Judged, reading_place
from qloop.mission.context_text import mission_text
from qloop.mission.coverage import Criterion, criteria_of_plan, find_uncovered, told_gaps
from qloop.mission.direct_plan import ONLY_STORY, has_stories, title_of
from qloop.mission.held import kept
from qloop.mission.phase_desk import PhaseDesk, Result
from qloop.mission.plan_filling import fill_plan
from qloop.mission.specification import sentences_of
from qloop.mission.upscaling import directive_of
from qloop.plan.model import Json
from qloop.plan.prd import compile_prd, in_order
from qloop.plan.prd_front import parse_front_matter, split_front_matter
from qloop.plan.prose import Prose, assemble, read_prose
from qloop.plan.validate import check_plan
from qloop.run.planner import checked_plan, planner_question
from qloop.run.planner_brief import PLANNER
from qloop.run.planning import path_in_plan, read_text
from qloop.run.readers import find_readers
from qloop.run.reading_call import ask
from qloop.run.reading_desk import ReadingPlace
from qloop.run.talk import Question
from qloop.state.codebase import Facts
from qloop.system.clock import utc_now
from qloop.ui.recon_pages import recon_lines

Made = TypeVar("Made")


def make_plan(desk: PhaseDesk, facts: Facts, criteria: list[str], note: str) -> Result:
    """The plan as JSON under `plan`; `told` are sentences on how it came about.

    *criteria* are of the one story where nobody makes several, *note* is what a person said of
    the plan before this one.
    """
    text = read_text(desk.spec)
    if has_actions(desk.folder):
        is_new = facts.is_greenfield
        made = plan_of_actions(desk.folder, desk.repository.root, is_greenfield=is_new)
        how = "the actions are its stories"
    else:
        made, how = plan_of_spec(desk, facts, criteria, note, _asking(desk))
    named = _named(text)
    made, told = fill_plan(made, named, facts)
    if "branchName" not in named:
        made["branchName"] = f"ql/{desk.folder.name}"
    check_plan(made, str(desk.spec))
    return {"plan": in_order(made), "told": [how, *told]}


def plan_of_spec(
    desk: PhaseDesk,
    facts: Facts,
    criteria: list[str],
    note: str,
    asks: Asks,
    covered: Sequence[Criterion] = (),
) -> tuple[Json, str]:
    """The plan that spec.md is or gives, and how it came about; *asks* puts it to a planner.

    *covered* are criteria that each have to be met by a story of the planner's.
    """
    text = read_text(desk.spec)
    path = path_in_plan(desk.spec, desk.repository.root)
    if has_stories(text):
        return compile_prd(text, path=path, now=utc_now()), "compiled from spec.md"
    prose = read_prose(text, path)
    asked = _asked(desk, prose, _beside(desk, facts, note, covered), asks, covered)
    if asked.answer is not None:
        return asked.answer, f"made by {asked.note}"
    directive = directive_of(desk.folder, desk.order.mission_context)
    title = title_of(directive)
    only = {"id": ONLY_STORY, "title": title, "description": directive}
    must = criteria or list(sentences_of(directive))
    told = {"project": title, "stories": [{**only, "acceptanceCriteria": must}]}
    return assemble(prose, told, None, now=utc_now()), f"{asked.note}: one story for all"


def _asking(desk: PhaseDesk) -> Asks:
    """A planner on whom the plan hangs: what keeps one that is set from answering is raised."""

    def ask_planner(place: ReadingPlace, question: Question[Made], /) -> Judged[Made]:
        readers = find_readers(PLANNER, desk.config, desk.repository.root)
        if not readers:
            return Judged(None, "no planner is set")
        with kept(desk.folder, PLANNER, desk.tell):
            made = ask(place, question, readers, desk.tell, desk.cancel)
        return Judged(made, readers[0].label)

    return ask_planner


def _asked(
    desk: PhaseDesk, prose: Prose, beside: str, asks: Asks, covered: Sequence[Criterion]
) -> Judged[Json]:
    commit = desk.repository.git.find("HEAD^{commit}")
    if commit is None:
        return Judged(None, "there is no commit that an agent could read")
    now = utc_now()

    def read(told: Json) -> Json:
        made = checked_plan(prose, None, told, now)
        gaps = find_uncovered(covered, criteria_of_plan(made))
        if gaps:
            raise MalformedAnswer(*told_gaps(gaps))
        return made

    question = planner_question(prose, None, read, beside)
    return asks(reading_place(desk, commit), question)


def _beside(desk: PhaseDesk, facts: Facts, note: str, covered: Sequence[Criterion]) -> str:
    """What the planner is told beside the document."""
    parts = [f"## The mission\n\n{mission_text(desk.order.mission_context)}"]
    parts += [f"A person says of the plan before this one:\n\n{quoted(note)}"] if note else []
    if covered:
        must = "Each is to be met by a story, one of whose criteria begins with its id."
        rows = "\n".join(f"- {one}" for one in covered)
        parts.append(f"## What the stories have to cover\n\n{must}\n\n{rows}")
    parts.append("## What the repository is\n\n" + "\n".join(recon_lines(facts)))
    return "\n\n".join(parts)


def _named(text: str) -> frozenset[str]:
    source, _ = split_front_matter(text.replace("\r\n", "\n"))
    return frozenset(parse_front_matter(source).fields)
