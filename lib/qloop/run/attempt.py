"""One attempt at one story: worktree, agent, salvage, guard, evidence, reviews. Believes no word.

`attempt(order, watch) -> Outcome` knows nothing of the driver and writes no state file, so it
runs in this process or wherever an executor puts it.
"""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from qloop.plan.model import Phase
from qloop.repo.breach import find_changes, keep_and_undo
from qloop.repo.carry import CarryFailed
from qloop.repo.checkout import Repository
from qloop.repo.cone import find_cone
from qloop.repo.guard import GuardTripped, check_guard
from qloop.repo.person import Snapshot, take_snapshot
from qloop.repo.salvage import Salvaged, salvage
from qloop.repo.settings import PersonSettings
from qloop.repo.trace import read_trace
from qloop.repo.workspace import create_workspace, remove_workspace, retire_workspace
from qloop.run import implementer
from qloop.run.desk import Desk, Emit
from qloop.run.evidence import has_commands, judge
from qloop.run.finding import enumerate_names
from qloop.run.gates import GateCancelled
from qloop.run.looking import Lookout
from qloop.run.orders import AttemptOrder, Failed, Outcome, ReviewNote
from qloop.run.reviewing import review
from qloop.run.setting_up import gate_room, set_up
from qloop.state.journal import EventKind
from qloop.system.cancel import Cancel
from qloop.system.errors import QloopError
from qloop.system.masking import mask_file, mask_strings
from qloop.system.ports import leased_ports

LONGEST_TRACE_BYTES = 100_000_000
BRANCH_PREFIX = "ql-wt/"
Look = Callable[[], Snapshot]
"""Waits for a snapshot that was begun."""

Work = Callable[[Desk, AttemptOrder], implementer.Claim]


@dataclass(frozen=True, slots=True)
class Watch:
    """What an attempt is given by the process it runs in."""

    emit: Emit
    cancel: Cancel
    """Set: end what runs, keep the work, come back."""
    halted: Event
    """Set: start no implementer any more (a guard tripped in this wave)."""
    later: Callable[[Callable[[], object]], object] = lambda work: work()
    """Given what may as well be done when the attempt has settled."""
    work: Work = implementer.work
    """Has the implementer work; its work is in the desk's worktree then, and none of it runs."""


def attempt(order: AttemptOrder, watch: Watch) -> Outcome:
    """Make one attempt. What git or the machine does wrong is raised, not returned."""
    place = order.terms.place
    repository = Repository(root=Path(place.root), git_dir=Path(place.git_dir))
    with leased_ports() as port_base, closing(Lookout(repository)) as lookout:
        return _attempt(order, watch, lookout, port_base)


def _attempt(order: AttemptOrder, watch: Watch, lookout: Lookout, port_base: int | None) -> Outcome:
    place, repository = order.terms.place, lookout.repository
    unset = not order.commands.setup  # else what set-up does there is to be seen before
    before = lookout.begin() if unset else None
    workspace = create_workspace(
        repository,
        PersonSettings.from_dict(order.terms.settings),
        Path(place.base),
        order.dispatch.attempt_id,
        f"{BRANCH_PREFIX}{order.dispatch.story}",
        order.start,
        _cone(order, repository),
    )
    desk = Desk(
        order.terms,
        order.wave,
        order.dispatch,
        workspace,
        watch.emit,
        watch.cancel,
        tickets={one.role: one for one in order.dispatch.reserved},
        port_base=port_base,
    )
    try:
        desk.logs.mkdir(parents=True, exist_ok=True)
        ready, failed = set_up(desk, repository, order.commands.setup, order.commands.copy_files)
    except BaseException:
        remove_workspace(workspace)  # no agent was there yet
        raise
    try:
        outcome = _within(order, watch, lookout, ready, failed, before)
    except BaseException as fault:
        _leave(ready, repository, fault)
        raise
    finally:
        mask_file(ready.trace, ready.secrets(), LONGEST_TRACE_BYTES)
    watch.later(lambda: retire_workspace(workspace))
    # What was found may be named by the agent, after a secret too, and is written down.
    return Outcome.model_validate(mask_strings(outcome.model_dump(), ready.secrets()))


def _cone(order: AttemptOrder, repository: Repository) -> tuple[str, ...]:
    """The folders that the story's files lie in, where trees are to hold no more than that."""
    if not order.terms.sparse:
        return ()
    tasks = order.read_story().tasks
    return find_cone(repository, order.start, [path for task in tasks for path in task.file_paths])


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


def _within(
    order: AttemptOrder,
    watch: Watch,
    lookout: Lookout,
    desk: Desk,
    failed: Failed | None,
    begun: Look | None,
) -> Outcome:
    repository = lookout.repository
    if failed is None and watch.halted.is_set():
        failed = Failed.not_started()
    if failed is not None:
        kept = _keep(desk, repository, failed.reason)
        return Outcome(start=order.start, tip=kept.tip, failed=failed)
    before = (begun or lookout.begin())()
    desk.write_story(order.story)
    claimed = watch.work(desk, order)
    return _judged(order, repository, desk, before, claimed, lookout.begin())


def _judged(
    order: AttemptOrder,
    repository: Repository,
    desk: Desk,
    before: Snapshot,
    claimed: implementer.Claim,
    seen: Look,
) -> Outcome:
    tip, broken = _keep_or_say(desk, repository, claimed)
    done = Outcome(start=order.start, tip=tip, mark=claimed.mark)
    marked, after = undo_marked(desk, repository, before, seen())
    undone = marked or claimed.breach
    if claimed.failed is not None and not (undone and claimed.failed.charged):
        return done.model_copy(update={"failed": claimed.failed})
    broken = claimed.breach or broken or _tripped(desk, repository)
    breach = "\n".join(filter(None, [broken, *marked]))
    if breach:
        return breached(desk, done, breach, claimed.log)
    if not _changed(repository, order.start, tip) and not order.story.get("allowEmpty"):
        reason = "said STORY_PASSED, but changed nothing (allowEmpty lets it pass so)"
        failed = Failed(phase=Phase.AGENT_FAILED, reason=reason, log=claimed.log)
        return done.model_copy(update={"failed": failed})
    judged, marked, after = _by_commands(order, repository, desk, done, after)
    if not marked and judged.failed is None and order.dispatch.reviewers:
        judged = review(order, repository, desk, judged)
        marked, _ = undo_marked(desk, repository, after, take_snapshot(repository))
    return breached(desk, done, "\n".join(marked), claimed.log) if marked else judged


def _by_commands(
    order: AttemptOrder, repository: Repository, desk: Desk, done: Outcome, before: Snapshot
) -> tuple[Outcome, tuple[str, ...], Snapshot]:
    """What the plan's commands say, and what they did to the person's repository.

    They run what the agent wrote, under the attempt's mark.
    """
    try:
        judged = judge(order, desk, gate_room(desk), done)
    except GateCancelled:
        judged = done.model_copy(update={"failed": Failed.interrupted()})
    if not has_commands(order):
        return judged, (), before  # nothing ran since the last look
    return judged, *undo_marked(desk, repository, before, take_snapshot(repository))


def _keep_or_say(desk: Desk, repository: Repository, claimed: implementer.Claim) -> tuple[str, str]:
    """The commit that holds the attempt's work, and what is wrong where its commits are broken."""
    why = claimed.failed.reason if claimed.failed else "implemented"
    try:
        return _keep(desk, repository, why).tip, ""
    except CarryFailed as exc:
        return desk.workspace.start, str(exc)


def _keep(desk: Desk, repository: Repository, why: str) -> Salvaged:
    dispatch = desk.dispatch
    kept = salvage(desk.workspace, repository, dispatch.story, dispatch.attempt, why)
    if kept.unsaved:
        text = f"{dispatch.story}: git cannot hold {enumerate_names(kept.unsaved)}, so it is lost"
        desk.emit(EventKind.STATE_REPAIRED, text=text)
    return kept


def undo_marked(
    desk: Desk, repository: Repository, before: Snapshot, after: Snapshot
) -> tuple[tuple[str, ...], Snapshot]:
    """Take back what bears the attempt's mark in the person's repository.

    Returns a sentence on each such thing, and what was seen there before any was taken back.
    """
    attempt_id = desk.dispatch.attempt_id
    changes = find_changes(repository, before, after, attempt_id, read_trace(desk.trace))
    if changes.unmarked:
        desk.emit(EventKind.PERSON_CHANGED, changes=[change.text for change in changes.unmarked])
    told = keep_and_undo(repository, changes, attempt_id)
    if told:
        desk.emit(EventKind.GUARD_BREACHED, reason="\n".join(told))
    return told, after


def _tripped(desk: Desk, repository: Repository) -> str:
    """Why the guard trips, or nothing."""
    try:
        check_guard(desk.workspace, repository)
    except GuardTripped as tripped:
        desk.emit(EventKind.GUARD_BREACHED, reason=str(tripped))
        return str(tripped)
    return ""


def breached(desk: Desk, done: Outcome, breach: str, log: str | None) -> Outcome:
    """The outcome of an attempt whose guard tripped."""
    attempt_id = desk.dispatch.attempt_id
    note = ReviewNote(status="failed", evidence=f"guard, attempt {attempt_id}: {breach}")
    failed = Failed(phase=Phase.GUARD, reason=breach, log=log)
    return done.model_copy(update={"spec": note, "quality": note, "failed": failed, "breach": True})


def _changed(repository: Repository, start: str, tip: str) -> bool:
    if start == tip:
        return False
    old, new = repository.git.find_all(f"{start}^{{tree}}", f"{tip}^{{tree}}")
    return old is None or old != new
