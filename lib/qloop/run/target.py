"""The one file that a worker changes: checked before, replaced whole, put back where need be.

Errors: BadInput for a path that leads elsewhere, for what is no text, and for what a prompt
cannot show as it is.
"""

import stat
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from qloop.agents.error_trace import plain_lines
from qloop.agents.signals import hide_signals
from qloop.plan.paths import find_danger
from qloop.repo.removal import is_real_file, lies_there
from qloop.system.errors import BadInput, QloopError
from qloop.system.files import read_optional, write_atomic

LONGEST_BYTES = 200_000
STATE = (".git", ".qloop")
"""Folders that nobody but git and qloop write into, by names in lower case."""


class TargetChanged(QloopError):
    """Somebody else changed the file meanwhile; it is left as it is."""


@dataclass(frozen=True, slots=True)
class Target:
    """A file as it was when its worker was asked."""

    root: Path
    name: str
    """Its path from *root*, parts joined by `/`."""
    before: bytes | None
    """None where there was no such file."""
    mode: int | None = None
    """Who might do what with it; None where that is not known."""

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self.root / self.name

    @property
    def text(self) -> str | None:
        """What it held."""
        return None if self.before is None else self.before.decode("utf-8")

    @property
    def lines(self) -> int:
        """How many lines it had."""
        return len(plain_lines(self.text or ""))


def find_target(root: Path, name: str, state_files: Collection[str] = ()) -> Target:
    """The file *name* below *root*, an existing folder without links in its own path.

    *state_files* are names that nobody may have. Raises BadInput.
    """
    path = root / name
    name = str(PurePosixPath(name))
    why = find_danger(name) or _forbidden(name, state_files) or _crossing(root, name)
    if why is None and path.exists():
        why = None if stat.S_ISREG(path.lstat().st_mode) else "is no plain file"
    if why is not None:
        raise BadInput(f"the target {name!r} {why}", where=str(path), fix="name a file of its own")
    before = read_optional(path)
    _check_text(path, name, before or b"")
    mode = None if before is None else stat.S_IMODE(path.lstat().st_mode)
    return Target(root, name, before, mode)


def replace_target(target: Target, data: bytes) -> bytes:
    """Write the target's new content in one step; the same bytes. Raises TargetChanged."""
    if not _is_still(target.path, target.before):
        raise TargetChanged(
            f"{target.name} was changed while its worker was at work; nothing is applied",
            where=str(target.path),
            fix="ask again",
        )
    write_atomic(target.path, data)
    return data


def put_back(target: Target, written: bytes) -> bool:
    """Put the target back to what it was; False where somebody else changed it since."""
    if not _is_still(target.path, written):
        return False
    if target.before is None:
        target.path.unlink()
        return True
    write_atomic(target.path, target.before)
    if target.mode is not None:
        target.path.chmod(target.mode)
    return True


def _is_still(path: Path, data: bytes | None) -> bool:
    """Whether a plain file with these bytes is there; with None, whether nothing is."""
    if data is None:
        return not lies_there(path)
    return is_real_file(path) and read_optional(path) == data


def _forbidden(name: str, state_files: Collection[str]) -> str | None:
    parts = PurePosixPath(name).parts
    if any(part.lower() in STATE for part in parts) or name.lower() in state_files:
        return "belongs to git or to qloop itself"
    return None


def _crossing(root: Path, name: str) -> str | None:
    """Why the way to a file leads out of the checkout or over a link; None where it does not."""
    place = root
    for part in PurePosixPath(name).parts:
        place = place / part
        if place.is_symlink():
            return f"leads over the link {place.relative_to(root)}"
        if (place / ".git").exists():
            return f"lies in another repository, {place.relative_to(root)}"
    return None


def _check_text(path: Path, name: str, data: bytes) -> None:
    why = None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text, why = "", "is not UTF-8"
    if b"\0" in data:
        why = "is no text"
    elif len(data) > LONGEST_BYTES:
        why = f"has {len(data)} bytes, and a worker takes {LONGEST_BYTES}"
    elif text and hide_signals(text) != text.replace("\r\n", "\n").replace("\r", "\n"):
        why = "has a line that is a signal, which no prompt may carry"
    elif "\r" in text.replace("\r\n", ""):
        why = "has carriage returns within its lines"
    if why is not None:
        raise BadInput(f"the target {name!r} {why}", where=str(path), fix="change it by hand")
