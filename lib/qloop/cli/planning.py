"""What the planning commands do once their words are parsed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from qloop.cli.context import checked_place, default_state_file, resolve_quantum
from qloop.plan.dag import blockers, next_wave, standing, waves_preview
from qloop.plan.document import load_document
from qloop.plan.model import Plan
from qloop.plan.validate import check_plan, find_faults
from qloop.repo.checkout import Repository, find_repository
from qloop.run.planning import Planned
from qloop.system.counting import counted
from qloop.system.errors import BadInput, Faults, InputMissing
from qloop.ui import console
from qloop.ui.waves import show_waves


def compile_here(prd: Path, out: Path | None, *, update: bool, as_json: bool) -> int:
    """Compile a document into the state file; refused while a run is on."""
    repository = checked_place(prd)
    made = compile_into(repository, resolve_quantum(repository.root, out), prd, update=update)
    if as_json:
        console.print_json(made.document)
    return 0


def plan_here(prd: Path, out: Path | None, *, update: bool, as_json: bool) -> int:
    """Have an agent make the plan of a document; what that cost is told in any case."""
    from qloop.repo.exclude import ensure_excluded
    from qloop.run.forks import new_run_id
    from qloop.run.planner import plan_by_agent
    from qloop.state.facts import PLANNING
    from qloop.state.store import store_for

    repository = checked_place(prd)
    state_file = resolve_quantum(repository.root, out)
    ensure_excluded(repository, state_file)
    store, run_id = store_for(state_file, repository.root), new_run_id(PLANNING)
    try:
        made = plan_by_agent(repository, store, prd, run_id, console.say, update=update)
    finally:
        _tell_cost(repository, run_id)
    for line in made.lines:
        console.say(line)
    plan = check_plan(made.document, str(state_file))
    if as_json:
        console.print_json(made.document)
    _tell_review(plan, console.say if as_json else console.result)
    return 0


def review_here(quantum: Path | None, *, as_json: bool) -> int:
    """What a person should look at in the plan that there is."""
    plan = read_plan(default_state_file(quantum))
    if as_json:
        from qloop.plan.critique import review_plan
        from qloop.ui.critique import critique_json

        console.print_json(critique_json(review_plan(plan)))
    else:
        _tell_review(plan, console.result)
    return 0


def _tell_review(plan: Plan, tell: Callable[[str], None]) -> None:
    from qloop.plan.critique import review_plan
    from qloop.ui.critique import critique_lines

    waves = waves_preview(plan, _wanted_slots(plan, None))
    for line in critique_lines(plan, review_plan(plan), len(waves)):
        tell(console.printable(line))


def _tell_cost(repository: Repository, run_id: str) -> None:
    from qloop.run.holder import private_folder
    from qloop.state.journal import Journal
    from qloop.ui.costs import cost_line

    line = cost_line(Journal(private_folder(repository) / "events.jsonl").events(run_id))
    if line:
        console.say(f"planning cost {line}")


def compile_into(repository: Repository, state_file: Path, prd: Path, *, update: bool) -> Planned:
    """Compile a document into a state file under the run lock, and say what was done."""
    from qloop.repo.exclude import ensure_excluded
    from qloop.run import holder
    from qloop.run.planning import plan_into
    from qloop.state.store import store_for

    private = holder.private_folder(repository)
    private.mkdir(exist_ok=True)
    lock = holder.try_lock(repository)
    if lock is None:
        raise holder.busy(private)
    try:
        ensure_excluded(repository, state_file)
        store = store_for(state_file, repository.root)
        archive = private / "archive"
        made = plan_into(store, prd, repository.root, update=update, archive=archive)
    finally:
        holder.release(lock)
    for line in made.lines:
        console.say(line)
    return made


def validate_file(file: Path | None, *, as_json: bool) -> int:
    """Check a state file; its faults are told as data or as an error."""
    path = file if file is not None else default_state_file(None)
    if as_json:
        rows = _fault_rows(path)
        console.print_json({"valid": not rows, "faults": rows})
        return Faults.exit_code if rows else 0
    plan = read_plan(path)
    console.result(f"{path}: {counted(len(plan.stories), 'story')}, no fault")
    return 0


def _fault_rows(path: Path) -> list[dict[str, Any]]:
    """All faults of a state file as data, those of its text too."""
    try:
        faults = find_faults(load_document(path))
    except Faults as exc:
        lines = (text.partition(": ") for text in exc.faults)
        return [{"path": path, "message": told, "value": None} for path, _, told in lines]
    except InputMissing:
        raise
    except BadInput as exc:
        return [{"path": "", "message": exc.what, "value": None}]
    return [{"path": one.path, "message": one.message, "value": one.value} for one in faults]


def show_waves_here(
    *, only_next: bool, max_parallel: int | None, quantum: Path | None, as_json: bool
) -> int:
    """The waves to come, or the one that would start now."""
    plan = read_plan(default_state_file(quantum))
    slots = _wanted_slots(plan, max_parallel)
    if not only_next:
        show_waves(plan, waves_preview(plan, slots), as_json=as_json)
        return 0
    chosen = _next_ids(plan, slots)
    state = standing(plan)
    if as_json:
        console.print_json({"state": state, "stories": chosen})
        return 0
    console.result(f"{state}: {', '.join(chosen)}" if chosen else state)
    for why in blockers(plan).values():
        console.result(why)
    return 0


def draw_waves_here(
    form: str, *, only_next: bool, max_parallel: int | None, quantum: Path | None
) -> int:
    """The plan as a drawing: each story that is still to run with its wave, or the next one's."""
    from qloop.ui.dag_drawing import boxes_of, draw_dag
    from qloop.ui.mermaid import render_mermaid

    plan = read_plan(default_state_file(quantum))
    slots = _wanted_slots(plan, max_parallel)
    if only_next:
        chosen = _next_ids(plan, slots)
        words = dict.fromkeys(chosen, "next")
    else:
        chosen = []
        waves = enumerate(waves_preview(plan, slots), start=1)
        words = {one: f"wave {number}" for number, wave in waves for one in wave}
    boxes = boxes_of(plan, words, chosen)
    drawn = render_mermaid(plan, boxes) if form == "mermaid" else draw_dag(plan, boxes).markup
    console.result(drawn)
    return 0


def change_story(
    story_id: str, quantum: Path | None, word: Literal["reset", "block", "unblock"]
) -> int:
    """Reset, block or unblock a story."""
    from qloop.run import stories

    repository = find_repository(Path.cwd())
    state_file = resolve_quantum(repository.root, quantum)
    console.say(stories.change_story(repository, state_file, story_id, word))
    return 0


def read_plan(path: Path) -> Plan:
    """The plan in a state file. Raises InputMissing, Faults."""
    return check_plan(load_document(path), str(path))


def _wanted_slots(plan: Plan, max_parallel: int | None) -> int:
    return 1 if plan.execution.force_sequential else max_parallel or _slots(plan)


def _next_ids(plan: Plan, slots: int) -> list[str]:
    """The stories of the wave that would start now."""
    at_work = sum(story.status == "in_progress" for story in plan.stories)
    wave = next_wave(plan, free_slots=max(0, slots - at_work), running=())
    return [story.id for story in wave]


def _slots(plan: Plan) -> int:
    from qloop.run.config import load_config
    from qloop.run.prepare import Wanted, max_parallel

    root = find_repository(Path.cwd()).root
    return max_parallel(plan, Wanted(), load_config(root))
