"""`worktree clean`: what no run uses is salvaged, then removed; what stays is said, and why."""

from dataclasses import dataclass

from qloop.repo.checkout import Repository
from qloop.repo.workspace import find_workspaces
from qloop.run import holder, recover
from qloop.run.inside import check_outside


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What is really gone, and what was kept with the reason."""

    removed: tuple[str, ...]
    kept: tuple[str, ...]


def clean(repository: Repository, *, everything: bool, dry_run: bool) -> Cleaned:
    """Remove worktrees of attempts that are over; with *everything* also resumable ones.

    While a run holds the repository its worktrees stay. Nothing is removed whose work is not
    reachable from a reference.
    """
    check_outside(repository, "worktree clean")
    found = find_workspaces(repository)
    lock = holder.try_lock(repository)
    if lock is None:
        label = str(holder.busy(holder.private_folder(repository)).what)
        return Cleaned((), tuple(f"{one.tree}: {label}" for one in found))
    try:
        if dry_run:
            return Cleaned(tuple(str(one.tree) for one in found), ())
        kept = recover.tidy_workspaces(repository, lambda _: True, "cleaned away")
        left = {one.name for one in find_workspaces(repository)}
        gone = tuple(str(one.tree) for one in found if one.name not in left)
        return Cleaned(gone, tuple(kept))
    finally:
        holder.release(lock)
