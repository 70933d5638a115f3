"""A workspace as a value, and how it is made trustworthy again after an agent had it.

A workspace is a bare repository made for one attempt, and the git worktree linked to it. It
shares nothing with the person's repository but objects, which it reads through alternates. What
must be written back before qloop's git reads it is part of the value, and of a record in the
person's git directory that outlives a crash.
Source: gitrepository-layout(5).
"""

import base64
import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qloop.repo.git import Git
from qloop.repo.removal import ensure_real_folder, is_real_file, is_real_folder, put, remove_all
from qloop.repo.skeleton import FOLDERS, FORGEABLE
from qloop.system import files
from qloop.system.errors import QloopError

RECORDS = "qloop/workspaces"
"""The folder of records in the person's git directory."""

CONE_FILE = "info/sparse-checkout"

WHOLE_TREE = "./"
"""Among leftovers: the folder that everything in a worktree lies in."""


class SetupFailed(QloopError):
    """A worktree could not be given what it needs, by a fault that a person can mend."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """An attempt's repository and worktree, or the scratch one in which gates run."""

    name: str
    """An attempt id, or a name of qloop's own."""
    base: Path
    branch: str | None
    """The branch the worktree was made on, or None for a detached one."""
    start: str
    admin: Path
    """The worktree's own git directory, inside the attempt repository."""
    author: tuple[str, str]
    """Name and address of the repository's user."""
    person: Path
    """The person's git directory."""
    pristine: Mapping[str, bytes]
    """Files of the attempt repository as they must be, by their paths in it."""
    leftovers: tuple[str, ...] = ()
    """Untracked files, and folders with a final `/`, that set-up left in the worktree."""
    empty_folders: tuple[str, ...] = ()
    """Folders without any file that set-up left."""
    cone: tuple[str, ...] = ()
    """The only folders that the checkout has; without any it has all."""
    holds: str = ""
    """The id of the attempt whose work it holds, where that is not its name."""

    @property
    def attempt_id(self) -> str:
        """The id of the attempt whose work it holds; a name of qloop's own where there is none."""
        return self.holds or self.name

    @property
    def git_dir(self) -> Path:
        """The bare attempt repository."""
        return self.base / f"{self.name}.git"

    @property
    def tree(self) -> Path:
        """The worktree."""
        return self.base / self.name

    @property
    def tmp(self) -> Path:
        """The agent's folder for temporary files."""
        return self.base / f"{self.name}.tmp"

    @property
    def record(self) -> Path:
        """The file that holds this value for a run that takes over."""
        return self.person / RECORDS / f"{self.name}.json"

    @property
    def first_index(self) -> Path:
        """The index as the checkout of *start* made it, where the agent does not come by."""
        return self.person / RECORDS / f"{self.name}.index"

    @property
    def lock(self) -> Path:
        """The file that is locked while a process without the run lock has it in use."""
        return lock_of(self.person, self.name)

    @property
    def git(self) -> Git:
        """Git on the worktree, through its own directory: `.git` in the tree is never read."""
        return Git(self.admin, work_tree=self.tree)

    @property
    def link(self) -> bytes:
        """What the file `.git` in the worktree must hold."""
        return b"gitdir: " + bytes(self.admin) + b"\n"


def lock_of(person: Path, name: str) -> Path:
    """The lock file of the workspace of that name, in the person's git directory."""
    return person / RECORDS / f"{name}.lock"


def restore_workspace(ws: Workspace) -> None:
    """Write back what steers git, byte for byte, whatever an agent made of it.

    To be called before qloop's git reads the repository. HEAD, refs and the index are left as
    they are: they are the agent's work, and the guard judges them.
    """
    restore_repository(ws)
    if is_real_folder(ws.tree):
        ensure_real_folder(ws.tree)  # git works in it, and it may be closed
    ensure_real_folder(ws.admin)
    remove_all(ws.admin / "config.worktree")
    for name in ("HEAD", "index"):
        if not is_real_file(ws.admin / name):
            remove_all(ws.admin / name)
    _put_links(ws)


def prepare_admin(ws: Workspace) -> None:
    """Make the worktree's own git directory, on its branch at the start commit.

    As `git worktree add --no-checkout` does, without the processes that it takes; the link in the
    worktree is for the caller to write.
    """
    ensure_real_folder(ws.admin)
    head = ws.start if ws.branch is None else f"ref: refs/heads/{ws.branch}"
    if ws.branch is not None:
        ref = ws.git_dir / "refs" / "heads" / ws.branch
        ref.parent.mkdir(parents=True)
        ref.write_text(f"{ws.start}\n", encoding="ascii")
    put(ws.admin / "HEAD", f"{head}\n".encode())
    _put_links(ws)


def _put_links(ws: Workspace) -> None:
    """What the worktree's own git directory is found by, and what of the tree is checked out."""
    put(ws.admin / "commondir", b"../..\n")
    put(ws.admin / "gitdir", bytes(ws.tree / ".git") + b"\n")
    if ws.cone:
        ensure_real_folder(ws.admin / "info")
        put(ws.admin / CONE_FILE, ws.pristine[CONE_FILE])


def restore_repository(ws: Workspace) -> None:
    """Write the bare repository's own files, or write them back."""
    ensure_real_folder(ws.git_dir)
    for folder in FOLDERS:
        ensure_real_folder(ws.git_dir / folder)
    for name in FORGEABLE:
        if name not in ws.pristine:
            remove_all(ws.git_dir / name)
    for name, data in ws.pristine.items():
        put(ws.git_dir / name, data)


def write_record(ws: Workspace) -> None:
    """Keep the value where the agent does not come by, for a run that takes over."""
    data: dict[str, Any] = {
        **{f.name: getattr(ws, f.name) for f in dataclasses.fields(ws)},
        "base": str(ws.base),
        "admin": str(ws.admin),
        "person": str(ws.person),
        "pristine": {k: base64.b64encode(v).decode() for k, v in ws.pristine.items()},
    }
    files.write_atomic(ws.record, json.dumps(data).encode())


def read_record(path: Path) -> Workspace:
    """A workspace from its record. Raises ValueError, KeyError, TypeError for any other file."""
    data = json.loads(path.read_bytes())
    return Workspace(
        name=path.stem,
        base=Path(data["base"]),
        branch=data["branch"],
        start=data["start"],
        admin=Path(data["admin"]),
        author=(data["author"][0], data["author"][1]),
        person=Path(data["person"]),
        pristine={k: base64.b64decode(v) for k, v in data["pristine"].items()},
        leftovers=tuple(data["leftovers"]),
        empty_folders=tuple(data["empty_folders"]),
        cone=tuple(data.get("cone", ())),
        holds=data.get("holds", ""),
    )
