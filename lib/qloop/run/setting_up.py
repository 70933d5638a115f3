"""Setting a worktree up: files brought, set-up commands run, what they leave noted."""

from dataclasses import replace

from qloop.plan.model import Phase
from qloop.repo.bring import bring_files, brings_nothing
from qloop.repo.checkout import Repository
from qloop.repo.scratch import note_no_setup, note_setup
from qloop.repo.worksite import SetupFailed
from qloop.run.desk import Desk, shown
from qloop.run.gates import GateCancelled, Room, run_gates
from qloop.run.orders import Failed


def set_up(
    desk: Desk,
    repository: Repository,
    commands: tuple[str, ...],
    copy_files: tuple[str, ...],
    kind: str = "setup",
) -> tuple[Desk, Failed | None]:
    """Files brought and set-up commands run, and why that failed, if it did.

    What it leaves untracked belongs to nobody, also where it failed. *kind* names its logs.
    """
    if not commands and brings_nothing(repository, copy_files):
        return replace(desk, workspace=note_no_setup(desk.workspace)), None
    failed = _run_setup(desk, repository, commands, copy_files, kind)
    return replace(desk, workspace=note_setup(desk.workspace)), failed


def _run_setup(
    desk: Desk,
    repository: Repository,
    commands: tuple[str, ...],
    copy_files: tuple[str, ...],
    kind: str,
) -> Failed | None:
    try:
        bring_files(repository, desk.workspace, copy_files)
        results = run_gates(gate_room(desk), kind, commands)
    except SetupFailed as exc:
        return Failed(phase=Phase.SETUP, reason=str(exc))
    except GateCancelled:
        return Failed.interrupted()
    if not results or results[-1].green:
        return None
    log = shown(results[-1].log, desk.terms)
    return Failed(phase=Phase.SETUP, reason=results[-1].evidence(), log=log)


def gate_room(desk: Desk) -> Room:
    """Where an attempt's commands run."""
    limits = desk.terms.limits
    return Room(
        cwd=desk.workspace.tree,
        env=desk.gate_environment(),
        logs=desk.logs,
        marks=desk.marks,
        timeout_s=limits.gate_timeout_s,
        log_bytes=limits.log_bytes,
        cancel=desk.cancel,
    )
