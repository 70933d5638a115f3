"""Recovery: what a dead run left behind, put in order before anything new starts.

Git decides what landed; the journal names the attempts; work is salvaged before anything is
removed. Whoever calls this holds the run lock, or knows that a coordinator is gone.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from qloop.plan.model import Json, Phase, Status
from qloop.repo.checkout import Repository
from qloop.repo.line import find_landed
from qloop.repo.names import parse_attempt_id
from qloop.repo.salvage import salvage
from qloop.repo.starts import held_starts, release_start
from qloop.repo.workspace import (
    Workspace,
    find_leftovers,
    find_workspaces,
    remove_workspace,
)
from qloop.run import holder
from qloop.run.records import execution_of, set_reviews
from qloop.state.journal import Event, EventKind, Journal
from qloop.state.ownership import DRIVER, coordinator_of
from qloop.state.store import Store
from qloop.system.cancel import Cancel
from qloop.system.clock import monotonic_s, utc_now
from qloop.system.errors import QloopError
from qloop.system.identity import is_alive, parse_process_id
from qloop.system.tree import Marks, end_tree

ORPHAN_GRACE_S = 3.0
LOCK_WAIT_S = 30.0
OLD_LOCK_S = 2.0
LOOK_EVERY_S = 0.1


@dataclass(frozen=True, slots=True)
class Started:
    """An attempt as the journal recorded it at dispatch."""

    story: str
    attempt: int
    attempt_id: str


def take_lock(repository: Repository, journal: Journal, cancel: Cancel) -> int:
    """The run lock, after ending the coordinators that a dead run left to hold it.

    Raises RepositoryBusy; KeyboardInterrupt where *cancel* is set while it waits.
    """
    private = holder.private_folder(repository)
    deadline = monotonic_s() + LOCK_WAIT_S
    while True:
        descriptor = holder.try_lock(repository)
        if descriptor is not None:
            return descriptor
        if cancel.is_set:
            raise KeyboardInterrupt
        former = holder.read_holder(private)
        if (former is not None and former.alive) or monotonic_s() > deadline:
            raise holder.busy(private)
        if former is not None:
            # By its own mark alone: another new run may have the lock by now, and be at work.
            end_processes(journal, former.run_id)
        time.sleep(LOOK_EVERY_S)


def end_processes(
    journal: Journal,
    run_id: str,
    folders: tuple[Path, ...] = (),
    *,
    roots: tuple[int, ...] = (),
    orphans: bool = False,
) -> None:
    """End a dead run's coordinators and agents, and journal what could not be ended.

    *folders* are those that only its agents work in, *roots* processes of it that the journal
    does not name; *orphans* as `end_tree` has it.
    """
    recorded = (
        parse_process_id(event.data.get("process") or {}) for event in journal.events(run_id)
    )
    known = [one.pid for one in recorded if one is not None and is_alive(one)]
    marks = Marks(env=(f"QLOOP_RUN={run_id}",), folders=folders)
    for left in end_tree((*known, *roots), marks, grace_s=ORPHAN_GRACE_S, orphans=orphans):
        text = f"process {left.pid} of {run_id} could not be ended"
        journal.append(EventKind.STATE_REPAIRED, text=text)


def remove_dead_locks(repository: Repository, branch: str) -> list[str]:
    """Remove lock files that killed git commands left on qloop's references and the branch."""
    refs = repository.git_dir / "refs"
    candidates = [*(refs / "qloop").rglob("*.lock"), refs / "heads" / f"{branch}.lock"]
    removed: list[str] = []
    for path in candidates:
        try:
            seen = path.stat()
            age = time.time() - seen.st_mtime
            time.sleep(max(0.0, min(OLD_LOCK_S, OLD_LOCK_S - age)))
            found = path.stat()
            if (found.st_ino, found.st_mtime_ns) != (seen.st_ino, seen.st_mtime_ns):
                continue  # the one that was seen went by itself: this is a living command's
            path.unlink()
        except (FileNotFoundError, NotADirectoryError):  # a branch may lie in the way
            continue
        name = path.relative_to(repository.git_dir)
        removed.append(f"removed the lock {name} of a command that is gone")
    return removed


def last_attempts(events: Sequence[Event], branch: str) -> dict[str, Started]:
    """Each story's newest dispatch for *branch*, as the journal recorded it."""
    found: dict[str, Started] = {}
    for event in events:
        if event.event != EventKind.ATTEMPT_STARTED or event.data.get("branch") != branch:
            continue
        if event.story and event.attempt:
            attempt_id = str(event.data.get("attempt_id", ""))
            found[event.story] = Started(event.story, event.attempt, attempt_id)
    return found


def correct_stories(
    repository: Repository, store: Store, events: Sequence[Event], branch: str
) -> list[str]:
    """Settle stories that a dead run left in_progress by what is true in git."""
    started = last_attempts(events, branch)
    open_ids = _at_work(store)
    landed = {
        story_id: commit
        for story_id in open_ids
        if (one := started.get(story_id)) is not None
        and (commit := find_landed(repository, branch, one.attempt_id, story_id)) is not None
    }
    if open_ids:
        # In this order: a story that is passed is never looked at again.
        fill_landed(store, events, [started[story_id] for story_id in landed])
        _correct(store, open_ids, landed, started)
    return [
        f"{story_id}: landed as {landed[story_id]}"
        if story_id in landed
        else f"{story_id}: was at work when the run died, is ready again"
        for story_id in open_ids
    ]


def _at_work(store: Store) -> list[str]:
    outline = store.outline()
    if outline is not None:
        return [one.id for one in outline.stories if one.status is Status.IN_PROGRESS]
    return [one["id"] for one in store.read()["stories"] if one.get("status") == "in_progress"]


def tidy_workspaces(repository: Repository, is_dead: Callable[[str], bool], why: str) -> list[str]:
    """Salvage and remove worktrees whose attempts are dead; returns what was kept and why."""
    kept: list[str] = []
    for workspace in find_leftovers(repository):
        if not is_dead(workspace.attempt_id):
            continue
        try:
            _salvage_leftover(repository, workspace, why)
        except (QloopError, OSError) as exc:
            kept.append(f"{workspace.tree}: {exc}")
            continue
        if not remove_workspace(workspace):
            kept.append(f"{workspace.tree}: could not be removed")
    return kept


def release_starts(repository: Repository) -> None:
    """Let go of the start commits of dead attempts whose worktrees are gone."""
    kept = {workspace.name for workspace in find_workspaces(repository)}
    for attempt_id in held_starts(repository):
        if attempt_id not in kept and not release_start(repository, attempt_id):
            return


def _salvage_leftover(repository: Repository, workspace: Workspace, why: str) -> None:
    parsed = parse_attempt_id(workspace.attempt_id)
    if parsed is None or not workspace.tree.exists():
        return
    salvage(workspace, repository, parsed.story, parsed.attempt, why)


def _correct(
    store: Store, open_ids: list[str], landed: dict[str, str], started: dict[str, Started]
) -> None:
    with store.transaction(DRIVER, open_ids) as draft:
        for story in draft["stories"]:
            if story.get("id") not in open_ids:
                continue
            passed = story["id"] in landed
            story["status"] = str(Status.PASSED if passed else Status.PENDING)
            story["startedAt"] = None
            if not passed:
                add_failure(story, started.get(story["id"]), Phase.INTERRUPTED, "the run died")
        execution_of(draft)["activeWorktrees"] = []


def add_failure(
    story: Json, started: Started | None, phase: Phase, reason: str, log: str | None = None
) -> None:
    """Append an entry to a story's failure log."""
    retries = story.get("retries")
    retries = story["retries"] = dict(retries) if isinstance(retries, dict) else {}
    entry: Json = {
        "attempt": started.attempt if started else None,
        "phase": str(phase),
        "reason": reason,
        "timestamp": utc_now(),
        "log": log,
    }
    entries = [*(retries.get("failureLog") or [])]
    entries.append({key: value for key, value in entry.items() if value is not None})
    retries["failureLog"] = entries


def fill_landed(store: Store, events: Sequence[Event], landed: Sequence[Started]) -> None:
    """What a dead coordinator left unwritten of stories that landed, in its name.

    Their reviews stand in the journal; their tasks have passed.
    """
    notes = {
        (event.story, event.attempt): event.data["review"]
        for event in events
        if event.event == EventKind.REVIEW_ENDED and event.data.get("review")
    }
    attempts = {one.story: one.attempt for one in landed}
    with store.transaction(coordinator_of(attempts), attempts) as draft:
        for story in draft["stories"]:
            if story.get("id") not in attempts:
                continue
            written = notes.get((story["id"], attempts[story["id"]]))
            if written:
                set_reviews(story, written)
            for task in story.get("tasks") or []:
                task["status"] = "passed"
