"""What `refine` does once its words are parsed."""

from pathlib import Path

from qloop.cli.context import resolve_quantum
from qloop.mission.records import MissionRecords
from qloop.mission.refining import PLAN, PRD, do_now, refine
from qloop.mission.showing import Scene
from qloop.plan.validate import check_plan
from qloop.repo.checkout import Repository, find_repository
from qloop.repo.exclude import ensure_excluded
from qloop.run.config import load_config
from qloop.run.forks import new_run_id
from qloop.run.gates import GateCancelled
from qloop.run.holder import private_folder
from qloop.run.inside import check_outside
from qloop.run.recover import take_lock
from qloop.run.unlanding import commit_to_see
from qloop.state.active import find_active
from qloop.state.journal import Journal
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
    state_file, folder = _choose(repository, quantum)
    ensure_excluded(repository, repository.root / "quantum.json")
    become_subreaper()
    interrupts = Interrupts()
    try:
        found = refine(_scene(repository, state_file, folder, interrupts), do_now)
    except GateCancelled:
        raise KeyboardInterrupt from None
    finally:
        interrupts.close()
    _show(found, folder, as_json=as_json)
    return 1 if found.critical else 0


def _scene(repository: Repository, state_file: Path, folder: Path, interrupts: Interrupts) -> Scene:
    plan = check_plan(store_for(state_file, repository.root).read(), str(state_file))
    journal = Journal(private_folder(repository) / "events.jsonl", new_run_id("p-"))
    return Scene(
        repository=repository,
        config=load_config(repository.root),
        plan=plan,
        commit=commit_to_see(repository, plan.branch_name),
        folder=folder,
        journal=journal,
        take=lambda: take_lock(repository, journal, interrupts.cancel),
        tell=console.say,
        cancel=interrupts.cancel,
    )


def _choose(repository: Repository, quantum: Path | None) -> tuple[Path, Path]:
    """The state file that is meant, and the folder for what is made of it. Raises InputMissing."""
    private = private_folder(repository)
    here = resolve_quantum(repository.root, quantum)
    intent = find_active(private) if quantum is None else None
    if intent is not None and not _is_over(private, intent):
        return _of_mission(intent)
    if here.exists():
        return here, private / FOLDER
    if intent is not None:
        return _of_mission(intent)
    raise InputMissing(
        "there is nothing to refine: no plan and no mission",
        where=str(here),
        fix="begin with `qloop mission new`, or make a plan: qloop plan PRD",
    )


def _of_mission(intent: Path) -> tuple[Path, Path]:
    console.say(f"refines the mission in {intent}")
    return intent / "quantum.json", intent / FOLDER


def _is_over(private: Path, intent: Path) -> bool:
    """Whether a mission is. Raises RepositoryBusy for one that is being run."""
    mission = MissionRecords(private, intent).read()
    process = parse_process_id(mission.process)
    if process is not None and is_alive(process):
        raise RepositoryBusy(
            f"mission {mission.id} is being run by process {process.pid}",
            fix="wait for it, or refine another plan: --quantum FILE",
        )
    return mission.status.is_over


def _show(found: Refinement, folder: Path, *, as_json: bool) -> None:
    if as_json:
        console.print_json({**found.model_dump(mode="json"), "summary": found.summary})
        return
    console.result(render_short(found))
    console.say(f"in full: {folder / PLAN}")
    if found.findings:
        console.say(f"as stories, for `qloop plan`: {folder / PRD}")
