"""An index of qloop's own over a worktree: what it holds, and which files were touched since.

Errors: GitFailed. Source: git-read-tree(1), git-ls-files(1), gitformat-index(5).
"""

import shutil
from dataclasses import dataclass

from qloop.repo.git import Git
from qloop.repo.worksite import Workspace

_FEW = 100
"""So many paths are named to git one by one."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of an index: mode and object name."""

    mode: str
    oid: str


def fill_index(git: Git, ws: Workspace, head: str) -> bool:
    """Let the index hold *head*; return whether it knows which files were not touched since.

    That is told by the index that the first checkout made: of a file whose size, times and place
    on the disk are what they were then, nobody changed the content (the time of the last change
    cannot be set, and a file changed within the second of the checkout is compared).
    """
    assert git.index is not None
    try:
        shutil.copy2(ws.first_index, git.index)
    except OSError:
        git.run("read-tree", head)
        return False
    if head != ws.start:
        git.run("read-tree", "--reset", head)
    return True


def list_all(git: Git) -> tuple[dict[str, Entry], list[str]]:
    """The index's entries, and what lies in the tree that is neither in it nor ignored."""
    return _entries(git), list_others(git)


def list_touched(git: Git, cone: tuple[str, ...]) -> tuple[dict[str, Entry], list[str]]:
    """The entries whose files are not what the index knows, and the others as `list_all` has them.

    An entry that is not looked at costs a look at its file, not at its content; a folder out of the
    *cone* costs nothing, and what lies there all the same is among the others.
    """
    touched: list[str] = []
    others: list[str] = []
    options = ("-z", "-t", "--modified", "--deleted", "--others", "--exclude-standard")
    for line in git.fields("ls-files", *options, *(["--sparse"] if cone else [])):
        (others if line[0] == "?" else touched).append(line[2:])
    if not touched:
        return {}, others
    if len(touched) > _FEW:
        wanted = frozenset(touched)
        entries = list_all(git)[0]
        return {path: entry for path, entry in entries.items() if path in wanted}, others
    return _entries(git, "--", *dict.fromkeys(touched)), others


def list_others(git: Git) -> list[str]:
    """What lies in the tree that is neither in the index nor ignored."""
    return git.fields("ls-files", "-z", "--others", "--exclude-standard")


def _entries(git: Git, *words: str) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    for line in git.fields("--literal-pathspecs", "ls-files", "-z", "--stage", *words):
        info, _, path = line.partition("\t")
        mode, oid, _ = info.split(" ")
        entries[path] = Entry(mode, oid)
    return entries
