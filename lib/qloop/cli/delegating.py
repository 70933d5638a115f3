"""What `delegate` does once its words are parsed."""

import os
import sys
from pathlib import Path

from qloop.cli.context import resolve_quantum
from qloop.cli.planning import read_plan
from qloop.plan.paths import normalise
from qloop.repo.checkout import Repository, find_checkout, find_repository
from qloop.run.briefing import checks_of
from qloop.run.config import CONFIG_NAME
from qloop.run.delegates import QA, WORKER
from qloop.run.delegating import Ask, Task, WorkRefused, change_by_hand, compress_by_hand
from qloop.run.inside import check_depth, check_outside
from qloop.system.errors import BadInput, InputMissing
from qloop.ui import console


def compress_here(prompt: str, failures: int, quantum: Path | None, *, as_json: bool) -> int:
    """What a trace comes to, on standard output."""
    repository = _place()
    asked = Ask(QA, _text_of(prompt), failures)
    record = compress_by_hand(
        repository, resolve_quantum(repository.root, quantum), asked, console.say
    )
    if record.source != "model":
        console.say(f"an extract of the trace: {record.reason}")
    if as_json:
        console.print_json(record.facts())
    else:
        console.result(console.printable(record.text))
    return 0


def work_here(
    target: Path,
    prompt: str,
    verify: tuple[str, ...],
    failures: int,
    quantum: Path | None,
    *,
    as_json: bool,
) -> int:
    """One file changed; what became of it as a line or as JSON."""
    repository = _place()
    state_file = resolve_quantum(repository.root, quantum)
    asked = Ask(WORKER, _text_of(prompt), failures)
    task = _task(target, verify, state_file)
    try:
        done = change_by_hand(repository, state_file, asked, task, console.say)
    except WorkRefused as exc:
        if as_json:
            console.print_json(exc.record.facts())
        raise
    if as_json:
        console.print_json({**done.record.facts(), "kept": done.kept and str(done.kept)})
    else:
        kept = f"; what it held is in {done.kept}" if done.kept is not None else ""
        console.result(f"changed {task.name}, {done.record.text}{kept}")
    return 0


def _place() -> Repository:
    repository = find_repository(Path.cwd())
    check_depth("delegate", ())
    check_outside(repository, "delegate")
    return repository


def _task(target: Path, verify: tuple[str, ...], state_file: Path) -> Task:
    root = find_checkout(Path.cwd())
    name = _name_in(root, target)
    own = {CONFIG_NAME}
    if state_file.is_relative_to(root):
        own.add(str(state_file.relative_to(root)).lower())
    commands = verify or _commands_of(state_file, name)
    return Task(root, name, commands, frozenset(own))


def _name_in(root: Path, target: Path) -> str:
    """The target's path from the checkout's root. Raises BadInput, InputMissing."""
    path = Path(os.path.normpath(Path.cwd() / target))
    if not path.is_relative_to(root):
        path = path.parent.resolve() / path.name
    if not path.is_relative_to(root):
        raise BadInput(
            "the target lies outside of the repository",
            where=str(path),
            fix=f"name a file below {root}",
        )
    if not path.parent.is_dir():
        raise InputMissing("there is no such folder", where=str(path.parent), fix="make it first")
    return path.relative_to(root).as_posix()


def _commands_of(state_file: Path, name: str) -> tuple[str, ...]:
    """The commands of all stories that name the file, where there is a plan."""
    if not state_file.exists():
        return ()
    plan = read_plan(state_file)
    found: list[str] = []
    for story in plan.stories:
        files = {normalise(path) for task in story.tasks for path in task.file_paths}
        if name in files:
            found += checks_of(tuple(plan.quality_commands), story)
    return tuple(dict.fromkeys(found))


def _text_of(prompt: str) -> str:
    """The prompt, or what stands on standard input. Raises BadInput where that is nothing."""
    text = prompt
    if prompt == "-":
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    if not text.strip():
        raise BadInput("the prompt is empty", where="--prompt", fix="say what is to be done")
    return text
