"""A plan made by an agent: asked, checked, told what is wrong, and asked again a few times.

Only a plan that could be run is believed.
Errors: those of the document, the repository and the runner, and of the talk.
"""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from qloop.agents.answers import MalformedAnswer
from qloop.agents.plan_answer import KEY, parse_plan_answer
from qloop.plan.model import Json
from qloop.plan.prose import Prose, assemble, read_prose
from qloop.plan.update import update_plan
from qloop.plan.validate import find_faults
from qloop.repo.checkout import Repository
from qloop.run.choosing import unbound_words
from qloop.run.config import Config, load_config
from qloop.run.planner_brief import PLANNER, render_planner
from qloop.run.planner_desk import hold_repository, planner_desk
from qloop.run.planning import Planned, path_in_plan, put_plan, read_text, take_former
from qloop.run.readers import Reader, pick_readers
from qloop.run.talk import Question, Say, Talk
from qloop.state.store import Store
from qloop.system.clock import utc_now
from qloop.system.errors import RunnerUnavailable
from qloop.system.interrupts import Interrupts
from qloop.system.tree import become_subreaper


def plan_by_agent(
    repository: Repository, store: Store, prd: Path, run_id: str, say: Say, *, update: bool
) -> Planned:
    """Have an agent make the plan of *prd*, and write it as the compiled one would be."""
    config = load_config(repository.root)
    prose = read_prose(read_text(prd), path_in_plan(prd, repository.root))
    planners = pick_planners(config, repository.root)
    for text in unbound_words(one.runner for one in planners):
        say(text)
    become_subreaper()
    with ExitStack() as undo:
        journal = undo.enter_context(hold_repository(repository, config, run_id))
        former = take_former(store, f"qloop plan --agent --update {prd}", update=update)
        interrupts = Interrupts()
        undo.callback(interrupts.close)
        base, runner = former if update else None, planners[0].runner
        desk = undo.enter_context(
            planner_desk(repository, config, journal, runner, base, interrupts.cancel)
        )
        now = utc_now()
        question = planner_question(prose, base, lambda told: checked_plan(prose, base, told, now))
        made = Talk(desk, question, list(planners), config.timeout, say).find_out()
        archive = Path(desk.terms.place.private) / "archive"
        return put_plan(store, made, former, prd, update=update, archive=archive)


def planner_question(
    prose: Prose, former: Json | None, read: Callable[[Json], Json], mission: str = ""
) -> Question[Json]:
    """What a planner is asked about a document; *read* makes a plan of its well-formed answer.

    *former* is the plan that is to be brought up to date, *mission* what it is told beside.
    """
    return Question(
        role=PLANNER,
        task=f"plans {prose.path}",
        key=KEY,
        render=lambda previous: render_planner(prose, former, previous, mission),
        read=lambda answer: read(parse_plan_answer(answer).to_json()),
        fix="say more in the document",
    )


def checked_plan(prose: Prose, former: Json | None, told: Json, now: str) -> Json:
    """The plan that an answer gives. Raises MalformedAnswer where it could not be run."""
    made = assemble(prose, told, former, now=now)
    faults = find_faults(made)
    if not faults and former is not None:
        faults = find_faults(update_plan(former, made).document)
    if faults:
        raise MalformedAnswer(*map(str, faults))
    return made


def pick_planners(config: Config, root: Path) -> tuple[Reader, ...]:
    """The planner as `[roles.planner]` and the settings for all name it, then its stand-ins."""
    found = pick_readers(PLANNER, config, root)
    if not found:
        raise RunnerUnavailable(
            "plan --agent needs an agent command line, and none is set up",
            where="qloop.toml",
            fix="install one (`qloop runners list` tells how), "
            f"or name another runner in [roles.{PLANNER}]",
        )
    return found
