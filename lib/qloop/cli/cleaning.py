"""What the cleaning, recovering and toolkit commands do once their words are parsed."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from qloop.cli.context import resolve_quantum
from qloop.repo.checkout import find_repository
from qloop.ui import console

WORKTREE_COLUMNS = ("story", "attempt", "path", "branch", "commit")
SALVAGE_COLUMNS = ("story", "attempt", "ref", "commit", "when", "why")


def list_worktrees(*, as_json: bool) -> int:
    """Every attempt's worktree."""
    from qloop.repo.workspace import list_workspaces

    rows = list_workspaces(find_repository(Path.cwd()))
    return _show(WORKTREE_COLUMNS, rows, "there are no worktrees of attempts", as_json)


def clean_worktrees(quantum: Path | None, *, everything: bool, dry_run: bool, as_json: bool) -> int:
    """Remove what no run uses, and say what was kept and why."""
    from qloop.run.cleaning import clean

    repository = find_repository(Path.cwd())
    state_file = resolve_quantum(repository.root, quantum)
    done = clean(repository, state_file, everything=everything, dry_run=dry_run)
    if as_json:
        console.print_json(asdict(done))
        return 0
    verb = "would be removed" if dry_run else "removed"
    for path in done.removed:
        console.result(f"{verb}: {path}")
    for text in done.kept:
        console.result(f"kept: {text}")
    console.say(f"{len(done.removed)} {verb}, {len(done.kept)} kept")
    return 0


def list_salvaged(*, as_json: bool) -> int:
    """What was kept of every attempt."""
    from qloop.repo.kept import list_salvage

    rows = list_salvage(find_repository(Path.cwd()))
    return _show(SALVAGE_COLUMNS, rows, "nothing was salvaged yet", as_json)


def show_salvaged(story: str, attempt: int | None) -> int:
    """What one attempt changed."""
    from qloop.repo.kept import find_salvage, show_salvage

    repository = find_repository(Path.cwd())
    console.result(show_salvage(repository, find_salvage(repository, story, attempt)))
    return 0


def restore_salvaged(story: str, attempt: int | None, branch: str | None) -> int:
    """A new branch of what one attempt left."""
    from qloop.repo.kept import restore_salvage
    from qloop.run.inside import check_outside

    repository = find_repository(Path.cwd())
    check_outside(repository, "salvage restore")
    made, commit = restore_salvage(repository, story, attempt, branch)
    console.result(f"{made} {commit}")
    console.say(f"look at it: git log {made}; take it up: git switch {made}")
    return 0


def check_head_advance(before: str, after: str) -> int:
    """Whether *after* descends from *before*; the guard's error tells where it does not."""
    from qloop.repo.checkout import find_git
    from qloop.repo.guard import head_advance

    head_advance(find_git(Path.cwd()), before, after)
    return 0


def _show(columns: Sequence[str], rows: Sequence[Any], nothing: str, as_json: bool) -> int:
    values = [asdict(row) for row in rows]
    if as_json:
        console.print_json(values)
    elif values:
        console.table(columns, [[row[name] for name in columns] for row in values])
    else:
        console.say(nothing)
    return 0
