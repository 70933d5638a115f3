"""Workspaces made, found, listed and removed.

Errors: SetupFailed, GitFailed. Source: git-worktree(1).
"""

import contextlib
import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from qloop.repo.checkout import Repository
from qloop.repo.git import Git
from qloop.repo.names import parse_attempt_id
from qloop.repo.pool import give_tree, take_tree
from qloop.repo.removal import ensure_real_folder, lies_there, put, remove_all
from qloop.repo.settings import PersonSettings
from qloop.repo.skeleton import repository_files
from qloop.repo.worksite import (
    RECORDS,
    WHOLE_TREE,
    SetupFailed,
    Workspace,
    prepare_admin,
    read_record,
    restore_repository,
    restore_workspace,
    write_record,
)
from qloop.system.files import Held, open_locked

__all__ = [
    "SetupFailed",
    "Workspace",
    "WorkspaceRow",
    "create_workspace",
    "find_leftovers",
    "find_workspaces",
    "list_workspaces",
    "remove_workspace",
    "restore_workspace",
    "retire_workspace",
]


@dataclass(frozen=True, slots=True)
class WorkspaceRow:
    """A line of `worktree list`."""

    story: str
    attempt: int
    path: str
    branch: str | None
    commit: str


def create_workspace(
    repository: Repository,
    settings: PersonSettings,
    base: Path,
    name: str,
    branch: str | None,
    start: str,
    cone: tuple[str, ...] = (),
) -> Workspace:
    """Make a repository of its own and a worktree at *start* in it, of *cone* alone if given.

    A dead workspace of the same name is removed first. Raises SetupFailed where something that
    is not qloop's has the place, GitFailed where git fails; then nothing is left behind.
    """
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    base = base.resolve()
    made = Workspace(
        name=name,
        base=base,
        branch=branch,
        start=start,
        admin=base / f"{name}.git" / "worktrees" / name,
        author=(settings.name, settings.email),
        person=repository.git_dir,
        pristine=repository_files(repository, settings, base / f"{name}.git", cone),
        cone=cone,
    )
    _clear_place(made)
    # Until set-up's end is noted, what a crash leaves untracked here can only be set-up's.
    write_record(replace(made, leftovers=(WHOLE_TREE,)))
    try:
        return _add_worktree(made)
    except BaseException:
        remove_workspace(made)
        raise


def remove_workspace(ws: Workspace) -> bool:
    """Remove worktree, repository and temporary files; return whether all are really gone.

    No link is followed. Each folder is renamed first, so that a half removed one is never taken
    for a worktree with work in it.
    """
    if not _remove_aside(ws.tree, ws.tmp, ws.git_dir):
        return False
    ws.first_index.unlink(missing_ok=True)
    ws.record.unlink(missing_ok=True)
    ws.lock.unlink(missing_ok=True)
    return True


def retire_workspace(ws: Workspace) -> bool:
    """Remove a workspace whose work was salvaged; its files may serve the next attempt."""
    give_tree(ws)
    return remove_workspace(ws)


def find_workspaces(repository: Repository) -> tuple[Workspace, ...]:
    """Every workspace that was made for this repository and not removed, by name."""
    found = []
    for path in sorted((repository.git_dir / RECORDS).glob("*.json")):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            found.append(read_record(path))
    return tuple(found)


def find_leftovers(repository: Repository) -> tuple[Workspace, ...]:
    """Those that no living process holds; whoever has the run lock may remove them."""
    return tuple(one for one in find_workspaces(repository) if not _is_held(one))


def list_workspaces(repository: Repository) -> tuple[WorkspaceRow, ...]:
    """The attempts' worktrees for people to look at; reads them as they are."""
    rows = []
    for ws in find_workspaces(repository):
        parts = parse_attempt_id(ws.attempt_id)
        if parts is not None:
            branch, commit = _whereabouts(ws)
            rows.append(
                WorkspaceRow(parts.story, parts.attempt, str(ws.tree), branch, commit or ws.start)
            )
    return tuple(rows)


def _is_held(ws: Workspace) -> bool:
    if not ws.lock.exists():
        return False
    try:
        os.close(open_locked(ws.lock, wait=False))
    except Held:
        return True
    return False


def _add_worktree(ws: Workspace) -> Workspace:
    restore_repository(ws)
    ensure_real_folder(ws.tmp)
    prepare_admin(ws)
    if ws.cone or not take_tree(ws):
        ensure_real_folder(ws.tree)
        put(ws.tree / ".git", ws.link)
        ws.git.run("read-tree", "--reset", "-u", ws.start)
    shutil.copy2(ws.admin / "index", ws.first_index)
    return ws


def _clear_place(ws: Workspace) -> None:
    """Make room. What lies there is qloop's if there is a record, or if the name is an id."""
    taken = [path for path in (ws.tree, ws.tmp, ws.git_dir) if lies_there(path)]
    if not taken:
        return
    if not ws.record.exists() and parse_attempt_id(ws.name) is None:
        raise SetupFailed(
            "something that qloop did not make is in the way",
            where=str(taken[0]),
            fix="move it away, or set worktree_root in qloop.toml",
        )
    if not remove_workspace(ws):
        raise SetupFailed("a dead worktree could not be removed", where=str(ws.tree))


def _remove_aside(*paths: Path) -> bool:
    asides = [path.with_name(f".{path.name}.gone") for path in paths]
    remove_all(*asides)
    for path, aside in zip(paths, asides, strict=True):
        with contextlib.suppress(OSError):
            path.rename(aside)
    return remove_all(*asides) and not any(map(lies_there, paths))


def _whereabouts(ws: Workspace) -> tuple[str | None, str | None]:
    """The branch and commit of a worktree's HEAD, as far as they can be read."""
    if not ws.admin.is_dir():
        return None, None
    git = Git(ws.admin)
    done = git.attempt("symbolic-ref", "--quiet", "--short", "HEAD")
    return done.text if done.code == 0 else None, git.find("HEAD^{commit}")
