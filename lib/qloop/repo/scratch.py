"""What set-up left in a worktree: kept out of every commit, and kept when all else is cleaned.

Errors: GitFailed. Source: git-ls-files(1), git-checkout(1), gitignore(5).
"""

import contextlib
import dataclasses
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePosixPath

from qloop.repo.guard import OPERATIONS
from qloop.repo.removal import (
    ensure_real_folder,
    is_real_file,
    is_real_folder,
    open_folders,
    put,
    remove_all,
    walk_files,
)
from qloop.repo.skeleton import exclude_pattern
from qloop.repo.worksite import Workspace, restore_workspace, write_record

MANY_FILES = 256
"""A wholly untracked folder with more files is noted as a folder, not by its files."""

_EXCLUDE = "info/exclude"
_LOCKS = ("index.lock", "HEAD.lock")


@dataclass(slots=True)
class _Left:
    files: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)


def note_setup(ws: Workspace) -> Workspace:
    """Take what is untracked now as set-up's; return the workspace that knows of it.

    From here on git ignores it in this workspace, whatever else is ignored.
    """
    left = _Left()
    for entry in ws.git.fields("ls-files", "-z", "--others", "--directory"):
        _note_entry(ws.tree, entry, left)
    patterns = b"".join(exclude_pattern(path) for path in _visible(ws, left.files))
    noted = dataclasses.replace(
        ws,
        leftovers=tuple(left.files),
        empty_folders=tuple(left.empty),
        pristine={**ws.pristine, _EXCLUDE: ws.pristine[_EXCLUDE] + patterns},
    )
    put(ws.git_dir / _EXCLUDE, noted.pristine[_EXCLUDE])
    write_record(noted)
    return noted


def note_no_setup(ws: Workspace) -> Workspace:
    """Take it that nothing is set-up's, since there was none; return the workspace."""
    write_record(ws)
    return ws


def clean_to(ws: Workspace, commit: str) -> None:
    """Make the worktree hold *commit* and what set-up left, and nothing else.

    Works on a worktree in any state: operations begun in it, flags in its index, repositories
    in it or a missing `.git` are put right.
    """
    restore_workspace(ws)
    ensure_real_folder(ws.tree)
    open_folders(ws.tree, to_write=True)
    put(ws.tree / ".git", ws.link)
    for name in (*OPERATIONS, *_LOCKS, "info/sparse-checkout"):
        remove_all(ws.admin / name)
    put(ws.admin / "HEAD", commit.encode() + b"\n")
    _clear_flags(ws)
    _sweep(ws)
    ws.git.run("checkout", "--quiet", "--force", "--detach", commit)
    _sweep(ws)
    for name in ws.empty_folders:
        (ws.tree / name).mkdir(parents=True, exist_ok=True)


def _visible(ws: Workspace, paths: list[str]) -> list[str]:
    """Those of the untracked *paths* that nothing ignores."""
    if not paths:
        return []
    listing = ("ls-files", "-z", "--others", "--directory", "--exclude-standard")
    return _covered(paths, ws.git.fields(*listing))


def _note_entry(tree: Path, entry: str, left: _Left) -> None:
    if not entry.endswith("/"):
        left.files.append(entry)
        return
    folder = tree / entry
    found = [str(path.relative_to(tree)) for path in islice(walk_files(folder), MANY_FILES + 1)]
    whole = len(found) > MANY_FILES or any(".git" in PurePosixPath(name).parts for name in found)
    left.files.extend([entry] if whole else sorted(found))
    if not whole:
        left.empty.extend(_empty_folders(tree, folder))


def _empty_folders(tree: Path, folder: Path) -> list[str]:
    return [
        str(Path(here).relative_to(tree))
        for here, folders, names in os.walk(folder)
        if not folders and not names
    ]


def _covered(paths: Iterable[str], entries: Iterable[str]) -> list[str]:
    """The paths that are one of *entries* or lie in one of its folders."""
    known = set(entries)
    return [path for path in paths if path in known or known.intersection(_folders(path))]


def _folders(path: str) -> list[str]:
    """The folders a path lies in, with a final slash."""
    return [f"{parent}/" for parent in PurePosixPath(path).parents if parent.parts]


def _clear_flags(ws: Workspace) -> None:
    """Undo what makes git overlook changed files; an index that cannot be read is thrown away."""
    done = ws.git.attempt("ls-files", "-z", "-v")
    if done.code != 0:
        remove_all(ws.admin / "index")
        return
    flagged = [line[2:] for line in done.out.split(b"\0") if line[:1].islower() or line[:1] == b"S"]
    if flagged:
        names = b"\0".join(flagged) + b"\0"
        for option in ("--no-assume-unchanged", "--no-skip-worktree"):
            ws.git.run("update-index", option, "-z", "--stdin", stdin=names)


def _sweep(ws: Workspace) -> None:
    kept = frozenset(ws.leftovers)
    for entry in ws.git.fields("ls-files", "-z", "--others", "--directory"):
        _remove_but(ws.tree, entry, kept)
    tracked = ws.git.fields("ls-files", "-z")
    for folder in {"", *(parent for path in tracked for parent in _folders(path))}:
        if is_real_folder(ws.tree / folder):
            _remove_unlisted(ws.tree / folder, is_root=not folder)


def _remove_unlisted(folder: Path, *, is_root: bool) -> None:
    """Remove what git never lists: a repository around tracked files, pipes, sockets."""
    for path in list(folder.iterdir()):
        inner_git = path.name == ".git" and not is_root
        if inner_git or not (is_real_file(path) or path.is_symlink() or is_real_folder(path)):
            remove_all(path)


def _remove_but(tree: Path, entry: str, kept: frozenset[str]) -> None:
    """Remove an untracked file or folder, but for what is kept in it."""
    path = tree / entry.rstrip("/")
    if entry in kept or kept.intersection(_folders(entry)):
        return
    if not is_real_folder(path) or not any(
        name.startswith(f"{entry.rstrip('/')}/") for name in kept
    ):
        remove_all(path)
        return
    ensure_real_folder(path)
    for child in list(path.iterdir()):
        name = str(child.relative_to(tree))
        _remove_but(tree, f"{name}/" if is_real_folder(child) else name, kept)
    with contextlib.suppress(OSError):
        path.rmdir()
