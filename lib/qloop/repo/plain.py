"""What the files of a plain repository tell without git being started, for who only looks.

Plain is one folder `.git` of the caller's own, in the form that `git init` and `git clone` make.
Of any other nothing is said here; git is to be asked. Source: gitrepository-layout(5),
git-pack-refs(1), git-config(1).
"""

import os
import re
from pathlib import Path
from typing import NamedTuple

from qloop.repo.repository import Repository

_FORMAT = re.compile(rb"repositoryformatversion\s*=\s*+(?![01]\s)", re.IGNORECASE)
_SPECIAL = re.compile(rb"worktree|include|extensions|bare(?!\s*=\s*false\s)", re.IGNORECASE)
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class Tips(NamedTuple):
    """Where the line and the feature branch stand; None for what does not exist."""

    line: str | None
    branch: str | None


def find_plain(cwd: Path) -> Repository | None:
    """The plain repository that *cwd* lies in; None where git has to be asked."""
    here = Path(os.path.realpath(cwd))
    device = here.stat().st_dev
    for folder in (here, *here.parents):
        if folder.stat().st_dev != device or _looks_bare(folder):
            return None
        git_dir = folder / ".git"
        if os.path.lexists(git_dir):
            plain = "\n" not in str(folder) and _is_plain(folder, git_dir)
            return Repository(root=folder, git_dir=git_dir) if plain else None
    return None


def find_tips(repository: Repository, branch: str) -> Tips | None:
    """Where line and branch of a plain repository stand; None where git has to be asked."""
    git_dir = repository.git_dir
    try:
        if git_dir != repository.root / ".git" or not _is_plain(repository.root, git_dir):
            return None
        packed = _packed(git_dir)
        names = (f"refs/qloop/line/{branch}", f"refs/heads/{branch}")
        return Tips(*(_read_ref(git_dir, name, packed) for name in names))
    except (OSError, ValueError):
        return None


def _looks_bare(folder: Path) -> bool:
    return (folder / "HEAD").exists() and (folder / "objects").exists()


def _is_plain(folder: Path, git_dir: Path) -> bool:
    if git_dir.is_symlink() or not _looks_bare(git_dir) or not (git_dir / "refs").is_dir():
        return False
    if any((git_dir / name).exists() for name in ("commondir", "gitdir", "reftable")):
        return False
    if {folder.stat().st_uid, git_dir.stat().st_uid} != {os.geteuid()}:
        return False  # git refuses what belongs to others
    config = (git_dir / "config").read_bytes()
    return _SPECIAL.search(config) is None and _FORMAT.search(config) is None


def _packed(git_dir: Path) -> dict[str, str]:
    try:
        text = (git_dir / "packed-refs").read_text("utf-8")
    except FileNotFoundError:
        return {}
    lines = (line.partition(" ") for line in text.splitlines())
    return {name: commit for commit, _, name in lines if _COMMIT.fullmatch(commit)}


def _read_ref(git_dir: Path, name: str, packed: dict[str, str]) -> str | None:
    """Raises ValueError for one that is no commit's name, such as a symbolic one."""
    try:
        text = (git_dir / name).read_text("ascii").strip()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return packed.get(name)
    if _COMMIT.fullmatch(text) is None:
        raise ValueError(name)
    return text
