"""Untracked files of the person's checkout that a fresh worktree needs, such as `.env`.

They are copied, never linked, and nothing is written outside the worktree.
Errors: SetupFailed where a file that was asked for is not there or cannot be copied.
Source: `.worktreeinclude`, a file of gitignore(5) patterns at the repository's root.
"""

import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from qloop.repo.checkout import Repository
from qloop.repo.git import GitFailed, persons_git, split_nul
from qloop.repo.removal import is_real_folder, lies_there
from qloop.repo.worksite import SetupFailed, Workspace

INCLUDE_FILE = ".worktreeinclude"
_OWN_FOLDER = ".qloop"


def bring_files(
    repository: Repository, ws: Workspace, copy_files: Sequence[str]
) -> tuple[str, ...]:
    """Copy what *copy_files* and `.worktreeinclude` name; return the files' relative paths.

    What the worktree already has, tracked files that is, stays as it is.
    """
    root = repository.root
    wanted = dict.fromkeys([*_named(root, copy_files), *_included(root)])
    return tuple(path for path in wanted if _copy(root, ws.tree, path))


def brings_nothing(repository: Repository, copy_files: Sequence[str]) -> bool:
    """Whether no file is asked for by either way."""
    return not copy_files and not lies_there(repository.root / INCLUDE_FILE)


def _named(root: Path, copy_files: Sequence[str]) -> Iterator[str]:
    for entry in copy_files:
        path = PurePosixPath(entry)
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise SetupFailed("copyFiles must name paths in the repository", where=entry)
        if not lies_there(root / path):
            raise SetupFailed(
                "a file named in copyFiles is not there",
                where=str(root / path),
                fix="make it, or take it out of copyFiles",
            )
        yield from _files_in(root, str(path))


def _files_in(root: Path, path: str) -> Iterable[str]:
    """The files at or below a path, without git's and qloop's own folders."""
    if not is_real_folder(root / path):
        return [path]
    found = []
    waiting = [root / path]
    while waiting:
        for entry in sorted(waiting.pop().iterdir()):
            if entry.name in (".git", _OWN_FOLDER):
                continue
            if is_real_folder(entry):
                waiting.append(entry)
            else:
                found.append(str(entry.relative_to(root)))
    return found


def _included(root: Path) -> list[str]:
    if not (root / INCLUDE_FILE).is_file():
        return []
    options = ("-z", "--others", "--ignored", f"--exclude-from={INCLUDE_FILE}")
    done = persons_git(root, "ls-files", *options)
    if done.code != 0:
        raise GitFailed(done)
    listed = split_nul(done.out)
    # A final slash marks a repository in the repository, which is not taken.
    return [
        path
        for path in listed
        if not path.endswith("/") and PurePosixPath(path).parts[0] != _OWN_FOLDER
    ]


def _copy(root: Path, tree: Path, path: str) -> bool:
    """Copy one file or link; return whether it was brought."""
    source, target = root / path, tree / path
    if lies_there(target):
        return False
    try:
        _make_folder(tree, target.parent, path)
        if source.is_symlink() and _stays_inside(root, source):
            target.symlink_to(source.readlink())
            return True
        # A link that leads out is of no use in the worktree: its content is copied.
        if not stat.S_ISREG(source.stat().st_mode):
            return False
        shutil.copy2(source, target)
    except FileNotFoundError:
        return False
    except OSError as exc:
        raise SetupFailed(f"could not be copied: {exc.strerror}", where=str(source)) from exc
    return True


def _make_folder(tree: Path, folder: Path, path: str) -> None:
    nearest = folder
    while not lies_there(nearest):
        nearest = nearest.parent
    if not nearest.resolve().is_relative_to(tree.resolve()):
        raise SetupFailed(
            "a link in the worktree leads outside, so nothing is copied through it", where=path
        )
    folder.mkdir(parents=True, exist_ok=True)


def _stays_inside(root: Path, link: Path) -> bool:
    """Whether a relative link, read in place, names something below *root*."""
    goal = link.readlink()
    return not goal.is_absolute() and (link.parent / goal).resolve().is_relative_to(root)
