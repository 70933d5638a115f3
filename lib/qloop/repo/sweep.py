"""Taking out of a worktree what does not belong into it, whatever an agent made there.

No link is followed. Errors: OSError where a folder cannot be looked into.
"""

import os
import stat
from collections.abc import Container, Iterable
from pathlib import Path, PurePosixPath

from qloop.repo.removal import remove_all
from qloop.system import files


def sweep(tree: Path, tracked: Iterable[str], made_ns: int) -> None:
    """Remove from *tree* all but the *tracked* files and links, their folders, and its `.git`.

    What was changed in any way after the time *made_ns*, in nanoseconds since the epoch, goes too.

    Also what git lists nowhere: repositories in it, pipes, sockets. What stands in the place of a
    tracked file or of a folder and is something else goes too, and so does a file that has another
    name elsewhere or permissions that git does not give.
    """
    umask = _read_umask()
    usual = {0o666 & ~umask, 0o777 & ~umask}
    known = frozenset(tracked)
    folders = {str(parent) for path in known for parent in PurePosixPath(path).parents}
    waiting = [(str(tree), "")]
    tree.chmod(0o777 & ~umask)
    while waiting:
        folder, prefix = waiting.pop()
        with os.scandir(folder) as found:
            entries = list(found)
        for entry in entries:
            path = f"{prefix}{entry.name}"
            if entry.is_dir(follow_symlinks=False) and path in folders:
                if stat.S_IMODE(entry.stat(follow_symlinks=False).st_mode) != 0o777 & ~umask:
                    os.chmod(entry.path, 0o777 & ~umask)  # noqa: PTH101 -- thousands of them
                waiting.append((entry.path, f"{path}/"))
            elif path != ".git" and not (path in known and _is_sound(entry, usual, made_ns)):
                remove_all(Path(entry.path))


def _is_sound(entry: "os.DirEntry[str]", usual: Container[int], made_ns: int) -> bool:
    seen = entry.stat(follow_symlinks=False)
    if seen.st_ctime_ns > made_ns:  # nobody can set it
        return False
    if stat.S_ISLNK(seen.st_mode):
        return True
    plain = stat.S_ISREG(seen.st_mode) and seen.st_nlink == 1
    return plain and stat.S_IMODE(seen.st_mode) in usual


def _read_umask() -> int:
    """This process's mask; asked of the kernel, since setting it to learn it is seen by threads."""
    for line in (files.read_optional(Path("/proc/self/status")) or b"").splitlines():
        if line.startswith(b"Umask:"):
            return int(line.split()[1], 8)
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
