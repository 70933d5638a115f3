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
from qloop.repo.workspace import SetupFailed, create_workspace, remove_workspace
from qloop.run import implementer
from qloop.run.desk import Desk, Emit, EventKind, shown
from qloop.run.evidence import judge
from qloop.run.gates import GateCancelled, Room, run_gates
from qloop.run.orders import AttemptOrder, Failed, Outcome, ReviewNote
from qloop.system.cancel import Cancel

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
        return _within(order, watch, repository, desk)
    finally:
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
    """Files brought and set-up commands run; what they leave untracked belongs to nobody."""
    try:
        bring_files(repository, desk.workspace, copy_files)
        results = run_gates(setup_room(desk), "setup", commands)
    except SetupFailed as exc:
        raise _Ends(Failed(phase=Phase.SETUP, reason=str(exc))) from exc
    except GateCancelled:
        raise _Ends(interrupted()) from None
    if results and not results[-1].green:
        log = shown(results[-1].log, desk.terms)
        raise _Ends(Failed(phase=Phase.SETUP, reason=results[-1].evidence(), log=log))
    return replace(desk, workspace=note_setup(desk.workspace))


def setup_room(desk: Desk) -> Room:
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
    try:
        kept = _keep(desk, repository, claimed.failed.reason if claimed.failed else "implemented")
    except CarryFailed as exc:
        failed = Failed(phase=Phase.GUARD, reason=str(exc), log=claimed.log)
        return Outcome(start=order.start, failed=failed)
    breach = _breach(desk, repository, before)
    if breach is not None:
        desk.emit(EventKind.GUARD_BREACHED, reason=breach)
        note = ReviewNote(status="failed", evidence=breach)
        failed = Failed(phase=Phase.GUARD, reason=breach, log=claimed.log)
        return Outcome(
            start=order.start, tip=kept.tip, spec=note, quality=note, failed=failed, breach=True
        )
    if claimed.failed is not None:
        return Outcome(start=order.start, tip=kept.tip, failed=claimed.failed)
    if not _changed(repository, order.start, kept.tip) and not order.story.get("allowEmpty"):
        failed = Failed(
            phase=Phase.AGENT_FAILED,
            reason="said STORY_PASSED, but changed nothing",
            log=claimed.log,
        )
        return Outcome(start=order.start, tip=kept.tip, failed=failed)
    try:
        return judge(order, desk, setup_room(desk), Outcome(start=order.start, tip=kept.tip))
    except GateCancelled:
        return Outcome(start=order.start, tip=kept.tip, failed=interrupted())


def _keep(desk: Desk, repository: Repository, why: str) -> Salvaged:
    dispatch = desk.dispatch
    return salvage(desk.workspace, repository, dispatch.story, dispatch.attempt, why)


def _breach(desk: Desk, repository: Repository, before: Snapshot) -> str | None:
    """What the attempt did that it must not, in words; None where guard and marks are clean."""
    attempt_id = desk.dispatch.attempt_id
    after = take_snapshot(repository)
    changes = find_changes(repository, before, after, attempt_id, read_trace(desk.trace))
    if changes.unmarked:
        desk.emit(EventKind.PERSON_CHANGED, changes=[change.text for change in changes.unmarked])
    told = list(keep_and_undo(repository, changes, attempt_id))
    try:
        check_guard(desk.workspace, repository)
    except GuardTripped as tripped:
        told.insert(0, str(tripped))
    return "\n".join(told) if told else None


def _changed(repository: Repository, start: str, tip: str) -> bool:
    git = repository.git
    return git.text("rev-parse", f"{start}^{{tree}}") != git.text("rev-parse", f"{tip}^{{tree}}")


def _not_started() -> Failed:
    return Failed(
        phase=Phase.WAVE_FAILED,
        reason="not started: the guard tripped in this wave",
        charged=False,
    )
