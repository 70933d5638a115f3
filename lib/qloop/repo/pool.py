"""Worktrees' files that go from one attempt to the next, since writing a large tree takes long.

Only the files are handed on: repository, refs, index and link are new for each attempt. What is
handed on was swept of all that is not tracked, and each file that is not what the first checkout
made was written anew; that is told by the index that the checkout made, of which the agent has only
a copy, and by the time when that was written, since git takes files for the same that a filter
makes the same.
A tree is moved away before it is swept: what a crash leaves at a worktree's place is an attempt's
work. Where anything is in doubt the tree is removed instead, and the next attempt gets a new one.

A tree waits in a folder of the pool together with its index and the commit that it holds. It is
taken by renaming that folder, which only one can do.
Errors: none for what cannot be handed on.
Source: git-read-tree(1), two tree merge; gitattributes(5).
"""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from qloop.repo.git import Git, GitFailed
from qloop.repo.removal import is_real_folder, put, remove_all
from qloop.repo.sweep import sweep
from qloop.repo.worksite import Workspace, restore_workspace

POOL = ".pool"
MOST = 16
"""So many trees wait at most."""
WORTH_BYTES = 65_536
"""Trees whose index is smaller, some hundred files, are made anew as quickly."""
ATTRIBUTES = ":(glob)**/.gitattributes"
"""What says how files are written, be they changed or not."""


def give_tree(ws: Workspace) -> bool:
    """Put the files of a workspace that is not needed any more into the pool, if it is worth it.

    All that is to be kept of it must have been salvaged. False where the next attempt gets none.
    """
    pool = ws.base / POOL
    entry = pool / f".new-{ws.name}"
    try:
        if ws.first_index.stat().st_size < WORTH_BYTES or len(list(_waiting(pool))) >= MOST:
            return False
        if ws.cone or not is_real_folder(ws.tree):
            return False
        restore_workspace(ws)
        entry.mkdir(parents=True)
        ws.tree.rename(entry / "tree")
        shutil.copy2(ws.first_index, entry / "index")
        _clean(ws.git.using(work_tree=entry / "tree", index=entry / "index"), ws.start)
        (entry / "start").write_text(ws.start, encoding="ascii")
        entry.rename(pool / ws.name)
    except (GitFailed, OSError):
        remove_all(entry)
        return False
    return True


def take_tree(ws: Workspace) -> bool:
    """Give a workspace without files a tree of the pool, brought to its start commit.

    False where there is none; then nothing is in its place.
    """
    for waiting in _waiting(ws.base / POOL):
        mine = waiting.with_name(f".taken-{ws.name}")
        with contextlib.suppress(OSError, GitFailed):
            waiting.rename(mine)
            held = (mine / "start").read_text("ascii")
            if _written_alike(Git(ws.admin), held, ws.start):
                (mine / "tree").rename(ws.tree)
                (mine / "index").rename(ws.admin / "index")
                put(ws.tree / ".git", ws.link)
                ws.git.run("read-tree", "-m", "-u", held, ws.start)
                remove_all(mine)
                return True
        remove_all(mine)
        remove_all(ws.tree)
        remove_all(ws.admin / "index")
    return False


def drain(base: Path) -> None:
    """Remove every tree that waits, and what a crash left half given or half taken."""
    remove_all(base / POOL)


def _waiting(pool: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        yield from sorted(path for path in pool.iterdir() if not path.name.startswith("."))


def _written_alike(git: Git, held: str, start: str) -> bool:
    """Whether a file that is the same in both commits is so on the disk too."""
    if held == start:
        return True
    options = ("-r", "--quiet", "--no-ext-diff", held, start)
    return not git.attempt("diff-tree", *options, "--", ATTRIBUTES).code


def _clean(git: Git, start: str) -> None:
    """Make the tree hold the start commit and nothing else."""
    assert git.work_tree is not None
    assert git.index is not None
    made_ns = git.index.stat().st_mtime_ns
    sweep(git.work_tree, git.fields("ls-files", "-z"), made_ns)
    git.run("read-tree", "--reset", "-u", start)
