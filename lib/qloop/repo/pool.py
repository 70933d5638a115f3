"""Worktrees' files that go from one attempt to the next, since writing a large tree takes long.

Only the files are handed on: repository, refs, index and link are new for each attempt. What is
handed on was swept of all that is not tracked, and each file that is not what the first checkout
made was written anew; that is told by the index that the checkout made, of which the agent has only
a copy. Where anything is in doubt the tree is removed instead, and the next attempt gets a new one.

A tree waits in a folder of the pool together with its index and the commit that it holds. It is
taken by renaming that folder, which only one can do.
Errors: none for what cannot be handed on. Source: git-read-tree(1), two tree merge.
"""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from qloop.repo.git import GitFailed
from qloop.repo.removal import is_real_folder, put, remove_all
from qloop.repo.sweep import sweep
from qloop.repo.worksite import Workspace, restore_workspace

POOL = ".pool"
MOST = 16
"""So many trees wait at most."""
WORTH_BYTES = 65_536
"""Trees whose index is smaller, some hundred files, are made anew as quickly."""


def give_tree(ws: Workspace) -> bool:
    """Put the files of a workspace that is not needed any more into the pool, if it is worth it.

    All that is to be kept of it must have been salvaged. False where they are still in place.
    """
    pool = ws.base / POOL
    entry = pool / f".new-{ws.name}"
    try:
        if ws.first_index.stat().st_size < WORTH_BYTES or len(list(_waiting(pool))) >= MOST:
            return False
        if ws.cone or not is_real_folder(ws.tree):
            return False
        _clean(ws)
        entry.mkdir(parents=True)
        ws.first_index.rename(entry / "index")
        (entry / "start").write_text(ws.start, encoding="ascii")
        ws.tree.rename(entry / "tree")
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


def _clean(ws: Workspace) -> None:
    """Make the tree hold the start commit and nothing else."""
    restore_workspace(ws)
    index = ws.git_dir / "pool-index"
    shutil.copy2(ws.first_index, index)
    git = ws.git.using(index=index)
    sweep(ws.tree, git.fields("ls-files", "-z"))
    git.run("read-tree", "--reset", "-u", ws.start)
    index.replace(ws.first_index)
