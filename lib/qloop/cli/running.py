"""What the run commands do once their words are parsed: one call into the engine each."""

import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from qloop.cli.context import checked_place, resolve_quantum
from qloop.repo.checkout import Repository, find_repository
from qloop.run.forks import Forks, begin_run
from qloop.run.holder import private_folder
from qloop.run.prepare import PrdChanged, Wanted
from qloop.system.errors import PersonNeeded
from qloop.ui import console


def run_here(
    prd: Path | None,
    quantum: Path | None,
    wanted: Wanted,
    forks: Forks,
    *,
    as_json: bool,
    ask: bool,
) -> int:
    """A whole run in the repository of the current folder; its exit code.

    With *ask*, a person at a terminal is asked where only a person can decide how to begin.
    """
    repository = checked_place(prd)
    state_file = resolve_quantum(repository.root, quantum)
    try:
        return run_in(repository, state_file, prd, wanted, forks, as_json=as_json)
    except PrdChanged as changed:
        if not (ask and sys.stdin.isatty()):
            raise
        chosen = ask_about_change(changed, repository, state_file, wanted)
    return run_in(repository, state_file, prd, chosen, forks, as_json=as_json)


def ask_about_change(
    changed: PrdChanged, repository: Repository, state_file: Path, wanted: Wanted
) -> Wanted:
    """Ask what to do about a changed document: update the plan, keep it, or end here."""
    import click

    from qloop.cli.planning import compile_into

    console.say(changed.what)
    words = click.Choice(["update", "keep", "stop"])
    word = click.prompt("update the plan, keep it as it is, or stop?", type=words, err=True)
    if word == "stop":
        raise changed
    if word == "update":
        compile_into(repository, state_file, Path(changed.where), update=True)
        return wanted
    return replace(wanted, accept_prd_change=True)


def run_in(
    repository: Repository,
    state_file: Path,
    prd: Path | None,
    wanted: Wanted,
    forks: Forks,
    *,
    as_json: bool = False,
) -> int:
    """A whole run with its progress and summary; its exit code."""
    from qloop.agents.signals import render_signal
    from qloop.run.engine import run_whole
    from qloop.ui.summary import show_summary

    try:
        with _shown(repository, state_file, as_json=as_json) as shown:
            done = run_whole(
                repository, state_file, prd, wanted, forks, shown.look, shown.interrupted
            )
    except PersonNeeded:
        if not as_json:
            console.result(render_signal("WAITING"))
        raise
    if not as_json:
        reasons = (*done.ending.reasons, *_hints(done.ending.signal, done.plan.branch_name))
        show_summary(done.plan, done.head, done.events, done.ending.signal, reasons)
    return console.fail(done.ending.error) if done.ending.error else done.ending.exit_code


def _hints(signal: str, branch: str) -> tuple[str, ...]:
    """Where to go from a run's end."""
    if signal == "COMPLETE":
        return (f"what landed: git log {branch}; take it into your branch: git merge {branch}",)
    return ("what to do about it: qloop",) if signal == "BLOCKED" else ()


@dataclass(frozen=True, slots=True)
class _Shown:
    """How a run shows itself."""

    look: Callable[[], None]
    """Called when the journal has grown."""
    interrupted: Callable[[int], None]
    """Called with how often the run was interrupted."""


@contextmanager
def _shown(repository: Repository, state_file: Path, *, as_json: bool) -> Iterator[_Shown]:
    """Show the run that starts within; a live board looks for itself, and needs no calls."""
    from qloop.ui.progress import Follower, PlainLines, end_of, show_json

    private = private_folder(repository)
    journal = private / "events.jsonl"
    if as_json or not console.is_fancy(sys.stderr):
        follower = Follower(journal, show_json if as_json else PlainLines(), end_of(journal))
        yield _Shown(follower.look, lambda count: console.say(_stopping(count)))
        return
    from qloop.ui.live import LiveBoard

    with LiveBoard(private, state_file, end_of(journal)) as board:
        yield _Shown(lambda: None, lambda count: board.tell(_stopping(count)))


def _stopping(count: int) -> str:
    text = "stopping: nothing new starts, what runs has a few seconds; once more ends it at once"
    return text if count == 1 else "stopping at once"


def preview(prd: Path | None, quantum: Path | None, wanted: Wanted, *, as_json: bool) -> int:
    """The waves that would run; nothing is changed. Raises what a run would of its input."""
    from qloop.plan.dag import waves_preview
    from qloop.run.config import load_config
    from qloop.run.planning import read_or_make
    from qloop.run.prepare import check_prd, find_prd, max_parallel
    from qloop.ui.waves import show_waves

    repository = checked_place(prd)
    state_file = resolve_quantum(repository.root, quantum)
    plan = read_or_make(state_file, prd, repository.root)
    document = find_prd(plan, repository.root, prd, state_file)
    if not wanted.accept_prd_change:
        check_prd(plan, document)
    slots = max_parallel(plan, wanted, load_config(repository.root))
    show_waves(plan, waves_preview(plan, slots), as_json=as_json)
    return 0


def run_demo(folder: Path | None) -> int:
    """The demo: a scratch repository, a plan of its own, a whole run, and where to look."""
    from qloop.cli.starting import prepare_demo

    repository, prd = prepare_demo(folder)
    console.say(f"a scratch repository in {repository.root}, with the document {prd.name}")
    with begin_run() as forks:
        code = run_in(repository, repository.root / "quantum.json", prd, Wanted(), forks)
    console.say(f"look at it:  cd {repository.root}")
    qloop = _program()
    ways = (
        ("git log --oneline ql/demo-site", "what landed, one commit a story"),
        (f"{qloop} status", "every story; `show STORY` tells all of one"),
        (f"{qloop} salvage list", "the work of every attempt"),
    )
    width = max(len(way) for way, _ in ways)
    for way, text in ways:
        console.say(f"  {way:<{width}}  {text}")
    return code


def _program() -> str:
    """How the shell calls this program: by name, or by path where it is run from a clone."""
    door = Path(__file__).resolve().parents[3] / "bin" / "qloop"
    return "qloop" if shutil.which("qloop") or not door.exists() else shlex.quote(str(door))


def stop_here(*, now: bool) -> int:
    """End the run that holds the repository here."""
    from qloop.run.inside import check_outside
    from qloop.run.stopping import stop_run

    repository = find_repository(Path.cwd())
    check_outside(repository, "stop")
    stop_run(repository, now=now, say=console.say)
    console.say("stopped; qloop takes it up again where it was")
    return 0
