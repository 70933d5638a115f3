"""A plan made by an agent: asked, checked, told what is wrong, and asked again a few times.

Only a plan that could be run is believed. The agent reads a checkout of its own; what it does
elsewhere is thrown away or taken back.
Errors: those of the document, the repository and the runner; PlanRefused where no answer can be
used; BudgetReached; PersonNeeded, RunnerUnavailable, BadInput, PlannerFailed for a call that came
to no answer; KeyboardInterrupt.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from qloop.agents.hindrances import Cause
from qloop.agents.plan_answer import MalformedPlan, parse_plan_answer
from qloop.plan.model import Json
from qloop.plan.prose import Prose, assemble, read_prose
from qloop.plan.update import update_plan
from qloop.plan.validate import find_faults
from qloop.repo.checkout import Repository
from qloop.repo.person import Snapshot
from qloop.repo.review_tree import find_changed, renew
from qloop.run.agent_call import AgentCall, Answered, call_agent
from qloop.run.call_end import find_hindered
from qloop.run.choosing import unbound_words
from qloop.run.config import load_config
from qloop.run.desk import shown
from qloop.run.finding import enumerate_names
from qloop.run.orders import Hindered
from qloop.run.planner_brief import PLANNER, previous_text, render_planner
from qloop.run.planner_desk import PlannerDesk, hold_repository, planner_desk
from qloop.run.planner_runners import Planner, ended_badly, hindered_error, pick_planners
from qloop.run.planning import Planned, path_in_plan, put_plan, read_text, take_former
from qloop.state.journal import EventKind
from qloop.state.store import Store
from qloop.system.clock import render_duration, utc_now
from qloop.system.errors import Faults
from qloop.system.files import write_atomic
from qloop.system.interrupts import Interrupts
from qloop.system.tree import become_subreaper

CORRECTIONS = 3
"""How often a planner is told what is wrong with its answer."""
ANSWER = "answer.txt"
"""The file that keeps the last answer of those that cannot be used."""

Say = Callable[[str], None]


class PlanRefused(Faults):
    """No answer of a planner's could be used; `where` names the file that keeps the last."""


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
        talk = Talk(desk, prose, base, config.timeout, say, list(planners))
        made = talk.make_plan()
        archive = Path(desk.terms.place.private) / "archive"
        return put_plan(store, made, former, prd, update=update, archive=archive)


@dataclass(slots=True)
class Talk:
    """What goes on between qloop and its planners, until there is a plan."""

    desk: PlannerDesk
    prose: Prose
    former: Json | None
    """The plan that is to be brought up to date."""
    timeout_s: float
    say: Say
    planners: list[Planner]
    """Who is asked; the others stand in where it cannot work."""
    began: str = field(default_factory=utc_now)
    calls: int = 0

    def make_plan(self) -> Json:
        """The plan. Raises as the module tells."""
        previous, answer = "", ""
        faults: tuple[str, ...] = ()
        for number in range(CORRECTIONS + 1):
            answered = self._ask(previous)
            answer = answered.reading.answer
            try:
                return self._read(answer)
            except MalformedPlan as exc:
                faults = (*exc.faults, *self._written())
            more = number < CORRECTIONS
            again = f"; told so, correction {number + 1} of {CORRECTIONS}" if more else ""
            self.say(f"the planner's answer has {_count(faults)}{again}")
            previous = previous_text(faults, answer)
        raise self._refusal(faults, answer)

    def _ask(self, previous: str) -> Answered:
        """One call that came to an answer, by whoever can work."""
        while True:
            planner = self.planners[0]
            before = self.desk.look()
            answered = self._call(planner, previous)
            self._take_back(before)
            if answered.ended.cancelled:
                raise KeyboardInterrupt
            if _is_usable(answered):
                return answered
            hindered = find_hindered(answered, planner.runner)
            log = shown(answered.log, self.desk.terms)
            if hindered is None and _is_whole(answered):
                return answered
            if hindered is None:
                raise ended_badly(planner, answered, self.timeout_s, log)
            self._replace(hindered, log)

    def _call(self, planner: Planner, previous: str) -> Answered:
        self.calls += 1
        if self.calls > 1:
            renew(self.desk.workspace)
        call = AgentCall(
            role=PLANNER,
            prompt=render_planner(self.prose, self.former, previous),
            runner=planner.runner,
            model=planner.model,
            timeout_s=self.timeout_s,
            cwd=self.desk.workspace.tree,
            log_name=f"{PLANNER}-{self.calls}.log",
        )
        log = shown(self.desk.logs / call.log_name, self.desk.terms)
        limit = render_duration(self.timeout_s)
        self.say(f"{planner.label} plans {self.prose.path}, for at most {limit}; its log: {log}")
        return call_agent(self.desk, call)

    def _read(self, answer: str) -> Json:
        """The plan that an answer gives. Raises MalformedPlan where it could not be run."""
        told = parse_plan_answer(answer).to_json()
        made = assemble(self.prose, told, self.former, now=self.began)
        faults = find_faults(made)
        if not faults and self.former is not None:
            faults = find_faults(update_plan(self.former, made).document)
        if faults:
            raise MalformedPlan(*map(str, faults))
        return made

    def _written(self) -> Sequence[str]:
        """What to tell a planner that wrote files instead of an answer."""
        changed = find_changed(self.desk.workspace)
        if not changed:
            return ()
        names = enumerate_names(changed)
        self.say(f"the planner changed its checkout ({names}); that is thrown away")
        return (f"what was written into files is thrown away: {names}",)

    def _take_back(self, before: Snapshot) -> None:
        told = self.desk.take_back(before)
        for text in told:
            self.say(f"the planner went into your repository: {text}")
        if told:
            self.desk.emit(EventKind.GUARD_BREACHED, role=PLANNER, reason="\n".join(told))

    def _replace(self, hindered: Hindered, log: str) -> None:
        """Let the next one in line take over. Raises where nobody can."""
        error = hindered_error(hindered, log)
        if hindered.cause is Cause.CONFIGURATION or len(self.planners) == 1:
            raise error
        self.planners.pop(0)
        self.say(f"{error.what}; {self.planners[0].label} takes over")

    def _refusal(self, faults: Sequence[str], answer: str) -> PlanRefused:
        kept = self.desk.logs / ANSWER
        write_atomic(kept, answer.encode("utf-8", "backslashreplace"))
        return PlanRefused(
            f"no answer of the planner's can be used, and the last has {_count(faults)}",
            tuple(faults),
            where=shown(kept, self.desk.terms),
            fix="say more in the document, or name a stronger model in [roles.planner]",
        )


def _is_usable(answered: Answered) -> bool:
    """Whether a call that ended well gave a plan in the form that was asked for."""
    if not _is_whole(answered):
        return False
    try:
        parse_plan_answer(answered.reading.answer)
    except MalformedPlan:
        return False
    return True


def _is_whole(answered: Answered) -> bool:
    ended = answered.ended
    is_cut = ended.timed_out or ended.stuck or ended.lost
    return ended.code == 0 and not (is_cut or answered.reading.failed)


def _count(faults: Sequence[str]) -> str:
    return "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
