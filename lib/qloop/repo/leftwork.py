"""The tree of all that lies in a worktree, whatever its index says.

It is built in a fresh index, from paths that are looked at one by one: no sparse, skip-worktree
or assume-unchanged setting hides work, no repository in the worktree is asked for its state, and
the content of a repository that the agent made there is taken as files.
Errors: GitFailed. Source: git-update-index(1), git-ls-files(1), git-cat-file(1).
"""

import contextlib
import os
import re
import stat
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from qloop.repo.git import Git, GitFailed, pairs
from qloop.repo.removal import is_real_folder, lies_there, open_folders, walk_files
from qloop.repo.work_index import Entry, fill_index, list_all, list_others, list_touched
from qloop.repo.worksite import Workspace

_GITLINK = "160000"
_CHECKED = re.compile(
    r"(?:^|/)(?:\.?gitmod|gi7eb|\.?gitattributes|gitatt~|gi7d29)[^/]*$", re.IGNORECASE
)
"""`.gitmodules`, `.gitattributes`, and what other file systems take for them."""
_FAULTY = re.compile(
    rb"^fatal: (?:Unable to process path (.*)|(.*): clean filter '.*' failed)$", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class LeftWork:
    """What a worktree holds, as a tree object of the attempt repository."""

    tree: str
    unsaved: tuple[str, ...]
    """Paths that git cannot hold, and submodules whose own work stays behind."""


@dataclass(frozen=True, slots=True)
class _Staged:
    """An entry that differs between a commit and the index."""

    path: str
    old_mode: str
    mode: str
    old: str
    status: str
    """As in git-diff-index(1): added, deleted, modified, of another type."""


def write_work_tree(ws: Workspace, head: str) -> LeftWork:
    """Write the tree of the worktree's files, with *head* as what they are compared to.

    Left out are ignored files, what set-up left, and special files. The workspace must have been
    restored, and its tree must be a real folder.
    """
    open_folders(ws.tree, to_write=False)
    with tempfile.TemporaryDirectory(dir=ws.git_dir) as folder:
        git = Git(ws.git_dir, work_tree=ws.tree, index=Path(folder) / "index")
        known = fill_index(git, ws, head)
        tracked, others = list_touched(git, ws.cone) if known else list_all(git)
        found, missing = _look(ws.tree, tracked)
        hidden = _hidden(ws) if missing else frozenset()
        gone = [path for path in missing if path not in hidden]
        if gone:  # what stood in the index may have hidden what stands in its place now
            _drop(git, gone)
            others = list_others(git)
        elif not tracked and not others:
            return LeftWork(git.text("write-tree"), ())
        submodules = _update_submodules(git, ws.tree, tracked)
        added = [*found, *_untracked(git, ws, tracked, others)]
        staged, unsaved = _add(git, ws.tree, added, tracked, head)
        _put_back_untouched(git, ws.tree, staged)
        return LeftWork(git.text("write-tree"), (*unsaved, *submodules))


def without_checked_files(ws: Workspace, tree: str) -> str:
    """The tree less every `.gitmodules` and `.gitattributes`, whose content a check may refuse."""
    with tempfile.TemporaryDirectory(dir=ws.git_dir) as folder:
        git = Git(ws.git_dir, work_tree=ws.tree, index=Path(folder) / "index")
        git.run("read-tree", tree)
        paths = git.fields("ls-files", "-z")
        _drop(git, [path for path in paths if _CHECKED.search(path)])
        return git.text("write-tree")


def _staged(git: Git, head: str) -> list[_Staged]:
    """How the index differs from *head*."""
    options = ("--cached", "--raw", "-z", "--no-renames", "--ignore-submodules=none")
    staged = []
    for info, path in pairs(git.fields("diff-index", *options, head)):
        old_mode, mode, oid, _, status = info[1:].split(" ")
        staged.append(_Staged(path, old_mode, mode, oid, status))
    return staged


def _hidden(ws: Workspace) -> frozenset[str]:
    """Paths that the agent's index keeps out of the worktree: absent is not deleted."""
    if not is_real_folder(ws.admin):
        return frozenset()
    done = ws.git.attempt("ls-files", "-z", "-v")
    entries = done.out.split(b"\0") if done.code == 0 else []
    return frozenset(os.fsdecode(entry[2:]) for entry in entries if entry[:1] in b"Ss" and entry)


def _look(tree: Path, tracked: dict[str, Entry]) -> tuple[list[str], list[str]]:
    """Tracked paths that are there as files or links, and those that are not."""
    folders: dict[str, bool] = {"": True}
    found: list[str] = []
    missing: list[str] = []
    for path, entry in tracked.items():
        if entry.mode != _GITLINK:
            there = _in_real_folder(tree, path, folders) and _is_content(tree / path)
            (found if there else missing).append(path)
    return found, missing


def _in_real_folder(tree: Path, path: str, known: dict[str, bool]) -> bool:
    parent = path.rpartition("/")[0]
    if parent not in known:
        known[parent] = _in_real_folder(tree, parent, known) and is_real_folder(tree / parent)
    return known[parent]


def _is_content(path: Path) -> bool:
    """Whether it is something that git holds; a file that may not be read is opened."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return False
    if stat.S_ISREG(mode) and not mode & stat.S_IRUSR:
        with contextlib.suppress(OSError):
            path.chmod(stat.S_IMODE(mode) | stat.S_IRUSR)
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)


def _untracked(git: Git, ws: Workspace, tracked: dict[str, Entry], others: list[str]) -> list[str]:
    """Files that are new to *head*, less what is ignored or was left by set-up."""
    found: list[str] = []
    for entry in others:
        found.extend(_nested(git, ws.tree, entry) if entry.endswith("/") else [entry])
    left = frozenset(ws.leftovers)
    return [
        path
        for path in found
        if path not in tracked and not _was_left(path, left) and _is_content(ws.tree / path)
    ]


def _nested(git: Git, tree: Path, folder: str) -> list[str]:
    """The files of a repository in the worktree, without its own git directory."""
    paths = [str(path.relative_to(tree)) for path in walk_files(tree / folder)]
    plain = [path for path in paths if ".git" not in PurePosixPath(path).parts]
    names = b"".join(os.fsencode(path) + b"\0" for path in plain)
    done = git.attempt("check-ignore", "--no-index", "-z", "--stdin", stdin=names)
    if done.code not in (0, 1):
        raise GitFailed(done)
    ignored = {os.fsdecode(name) for name in done.out.split(b"\0")}
    return [path for path in plain if path not in ignored]


def _was_left(path: str, left: frozenset[str]) -> bool:
    folders = {f"{parent}/" for parent in PurePosixPath(path).parents}
    return path in left or not left.isdisjoint(folders)


def _drop(git: Git, paths: Iterable[str]) -> None:
    names = b"".join(os.fsencode(path) + b"\0" for path in paths)
    if names:
        git.run("update-index", "--force-remove", "-z", "--stdin", stdin=names)


def _add(
    git: Git, tree: Path, paths: list[str], tracked: dict[str, Entry], head: str
) -> tuple[list[_Staged], list[str]]:
    """Take files into the index; return what is in it then, and those that cannot be taken."""
    wanted = paths
    refused: list[str] = []
    while (faulty := _find_faulty(git, wanted)) is not None:
        refused.append(faulty)
        wanted = [path for path in wanted if path != faulty]
    staged = _staged(git, head)
    held = tracked.keys() - {one.path for one in staged if one.status == "D"}
    held |= {one.path for one in staged if one.status == "A"}
    raw = {path for path in refused if _add_raw(git, tree / path, path)}
    lost = [path for path in paths if path not in raw and (path in refused or path not in held)]
    return (_staged(git, head) if raw else staged), lost


def _find_faulty(git: Git, paths: list[str]) -> str | None:
    """Take all files into the index, or none; return the first that hinders it."""
    names = b"".join(os.fsencode(path) + b"\0" for path in paths)
    options = ("--add", "--replace", "-z", "--stdin")
    done = git.attempt("-c", "core.safecrlf=false", "update-index", *options, stdin=names)
    if done.code == 0:
        return None
    match = _FAULTY.search(done.err)
    path = os.fsdecode(match[1] or match[2]) if match else ""
    if path not in paths:
        raise GitFailed(done)
    return path


def _add_raw(git: Git, file: Path, path: str) -> bool:
    """Take a file as it lies there, because a filter of the person's fails on it."""
    done = git.attempt("hash-object", "-w", "--no-filters", "--", path)
    if done.code == 0:
        mode = "100755" if file.stat().st_mode & stat.S_IXUSR else "100644"
        git.run("update-index", "--add", "--cacheinfo", f"{mode},{done.text},{path}")
    return done.code == 0


def _update_submodules(git: Git, tree: Path, tracked: dict[str, Entry]) -> list[str]:
    """Record the commits that submodules stand at; return those whose commits are new."""
    moved = []
    for path, entry in tracked.items():
        if entry.mode != _GITLINK or not is_real_folder(tree / path):
            continue
        own = tree / path / ".git"
        commit = Git(own, work_tree=tree / path).find("HEAD^{commit}") if lies_there(own) else None
        if commit is not None and commit != entry.oid:
            git.run("update-index", "--cacheinfo", f"{_GITLINK},{commit},{path}")
            moved.append(path)
    return moved


def _put_back_untouched(git: Git, tree: Path, staged: list[_Staged]) -> None:
    """Leave out what differs only because git would store the same file anew.

    Where a file was committed before its line ends or its filter were settled, a checkout nobody
    touched counts as changed.
    """
    restored = []
    for one in staged:
        if one.status != "M" or one.old_mode != one.mode or not one.mode.startswith("100"):
            continue
        done = git.attempt("cat-file", "--filters", f"--path={one.path}", one.old)
        if done.code == 0 and (tree / one.path).read_bytes() == done.out:
            restored.append(os.fsencode(f"{one.mode} {one.old}\t{one.path}") + b"\0")
    if restored:
        git.run("update-index", "-z", "--index-info", stdin=b"".join(restored))
