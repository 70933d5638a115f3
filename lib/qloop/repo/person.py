"""What the person's repository looks like at one moment, so that two moments can be compared.

A snapshot lives in memory only and costs two git calls and a few small files. Taking one writes
nothing of the person's: the single thing that it adds is a reflog for qloop's own line refs.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from qloop.repo.checkout import Repository
from qloop.repo.git import split_nul
from qloop.repo.reflog import ensure_reflog, log_path, log_sizes, read_reflog
from qloop.system import files

OWN = "refs/qloop/"
LINE = "refs/qloop/line/"
ESCAPED = "refs/qloop/escaped/"
STASH = "refs/stash"
SYMBOLIC = "ref: "


@dataclass(frozen=True, slots=True)
class StashEntry:
    """One entry of the person's stash."""

    commit: str
    message: str
    committer: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The parts of a repository that an agent could change from outside its worktree."""

    refs: Mapping[str, str] = field(repr=False)
    """Ref to object name, or to `ref: <other>`; without the stash and what escaped."""
    escaped: frozenset[tuple[str, str]] = field(repr=False)
    """Refs and the values that qloop took away from them and keeps."""
    heads: Mapping[str, str]
    """`HEAD`, `worktrees/<id>/HEAD` to `ref: <branch>` or an object name."""
    worktrees: frozenset[Path]
    """The folders of the main checkout and of the linked worktrees."""
    logs: Mapping[str, int] = field(repr=False)
    """Bytes of each reflog, by ref or name of a head."""
    config: Mapping[str, bytes] = field(repr=False)
    """Configuration files by their path within the git directory."""
    hooks: Mapping[str, str] = field(repr=False)
    """Files in the hooks folder to their mode and content hash."""
    stash: tuple[StashEntry, ...]
    """Oldest first."""
    status: Mapping[str, str] = field(repr=False)
    """Path to its entry of `git status --porcelain=v2`, of the main checkout."""

    @property
    def branches(self) -> frozenset[str]:
        """The branches that checkouts stand on."""
        return frozenset(
            head.removeprefix(SYMBOLIC) for head in self.heads.values() if head.startswith(SYMBOLIC)
        )


def take_snapshot(repository: Repository) -> Snapshot:
    """The person's repository as it is now. Raises GitFailed."""
    # Sizes before values: an entry that is made in between is then seen twice, never missed.
    heads = read_heads(repository)
    logs = _log_sizes(repository, heads)
    refs = _read_refs(repository)
    _ensure_line_logs(repository, refs)
    return Snapshot(
        refs={
            ref: value
            for ref, value in refs.items()
            if ref != STASH and not ref.startswith(ESCAPED)
        },
        escaped=frozenset(
            ("refs/" + ref.removeprefix(ESCAPED).partition("/")[2], value)
            for ref, value in refs.items()
            if ref.startswith(ESCAPED)
        ),
        heads=heads,
        worktrees=_worktrees(repository),
        logs=logs,
        config=_read_config(repository.git_dir),
        hooks=_read_hooks(repository.git_dir / "hooks"),
        stash=read_stash(repository),
        status=_read_status(repository),
    )


def read_heads(repository: Repository) -> dict[str, str]:
    """What the checkouts stand on: `ref: <branch>`, or an object name where detached."""
    found = {}
    for path in (
        repository.git_dir / "HEAD",
        *sorted((repository.git_dir / "worktrees").glob("*/HEAD")),
    ):
        data = files.read_optional(path)
        if data is not None:
            name = path.relative_to(repository.git_dir).as_posix()
            found[name] = data.decode("utf-8", "surrogateescape").strip()
    return found


def read_stash(repository: Repository) -> tuple[StashEntry, ...]:
    """The person's stash, oldest entry first."""
    return tuple(
        StashEntry(entry.new, entry.message, entry.committer)
        for entry in read_reflog(repository.git_dir, STASH)
        if entry.new is not None
    )


def _read_refs(repository: Repository) -> dict[str, str]:
    listing = repository.git.run(
        "for-each-ref", "--format=%(refname)%00%(objectname)%00%(symref)%00"
    )
    refs = {}
    for line in listing.out.decode("utf-8", "surrogateescape").split("\0\n"):
        if line:
            name, commit, target = line.split("\0")
            refs[name] = f"{SYMBOLIC}{target}" if target else commit
    return refs


def _log_sizes(repository: Repository, heads: Mapping[str, str]) -> dict[str, int]:
    sizes = log_sizes(repository.git_dir)
    for name in heads:
        path = log_path(repository.git_dir, name)
        sizes[name] = path.stat().st_size if path.is_file() else 0
    return sizes


def _ensure_line_logs(repository: Repository, refs: Mapping[str, str]) -> None:
    """Without a reflog, an agent's move of the line could not be told from a landing."""
    for ref in refs:
        if ref.startswith(LINE):
            ensure_reflog(repository.git_dir, ref)


def _worktrees(repository: Repository) -> frozenset[Path]:
    folders = {repository.root}
    for path in (repository.git_dir / "worktrees").glob("*/gitdir"):
        data = files.read_optional(path)
        if data:
            link = data.decode("utf-8", "surrogateescape").strip()
            folders.add((path.parent / link).resolve().parent)
    return frozenset(folders)


def _read_config(git_dir: Path) -> dict[str, bytes]:
    found = {}
    for path in (
        git_dir / "config",
        git_dir / "config.worktree",
        *sorted((git_dir / "worktrees").glob("*/config.worktree")),
    ):
        data = files.read_optional(path)
        if data is not None:
            found[path.relative_to(git_dir).as_posix()] = data
    return found


def _read_hooks(folder: Path) -> dict[str, str]:
    if not folder.is_dir():
        return {}
    return {
        path.relative_to(folder).as_posix(): f"{path.stat().st_mode & 0o777:o} "
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _read_status(repository: Repository) -> dict[str, str]:
    git = repository.git.using(work_tree=repository.root)
    listing = git.run(
        "status",
        "--porcelain=v2",
        "-z",
        "--untracked-files=normal",
        "--ignore-submodules=dirty",
        "--no-renames",
    )
    return dict(map(_status_entry, split_nul(listing.out)))


def _status_entry(line: str) -> tuple[str, str]:
    """Path and the rest: fields before the path are fixed by the kind of the entry."""
    fields = {"1": 8, "u": 10}.get(line[0], 1)
    words = line.split(" ", fields)
    return words[-1], " ".join(words[:-1])
