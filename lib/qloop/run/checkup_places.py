"""Where worktrees go: outside the checkout, writable, with room. Units: bytes."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from qloop.repo.checkout import Repository
from qloop.repo.names import workspace_base
from qloop.run.config import Config
from qloop.run.finding import Finding, from_error
from qloop.system.errors import BadInput

LITTLE_BYTES = 1_000_000_000


def check_places(
    repository: Repository, config: Config, little_bytes: int = LITTLE_BYTES
) -> Iterator[Finding]:
    """The folder for worktrees, and its disk; less than *little_bytes* free are a warning."""
    try:
        base = workspace_base(config.worktree_root, repository)
    except BadInput as exc:
        yield from_error("worktrees", exc)
        return
    there = _nearest(base)
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        yield Finding(
            "worktrees",
            "bad",
            f"no folder can be made in {there}",
            "give yourself permission to it, or set worktree_root in qloop.toml",
        )
        return
    yield Finding("worktrees", "ok", str(base))
    free = shutil.disk_usage(there).free
    if free < little_bytes:
        fix = "free some space, or set worktree_root in qloop.toml to another disk"
        yield Finding("disk", "warn", f"only {_size(free)} are free in {there}", fix)
    else:
        yield Finding("disk", "ok", f"{_size(free)} are free where worktrees go")


def _nearest(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    while not os.path.lexists(folder):
        folder = folder.parent
    return folder


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= LITTLE_BYTES else f"{count / 1e6:.0f} MB"
