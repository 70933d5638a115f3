"""Removing what an agent left, whatever it is: links, write-protected or very deep folders.

No link is ever followed. Errors: none for what cannot be removed, the caller looks again.
"""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from qloop.system import process

_OWNER_ALL = 0o700
_OWNER_LOOKS = 0o500


def remove_all(*paths: Path) -> bool:
    """Remove files, links and whole folders; return whether all are gone."""
    folders = [str(path) for path in paths if is_real_folder(path)]
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
    if folders:
        # rm copes with paths longer than the system allows and never follows a link.
        process.run(["rm", "-rf", "--", *folders])
    if folders and any(map(lies_there, paths)):
        process.run(["chmod", "-R", "u+rwX", "--", *folders])
        process.run(["rm", "-rf", "--", *folders])
    return not any(map(lies_there, paths))


def is_real_folder(path: Path) -> bool:
    """Whether *path* is a folder, and no link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def is_real_file(path: Path) -> bool:
    """Whether *path* is a plain file: no link, no pipe that would keep a reader waiting."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def lies_there(path: Path) -> bool:
    """Whether anything has this name, be it a link to nowhere."""
    return os.path.lexists(path)


def ensure_real_folder(path: Path) -> None:
    """Make *path* a folder that can be written; what else has the name is removed."""
    if not is_real_folder(path):
        remove_all(path)
        path.mkdir(parents=True)
    mode = path.stat().st_mode
    if mode & _OWNER_ALL != _OWNER_ALL:
        path.chmod(stat.S_IMODE(mode) | _OWNER_ALL)


def open_folders(folder: Path, *, to_write: bool) -> None:
    """Let the owner look into *folder* and every folder in it, or also write there.

    What lies in a closed one cannot be told from what is not there.
    """
    if os.geteuid() != 0:  # to root nothing is closed
        wanted = _OWNER_ALL if to_write else _OWNER_LOOKS
        closed = ("-type", "d", "!", "-perm", f"-{wanted:o}")
        process.run(["find", str(folder), *closed, "-exec", "chmod", "u+rwx", "{}", ";"])


def put(path: Path, data: bytes) -> None:
    """Make *path* a file of its own with these bytes.

    An existing file is replaced, never written into: it may be a link, or share its content with
    a file elsewhere.
    """
    with contextlib.suppress(OSError):
        if is_real_file(path) and path.read_bytes() == data:
            return
    remove_all(path)
    with path.open("xb") as out:
        out.write(data)


def walk_files(folder: Path) -> Iterator[Path]:
    """All that is no folder below *folder*, in no order; folders that are closed are opened."""
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        with contextlib.suppress(OSError):
            ensure_real_folder(here)
        with os.scandir(here) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))
                else:
                    yield Path(entry.path)
