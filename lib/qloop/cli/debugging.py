"""What `debug` does once its words are parsed: it looks into a failure, and changes nothing."""

from pathlib import Path

from qloop.agents.role_answers import DiagnosisAnswer
from qloop.cli.context import default_state_file
from qloop.cli.looking import find_story
from qloop.cli.planning import read_plan
from qloop.mission.asking import Judged
from qloop.mission.debugging import DEBUGGER, DebugPlace, diagnose, investigate
from qloop.repo.checkout import find_repository
from qloop.run.config import load_config
from qloop.run.holder import private_folder
from qloop.run.inside import check_outside
from qloop.state.active import find_active
from qloop.system.files import write_atomic
from qloop.system.interrupts import Interrupts
from qloop.system.tree import become_subreaper
from qloop.ui import console
from qloop.ui.debug_page import debug_json, render_debug


def debug_here(story_id: str, quantum: Path | None, *, facts_only: bool, as_json: bool) -> int:
    """Look into a story's last failure; the page is kept, and shown."""
    repository = find_repository(Path.cwd())
    check_outside(repository, "debug")
    state_file = default_state_file(quantum)
    plan = read_plan(state_file)
    story = find_story(plan, story_id, state_file)
    folder = _folder(private_folder(repository), state_file)
    place = DebugPlace(repository, load_config(repository.root), state_file, folder / "logs")
    found = investigate(place, plan, story)
    judged: Judged[DiagnosisAnswer] = Judged(None, f"the {DEBUGGER} was not asked")
    if not facts_only:
        become_subreaper()
        interrupts = Interrupts()
        try:
            judged = diagnose(place, story, found, console.say, interrupts.cancel)
        finally:
            interrupts.close()
    page = folder / f"{story_id}-{found.attempt}.md"
    text = render_debug(found, judged.answer, judged.note)
    write_atomic(page, text.encode("utf-8", "backslashreplace"))
    if as_json:
        console.print_json(debug_json(found, judged.answer, judged.note, str(page)))
    else:
        console.result(console.printable(text.rstrip("\n")))
        console.say(f"kept as {page}")
    return 0


def _folder(private: Path, state_file: Path) -> Path:
    """Beside the mission's plan, or in `.qloop` where the plan is no mission's."""
    active = find_active(private)
    own = active is not None and state_file.resolve().parent == active.resolve()
    return (active if own and active is not None else private) / "debug"
