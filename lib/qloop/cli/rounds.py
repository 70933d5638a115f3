"""What `main` does once its words are parsed."""

import os
import select
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from qloop.cli.autos import Terms, take_along
from qloop.mission.coordinating import end_with
from qloop.mission.hub import Shelf, hub_folder
from qloop.mission.project_loop import INTERRUPTED, work_round
from qloop.mission.rounds import Outcome, run_round
from qloop.repo.checkout import find_repository
from qloop.repo.exclude import ensure_excluded, exclude_intents
from qloop.repo.settings import read_settings
from qloop.run.config import load_config
from qloop.run.holder import private_folder
from qloop.run.inside import check_outside
from qloop.state.intents import intents_folder
from qloop.state.projects import projects_file, read_projects
from qloop.system.errors import InputMissing, PersonNeeded, RepositoryBusy
from qloop.system.files import Held, open_locked
from qloop.system.interrupts import Interrupts
from qloop.ui import console

LOCK = ".main.lock"
FAILED = 1


def loop(most: int | None, pause_s: float, limit_usd: float | None) -> int:
    """Round after round over all projects, *most* at the most; the exit code of the last one."""
    if not read_projects(projects_file()):
        raise InputMissing("no project is registered", fix="in its folder: qloop project add")
    words = [] if limit_usd is None else ["--budget", str(limit_usd)]
    with ExitStack() as undo:
        undo.callback(os.close, _only_one())
        interrupts = Interrupts()
        undo.callback(interrupts.close)
        number = 0
        while True:
            number += 1
            console.say(f"round {number}")
            outcomes = run_round(read_projects(projects_file()), words, interrupts, console.say)
            for one in outcomes:
                console.result(_told(one))
            if interrupts.count:
                console.say("stopped; go on with: qloop main")
                return INTERRUPTED
            if number == most:
                return _code(outcomes)
            select.select([interrupts], [], [], pause_s)
            if interrupts.count:
                return INTERRUPTED


def work_here(name: str, limit_usd: float | None) -> int:
    """One project's part of a round, in the process that is its own."""
    end_with(sys.stdin)
    repository = find_repository(Path.cwd())
    check_outside(repository, "main")
    config = load_config(repository.root)
    root = intents_folder(repository.root, config.intents_root)
    ensure_excluded(repository, repository.root / "quantum.json")
    exclude_intents(repository, root)
    shelf = Shelf(root, name, private_folder(repository))
    author = read_settings(repository).name
    result = work_round(
        shelf,
        hub_folder(),
        author,
        lambda intent: take_along(repository, intent, Terms(limit_usd), ask=False),
        console.say,
    )
    result.write(shelf.private)
    return 0


def _only_one() -> int:
    file = projects_file().parent / LOCK
    try:
        return open_locked(file, wait=False)
    except Held:
        fix = "wait for it, or stop it by Ctrl-C or TERM"
        raise RepositoryBusy("qloop main is at work already", where=str(file), fix=fix) from None


def _told(one: Outcome) -> str:
    if one.result is None:
        return f"{one.name}: {one.trouble}"
    groups = (
        ("delivered", one.result.delivered),
        ("wait for you", one.result.waiting),
        ("failed", one.result.failed),
        ("brought from the hub", one.result.brought),
        ("new in the hub", one.result.contributed),
    )
    told = "; ".join(f"{what}: {', '.join(names)}" for what, names in groups if names)
    parts = [told] if told else []
    if one.result.is_interrupted:
        parts.append("stopped")
    return f"{one.name}: {'; '.join(parts) or 'nothing to do'}"


def _code(outcomes: Sequence[Outcome]) -> int:
    """What the last round came to: somebody failed, somebody waits, or all is well."""
    results = [one.result for one in outcomes]
    if any(one is None or one.failed for one in results):
        return FAILED
    return PersonNeeded.exit_code if any(one and one.waiting for one in results) else 0
