"""The check-up: everything that a run depends on, looked at without changing anything.

Findings are values, in the order of their causes: the machine, the repository, the plan, what
earlier runs left. Nothing found is raised.
"""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from qloop.repo.checkout import Repository, check_git_version, find_repository, git_version
from qloop.run.checkup_intents import check_intents
from qloop.run.checkup_leftovers import check_leftovers
from qloop.run.checkup_places import check_places
from qloop.run.checkup_plan import check_agents_installed, check_runners, load_plan, load_settings
from qloop.run.checkup_repository import check_repository
from qloop.run.finding import Finding, from_error
from qloop.state.intents import intents_folder
from qloop.system.errors import InputMissing, QloopError

STATE_FILE = "quantum.json"


def check_up(cwd: Path, quantum: Path | None) -> tuple[Finding, ...]:
    """All findings for the folder *cwd*; *quantum* names another state file than the default."""
    machine = tuple(check_machine())
    if any(one.state == "bad" and one.check == "git" for one in machine):
        return machine
    return (*machine, *_check_folder(cwd, quantum))


def check_machine() -> Iterator[Finding]:
    """Git, Python and bash."""
    try:
        check_git_version()
        yield Finding("git", "ok", ".".join(map(str, git_version())))
    except QloopError as exc:
        yield from_error("git", exc)
    yield Finding("python", "ok", sys.version.split()[0])
    shell = shutil.which("bash")
    if shell is None:
        yield Finding("bash", "bad", "bash is not on PATH, and runs every command", "install bash")
    else:
        yield Finding("bash", "ok", shell)


def _check_folder(cwd: Path, quantum: Path | None) -> Iterator[Finding]:
    try:
        repository = find_repository(cwd)
    except InputMissing as exc:
        yield Finding("repository", "warn", f"{exc.what} ({exc.where})", exc.fix)
        return
    except QloopError as exc:
        yield from_error("repository", exc)
        return
    yield Finding("repository", "ok", str(repository.root))
    yield from _check_inside(repository, quantum)


def _check_inside(repository: Repository, quantum: Path | None) -> Iterator[Finding]:
    state_file = (repository.root / STATE_FILE if quantum is None else quantum).resolve()
    plan, told_of_plan = load_plan(state_file, repository.root)
    config, told_of_settings = load_settings(repository.root)
    yield from check_repository(repository, state_file, plan)
    yield from told_of_settings
    if config is not None:
        yield from check_places(repository, config)
    yield from told_of_plan
    if config is not None:
        yield from check_runners(plan, config, repository.root)
        yield check_agents_installed(config, repository.root)
        yield from check_intents(intents_folder(repository.root, config.intents_root))
    yield from check_leftovers(repository)
