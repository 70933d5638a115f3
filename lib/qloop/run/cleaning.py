"""`worktree clean`: what no run uses is salvaged, then removed; what stays is said, and why."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from qloop.plan.document import load_document
from qloop.plan.validate import check_plan
from qloop.repo.checkout import Repository
from qloop.repo.names import parse_attempt_id
from qloop.repo.pool import drain
from qloop.repo.workspace import Workspace, find_leftovers
from qloop.run import holder, recover
from qloop.run.inside import check_outside
from qloop.system.errors import QloopError


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What is really gone, and what was kept with the reason."""

    removed: tuple[str, ...]
    kept: tuple[str, ...]


def clean(repository: Repository, quantum: Path, *, everything: bool, dry_run: bool) -> Cleaned:
    """Remove worktrees of attempts that are over; with *everything* also resumable ones.

    While a run holds the repository its worktrees stay. Nothing is removed whose work is not
    reachable from a reference.
    """
    check_outside(repository, "worktree clean")
    found = find_leftovers(repository)
    lock = holder.try_lock(repository)
    if lock is None:
        label = str(holder.busy(holder.private_folder(repository)).what)
        return Cleaned((), tuple(f"{one.tree}: {label}" for one in found))
    try:
        resumable = {} if everything else _resumable(found, quantum)
        gone = [one for one in found if one.name not in resumable]
        kept = list(resumable.values())
        if not dry_run:
            for base in {one.base for one in found}:
                drain(base)
            names = {one.name for one in gone}
            kept += recover.tidy_workspaces(repository, names.__contains__, "cleaned away")
            left = {one.name for one in find_leftovers(repository)}
            gone = [one for one in gone if one.name not in left]
        return Cleaned(tuple(str(one.tree) for one in gone), tuple(kept))
    finally:
        holder.release(lock)


def _resumable(found: Iterable[Workspace], quantum: Path) -> dict[str, str]:
    """Worktrees of stories that a dead run left at work, with the reason to keep them."""
    try:
        plan = check_plan(load_document(quantum), str(quantum))
    except QloopError:
        return {}
    at_work = {story.id for story in plan.stories if story.status == "in_progress"}
    kept: dict[str, str] = {}
    for one in found:
        name = parse_attempt_id(one.attempt_id)
        if name is not None and name.story in at_work:
            reason = f"{name.story} is in_progress, the next run takes it up (or --all)"
            kept[one.name] = f"{one.tree}: {reason}"
    return kept
