"""What `refine` does once its words are parsed."""

from dataclasses import dataclass
from pathlib import Path

from qloop.cli.context import resolve_quantum
from qloop.mission.context_text import mission_text
from qloop.mission.phase_order import MissionContext, make_order
from qloop.mission.records import MissionRecords
from qloop.mission.refining import PLAN, PRD, do_now, refine
from qloop.mission.showing import Scene
from qloop.plan.model import Plan
from qloop.plan.validate import check_plan
from qloop.repo.checkout import Repository, find_repository
from qloop.repo.exclude import ensure_excluded
from qloop.run.config import load_config
from qloop.run.forks import new_run_id
from qloop.run.gates import GateCancelled
from qloop.run.holder import private_folder
from qloop.run.inside import check_outside
from qloop.run.reading_desk import ReadingPlace
from qloop.run.recover import take_lock
from qloop.run.unlanding import commit_to_see
from qloop.state.active import find_active
from qloop.state.journal import Journal
from qloop.state.mission import Mission
from qloop.state.phases import Autonomy, PhaseName
from qloop.state.refinement import Refinement
from qloop.state.store import store_for
from qloop.system.errors import InputMissing, RepositoryBusy
from qloop.system.identity import is_alive, parse_process_id
from qloop.system.interrupts import Interrupts
from qloop.system.tree import become_subreaper
from qloop.ui import console
from qloop.ui.refinement_pages import render_short

FOLDER = "refinement"


def refine_here(quantum: Path | None, *, as_json: bool) -> int:
    """Refine once, show what was found, and return the exit code."""
    repository = find_repository(Path.cwd())
    check_outside(repository, "refine")
    target = _choose(repository, quantum)
    ensure_excluded(repository, repository.root / "quantum.json")
    become_subreaper()
    interrupts = Interrupts()
    try:
        found = refine(_scene(repository, target, interrupts), do_now)
    except GateCancelled:
        raise KeyboardInterrupt from None
    finally:
        interrupts.close()
    _show(found, target.folder, as_json=as_json)
    return 1 if found.critical else 0


@dataclass(frozen=True, slots=True)
class _Target:
    """What is refined: a state file, of a mission if one is known."""

    state_file: Path
    folder: Path
    mission: Mission | None = None

    @property
    def is_over(self) -> bool:
        """Whether its mission is."""
        return self.mission is not None and self.mission.status.is_over


def _scene(repository: Repository, target: _Target, interrupts: Interrupts) -> Scene:
    state_file = target.state_file
    plan = check_plan(store_for(state_file, repository.root).read(), str(state_file))
    journal = Journal(private_folder(repository) / "events.jsonl", new_run_id("p-"))
    config = load_config(repository.root)
    commit = commit_to_see(repository, plan.branch_name)
    logs = target.folder / "logs"
    return Scene(
        repository=repository,
        config=config,
        plan=plan,
        commit=commit,
        folder=target.folder,
        journal=journal,
        take=lambda: take_lock(repository, journal, interrupts.cancel),
        tell=console.say,
        cancel=interrupts.cancel,
        mission=mission_text(_context(target, plan)),
        agents=ReadingPlace(repository, config, journal, commit, logs, plan.branch_name),
    )


def _context(target: _Target, plan: Plan) -> MissionContext:
    """What agents are told: of the mission, else what the plan says of itself."""
    if target.mission is not None:
        order = make_order(target.mission, PhaseName.REFINEMENT, str(target.folder), "", 0.0)
        return order.mission_context
    directive = plan.description or plan.project or plan.branch_name
    return MissionContext(directive=directive, autonomy=Autonomy.GUIDED)


def _choose(repository: Repository, quantum: Path | None) -> _Target:
    """What is meant. Raises InputMissing, RepositoryBusy."""
    private = private_folder(repository)
    here = resolve_quantum(repository.root, quantum)
    intent = find_active(private) if quantum is None else None
    target = None if intent is None else _of_mission(private, intent)
    if target is not None and not (here.exists() and target.is_over):
        console.say(f"refines the mission in {intent}")
        return target
    if here.exists():
        return _Target(here, private / FOLDER)
    raise InputMissing(
        "there is nothing to refine: no plan and no mission",
        where=str(here),
        fix="begin with `qloop mission new`, or make a plan: qloop plan PRD",
    )


def _of_mission(private: Path, intent: Path) -> _Target:
    """A mission's plan. Raises RepositoryBusy for one that is being run."""
    mission = MissionRecords(private, intent).read()
    process = parse_process_id(mission.process)
    if process is not None and is_alive(process):
        raise RepositoryBusy(
            f"mission {mission.id} is being run by process {process.pid}",
            fix="wait for it, or refine another plan: --quantum FILE",
        )
    return _Target(intent / "quantum.json", intent / FOLDER, mission)


def _show(found: Refinement, folder: Path, *, as_json: bool) -> None:
    if as_json:
        console.print_json({**found.model_dump(mode="json"), "summary": found.summary})
        return
    console.result(render_short(found))
    console.say(f"in full: {folder / PLAN}")
    if found.findings:
        console.say(f"as stories, for `qloop plan`: {folder / PRD}")
