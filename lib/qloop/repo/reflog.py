"""Reflogs: who moved a ref, from where to where, and why.

They are read as files, because git offers no way to see an entry's old value or the entries of a
ref that points at no commit. Object names are full; None stands for "no such ref".
Source: gitrepository-layout(5), git-reflog(1).
"""

import os
from dataclasses import dataclass, replace
from pathlib import Path

from qloop.system import files

_RENAMES = ("Branch: renamed ", "Branch: copied ")


@dataclass(frozen=True, slots=True)
class Entry:
    """One move of a ref."""

    old: str | None
    new: str | None
    committer: str
    message: str

    @property
    def renamed_from(self) -> str | None:
        """The ref that this entry says was renamed to the one that it stands in."""
        words = self.message.split(" ")
        return words[2] if self.message.startswith(_RENAMES[0]) and len(words) > 2 else None


def log_path(git_dir: Path, name: str) -> Path:
    """The reflog file of a ref, of `HEAD`, or of `worktrees/<id>/HEAD`."""
    if name.startswith("worktrees/"):
        return git_dir / name.removesuffix("HEAD") / "logs" / "HEAD"
    return git_dir / "logs" / name


def read_reflog(git_dir: Path, name: str) -> tuple[Entry, ...]:
    """All entries, oldest first; none where there is no reflog."""
    try:
        data = files.read_optional(log_path(git_dir, name))
    except IsADirectoryError:
        return ()
    return parse_reflog(data or b"")


def parse_reflog(data: bytes) -> tuple[Entry, ...]:
    """The entries of a reflog's bytes, oldest first; a torn line is left out."""
    return tuple(filter(None, map(_parse_line, os.fsdecode(data).split("\n"))))


def entries_since(
    git_dir: Path, name: str, size_bytes: int, value: str | None
) -> tuple[Entry, ...]:
    """The entries made since the reflog had *size_bytes* and its ref had *value*.

    A reflog that was rewritten meanwhile (expired, or its branch deleted and made again) is
    searched for the last move away from *value*; where there is none, all of it is new.
    """
    try:
        data = files.read_optional(log_path(git_dir, name)) or b""
    except IsADirectoryError:
        return ()
    everything = parse_reflog(data)
    if size_bytes <= len(data) and data[:size_bytes].endswith(b"\n" if size_bytes else b""):
        added = parse_reflog(data[size_bytes:])
        if size_bytes == 0 or (added and added[0].old == value):
            return _own_history(name, added, value)
        if not added and everything and everything[-1].new == value:
            return ()
    return _own_history(name, _from_value(everything, value), value)


def log_sizes(git_dir: Path) -> dict[str, int]:
    """Bytes of each ref's reflog."""
    root = git_dir / "logs"
    return {
        path.relative_to(root).as_posix(): path.stat().st_size
        for folder, _, names in os.walk(root / "refs")
        for path in (Path(folder) / name for name in names)
        if path.is_file()
    }


def ensure_reflog(git_dir: Path, name: str) -> None:
    """Give a ref a reflog where it has none; git makes them only for branches and the like."""
    path = log_path(git_dir, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


def _from_value(entries: tuple[Entry, ...], value: str | None) -> tuple[Entry, ...]:
    for at in range(len(entries) - 1, -1, -1):
        if entries[at].old == value:
            return entries[at:]
    return entries


def _own_history(name: str, entries: tuple[Entry, ...], value: str | None) -> tuple[Entry, ...]:
    """*entries* less what a renamed branch brought along, beginning at *value*.

    A branch that was deleted and made again, or overwritten by a rename, begins its reflog anew;
    what it had before is the value that is known.
    """
    if not name.startswith("refs/"):
        return entries
    for at in range(len(entries) - 1, 0, -1):
        if entries[at].message.startswith(_RENAMES):
            entries = entries[at:]
            break
    if entries and (entries[0].old is None or entries[0].message.startswith(_RENAMES)):
        return (replace(entries[0], old=value), *entries[1:])
    return entries


def _parse_line(line: str) -> Entry | None:
    head, _, message = line.partition("\t")
    words = head.split(" ", 2)
    if len(words) != 3 or " <" not in f" {words[2]}":
        return None
    return Entry(
        old=_object(words[0]),
        new=_object(words[1]),
        committer=f" {words[2]}".rpartition(" <")[0].strip(),
        message=message,
    )


def _object(name: str) -> str | None:
    return name if name.strip("0") else None
