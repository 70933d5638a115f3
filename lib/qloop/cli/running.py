"""What the run commands do once their words are parsed: one call into the engine each."""

import os
import sys
from dataclasses import replace
from pathlib import Path

from qloop.cli.context import checked_place, resolve_quantum
from qloop.repo.checkout import Repository, find_repository
from qloop.run.prepare import PrdChanged, Wanted
from qloop.system.errors import PersonNeeded
from qloop.ui import console

STANDARD_OUTPUT = 1


def run_here(
    prd: Path | None, quantum: Path | None, wanted: Wanted, *, as_json: bool, ask: bool
) -> int:
    """A whole run in the repository of the current folder; its exit code.

    With *ask*, a person at a terminal is asked where only a person can decide how to begin.
    """
    repository = checked_place(prd)
    state_file = resolve_quantum(repository.root, quantum)
    try:
        return run_in(repository, state_file, prd, wanted, as_json=as_json)
    except PrdChanged as changed:
        if not (ask and sys.stdin.isatty()):
            raise
        chosen = ask_about_change(changed, repository, state_file, wanted)
    return run_in(repository, state_file, prd, chosen, as_json=as_json)


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
    *,
    as_json: bool = False,
) -> int:
    """A whole run with its progress and summary; its exit code."""
    from qloop.agents.signals import render_signal
    from qloop.run.engine import run_whole
    from qloop.ui.progress import Follower, PlainLines, show_json
    from qloop.ui.summary import show_summary

    journal = repository.root / ".qloop" / "events.jsonl"
    follower = Follower(journal, show_json if as_json else PlainLines())
    try:
        done = run_whole(repository, state_file, prd, wanted, follower.look)
    except PersonNeeded:
        if not as_json:
            console.result(render_signal("WAITING"))
        raise
    if not as_json:
        show_summary(done.plan, done.events, done.ending.signal, done.ending.reasons)
    return done.ending.exit_code


def preview(prd: Path | None, quantum: Path | None, wanted: Wanted, *, as_json: bool) -> int:
    """The waves that would run; nothing is changed. Raises what a run would of its input."""
    from qloop.plan.dag import waves_preview
    from qloop.run.config import load_config
    from qloop.run.planning import read_or_make
    from qloop.run.prepare import check_prd, find_prd, max_parallel
    from qloop.ui.waves import show_waves

    repository = checked_place(prd)
    plan = read_or_make(resolve_quantum(repository.root, quantum), prd, repository.root)
    document = find_prd(plan, repository.root, prd)
    if not wanted.accept_prd_change:
        check_prd(plan, document)
    slots = max_parallel(plan, wanted, load_config(repository.root))
    show_waves(plan, waves_preview(plan, slots, slots == 1), as_json=as_json)
    return 0


def run_demo(folder: Path | None) -> int:
    """The demo: a scratch repository, a plan of its own, a whole run, and where to look."""
    from qloop.cli.starting import prepare_demo

    repository, prd = prepare_demo(folder)
    console.say(f"a scratch repository in {repository.root}, with the document {prd.name}")
    code = run_in(repository, repository.root / "quantum.json", prd, Wanted())
    console.say(f"look at it:  cd {repository.root}")
    console.say("  git log --graph --oneline --all    what landed, one commit a story")
    console.say("  qloop status                       every story; qloop show STORY for one")
    console.say("  qloop salvage list                 the attempts that did not land")
    return code


def stop_here(*, now: bool) -> int:
    """End the run that holds the repository here."""
    from qloop.run.inside import check_outside
    from qloop.run.stopping import stop_run

    repository = find_repository(Path.cwd())
    check_outside(repository, "stop")
    stop_run(repository, now=now, say=console.say)
    console.say("stopped; qloop takes it up again where it was")
    return 0


def coordinate(
    wave_id: str,
    stories: tuple[str, ...],
    quantum: Path | None,
    prd: Path | None,
    reports: int | None,
) -> int:
    """One wave: for the driver at the other end of the pipes, or by hand without one."""
    from qloop.run import coordinator
    from qloop.run.orders import WaveOrder
    from qloop.run.standalone import run_wave
    from qloop.system.interrupts import Interrupts
    from qloop.system.tree import become_subreaper

    become_subreaper()
    interrupts = Interrupts()
    if reports is None:
        repository = find_repository(Path.cwd())
        state_file = resolve_quantum(repository.root, quantum)
        signal = run_wave(
            repository, state_file, prd, wave_id, stories, interrupts.cancel, console.say
        )
    else:
        stream = coordinator.report_stream(reports)
        order = WaveOrder.model_validate_json(sys.stdin.readline())
        signal = coordinator.serve(order, sys.stdin, stream, interrupts.cancel)
    return coordinator.say(signal, lambda text: os.write(STANDARD_OUTPUT, text.encode()))
