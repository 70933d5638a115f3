"""One attempt at one story: worktree, agent, salvage, guard, evidence. Believes nothing said.

`attempt(order, watch) -> Outcome` knows nothing of the driver and writes no state file, so it
runs in this process or wherever an executor puts it.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

from qloop.plan.model import Phase
from qloop.repo.breach import find_changes, keep_and_undo
from qloop.repo.bring import bring_files
from qloop.repo.carry import CarryFailed
from qloop.repo.checkout import Repository
from qloop.repo.guard import GuardTripped, check_guard
from qloop.repo.person import Snapshot, take_snapshot
from qloop.repo.salvage import Salvaged, salvage
from qloop.repo.scratch import note_setup
from qloop.repo.settings import PersonSettings
from qloop.repo.trace import read_trace
from qloop.repo.worksite import read_record
from qloop.repo.workspace import SetupFailed, create_workspace, remove_workspace
from qloop.run import implementer
from qloop.run.desk import Desk, Emit, EventKind, shown
from qloop.run.evidence import judge
from qloop.run.gates import GateCancelled, Room, run_gates
from qloop.run.orders import AttemptOrder, Failed, Outcome, ReviewNote
from qloop.system.cancel import Cancel
from qloop.system.errors import QloopError

BRANCH_PREFIX = "ql-wt/"


@dataclass(frozen=True, slots=True)
class Watch:
    """What an attempt is given by the process it runs in."""

    emit: Emit
    cancel: Cancel
    """Set: end what runs, keep the work, come back."""
    halted: Event
    """Set: start no implementer any more (a guard tripped in this wave)."""


class _Ends(Exception):
    """The attempt ends here, for the reason given."""

    def __init__(self, failed: Failed) -> None:
        self.failed = failed
        super().__init__(failed.reason)


def attempt(order: AttemptOrder, watch: Watch) -> Outcome:
    """Make one attempt. What git or the machine does wrong is raised, not returned."""
    place = order.terms.place
    repository = Repository(root=Path(place.root), git_dir=Path(place.git_dir))
    workspace = create_workspace(
        repository,
        PersonSettings.from_dict(order.terms.settings),
        Path(place.base),
        order.dispatch.attempt_id,
        f"{BRANCH_PREFIX}{order.dispatch.story}",
        order.start,
    )
    desk = Desk(order.terms, order.wave, order.dispatch, workspace, watch.emit, watch.cancel)
    try:
        outcome = _within(order, watch, repository, desk)
    except BaseException as fault:
        _leave(desk, repository, fault)
        raise
    remove_workspace(workspace)
    return outcome


def _leave(desk: Desk, repository: Repository, fault: BaseException) -> None:
    """Remove the workspace of an attempt that broke off; one whose work nothing holds stays."""
    try:
        _keep(desk, repository, f"broken off: {fault}")
    except CarryFailed:
        pass  # its files are kept
    except (QloopError, OSError) as exc:
        text = f"its work stays in {desk.workspace.tree}, it could not be kept elsewhere: {exc}"
        desk.emit(EventKind.STATE_REPAIRED, text=text)
        return
    remove_workspace(desk.workspace)


def _within(order: AttemptOrder, watch: Watch, repository: Repository, desk: Desk) -> Outcome:
    desk.logs.mkdir(parents=True, exist_ok=True)
    try:
        desk = set_up(desk, repository, order.commands.setup, order.commands.copy_files)
        if watch.halted.is_set():
            raise _Ends(_not_started())
    except _Ends as end:
        kept = _keep(desk, repository, end.failed.reason)
        return Outcome(start=order.start, tip=kept.tip, failed=end.failed)
    before = take_snapshot(repository)
    desk.write_story(order.story)
    claimed = implementer.work(desk, order)
    return _judged(order, repository, desk, before, claimed)


def set_up(
    desk: Desk, repository: Repository, commands: tuple[str, ...], copy_files: tuple[str, ...]
) -> Desk:
    """Files brought and set-up commands run; what they leave untracked belongs to nobody.

    That holds for a set-up which breaks off as well.
    """
    try:
        bring_files(repository, desk.workspace, copy_files)
        results = run_gates(gate_room(desk), "setup", commands)
    except SetupFailed as exc:
        raise _Ends(Failed(phase=Phase.SETUP, reason=str(exc))) from exc
    except GateCancelled:
        raise _Ends(interrupted()) from None
    finally:
        noted = replace(desk, workspace=note_setup(desk.workspace))
    if results and not results[-1].green:
        log = shown(results[-1].log, desk.terms)
        raise _Ends(Failed(phase=Phase.SETUP, reason=results[-1].evidence(), log=log))
    return noted


def gate_room(desk: Desk) -> Room:
    """Where the attempt's commands run."""
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


def interrupted(reason: str = "the run was stopped") -> Failed:
    """An end that is nobody's fault and not charged."""
    return Failed(phase=Phase.INTERRUPTED, reason=reason, charged=False)


def _judged(
    order: AttemptOrder,
    repository: Repository,
    desk: Desk,
    before: Snapshot,
    claimed: implementer.Claim,
) -> Outcome:
    tip, broken = _keep_or_say(desk, repository, claimed)
    done = Outcome(start=order.start, tip=tip)
    marked = _undo_marked(desk, repository, before)
    if claimed.failed is not None and not (marked and claimed.failed.charged):
        return done.model_copy(update={"failed": claimed.failed})
    breach = "\n".join(filter(None, [broken or _tripped(desk, repository), *marked]))
    if breach:
        return _breached(desk, done, breach, claimed.log)
    if not _changed(repository, order.start, tip) and not order.story.get("allowEmpty"):
        reason = "said STORY_PASSED, but changed nothing"
        failed = Failed(phase=Phase.AGENT_FAILED, reason=reason, log=claimed.log)
        return done.model_copy(update={"failed": failed})
    try:
        return judge(order, desk, gate_room(desk), done)
    except GateCancelled:
        return done.model_copy(update={"failed": interrupted()})


def _keep_or_say(desk: Desk, repository: Repository, claimed: implementer.Claim) -> tuple[str, str]:
    """The commit that holds the attempt's work, and what is wrong where its commits are broken."""
    why = claimed.failed.reason if claimed.failed else "implemented"
    try:
        return _keep(desk, repository, why).tip, ""
    except CarryFailed as exc:
        return desk.workspace.start, str(exc)


def _keep(desk: Desk, repository: Repository, why: str) -> Salvaged:
    dispatch = desk.dispatch
    noted = read_record(desk.workspace.record)  # a set-up that broke off noted what it left
    return salvage(noted, repository, dispatch.story, dispatch.attempt, why)


def _undo_marked(desk: Desk, repository: Repository, before: Snapshot) -> tuple[str, ...]:
    """Take back what bears the attempt's mark in the person's repository; a sentence on each."""
    attempt_id = desk.dispatch.attempt_id
    after = take_snapshot(repository)
    changes = find_changes(repository, before, after, attempt_id, read_trace(desk.trace))
    if changes.unmarked:
        desk.emit(EventKind.PERSON_CHANGED, changes=[change.text for change in changes.unmarked])
    told = keep_and_undo(repository, changes, attempt_id)
    if told:
        desk.emit(EventKind.GUARD_BREACHED, reason="\n".join(told))
    return told


def _tripped(desk: Desk, repository: Repository) -> str:
    """Why the guard trips, or nothing."""
    try:
        check_guard(desk.workspace, repository)
    except GuardTripped as tripped:
        desk.emit(EventKind.GUARD_BREACHED, reason=str(tripped))
        return str(tripped)
    return ""


def _breached(desk: Desk, done: Outcome, breach: str, log: str | None) -> Outcome:
    attempt_id = desk.dispatch.attempt_id
    note = ReviewNote(status="failed", evidence=f"guard, attempt {attempt_id}: {breach}")
    failed = Failed(phase=Phase.GUARD, reason=breach, log=log)
    return done.model_copy(update={"spec": note, "quality": note, "failed": failed, "breach": True})


def _changed(repository: Repository, start: str, tip: str) -> bool:
    git = repository.git
    return git.text("rev-parse", f"{start}^{{tree}}") != git.text("rev-parse", f"{tip}^{{tree}}")


def _not_started() -> Failed:
    return Failed(
        phase=Phase.WAVE_FAILED,
        reason="not started: the guard tripped in this wave",
        charged=False,
    )
