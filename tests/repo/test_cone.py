"""A worktree of some folders only: quick to make, and nothing done in it is lost."""

from pathlib import Path

import pytest

from qloop.repo.cone import find_cone, render_cone
from qloop.repo.guard import check_guard
from qloop.repo.settings import read_settings
from qloop.repo.workspace import Workspace, create_workspace, find_workspaces
from repo.attempt_world import BRANCH, NAME, World, agent, agent_commits, write
from repository import Repo

FILES = {
    "top.txt": "top\n",
    "lib/a.txt": "a\n",
    "lib/deep/b.txt": "b\n",
    "lib/other/c.txt": "c\n",
    "far/d.txt": "d\n",
    "far/away/e.txt": "e\n",
    "od[d] *n?me/f.txt": "f\n",
}


@pytest.fixture
def world(repo: Repo, tmp_path: Path) -> World:
    """A repository of several folders."""
    repo.commit("files", FILES)
    return World(repo, tmp_path / "trees")


def make(world: World, *paths: str) -> Workspace:
    """A workspace of the folders that *paths* lie in."""
    cone = find_cone(world.repository, world.tip, paths)
    settings = read_settings(world.repository)
    return create_workspace(world.repository, settings, world.base, NAME, BRANCH, world.tip, cone)


def there(ws: Workspace) -> set[str]:
    """The files in a worktree."""
    every = (path.relative_to(ws.tree) for path in ws.tree.rglob("*") if path.is_file())
    return {str(path) for path in every} - {".git"}


ROOT = {"README.md", "top.txt"}


@pytest.mark.parametrize(
    ("paths", "cone", "files"),
    [
        ([], (), {*FILES, "README.md"}),
        (["."], (), {*FILES, "README.md"}),
        (["./", "lib/a.txt"], (), {*FILES, "README.md"}),
        (["top.txt"], (".", "top.txt"), ROOT),
        (["x[1].txt"], (".",), ROOT),
        (["lib/deep/b.txt"], ("lib/deep",), {*ROOT, "lib/a.txt", "lib/deep/b.txt"}),
        (["lib/deep/"], ("lib/deep",), {*ROOT, "lib/a.txt", "lib/deep/b.txt"}),
        (["lib"], ("lib",), {*ROOT, "lib/a.txt", "lib/deep/b.txt", "lib/other/c.txt"}),
        (["lib", "lib/deep/b.txt"], ("lib", "lib/deep"), {*ROOT, *list(FILES)[1:4]}),
        (["new/folder/x.txt"], ("new/folder",), ROOT),
        (["od[d] *n?me/f.txt"], (), {*FILES, "README.md"}),
    ],
)
def test_the_folders_of_the_named_files_are_there(
    world: World, paths: list[str], cone: tuple[str, ...], files: set[str]
) -> None:
    """And the files in the root, and those beside the way to them, as git has it."""
    ws = make(world, *paths)

    assert (ws.cone, there(ws)) == (cone, files)
    assert agent(ws, "status", "--porcelain") == ""
    assert [one.cone for one in find_workspaces(world.repository)] == [cone]


def test_work_inside_and_outside_is_salvaged(world: World) -> None:
    """Committed, uncommitted, new, deleted; what was not checked out is not deleted."""
    ws = make(world, "lib/deep/b.txt")
    agent_commits(ws, "inside", {"lib/deep/new.txt": "new\n"})
    write(ws.tree, {"far/fresh.txt": "fresh\n", "lib/a.txt": "changed\n"})
    (ws.tree / "lib/deep/b.txt").unlink()
    kept = world.salvage(ws)
    check_guard(ws, world.repository)

    assert kept.changed_paths == (
        "far/fresh.txt",
        "lib/a.txt",
        "lib/deep/b.txt",
        "lib/deep/new.txt",
    )
    assert world.content(kept.tip, "far/d.txt") == "d\n"
    assert world.content(kept.tip, "far/fresh.txt") == "fresh\n"


def test_an_agent_may_widen_what_it_sees(world: World) -> None:
    """What it then changes there is its work, and what it leaves alone stays."""
    ws = make(world, "lib/deep/b.txt")
    agent(ws, "sparse-checkout", "add", "far")
    write(ws.tree, {"far/d.txt": "changed\n"})
    (ws.tree / "far/away/e.txt").unlink()
    kept = world.salvage(ws)

    assert {"far/d.txt"} <= set(kept.changed_paths) <= {"far/d.txt", "far/away/e.txt"}
    assert world.content(kept.tip, "far/d.txt") == "changed\n"


def test_a_commit_outside_is_carried(world: World) -> None:
    """With everything below and beside it as it was."""
    ws = make(world, "lib/deep/b.txt")
    agent(ws, "sparse-checkout", "disable")
    tip = agent_commits(ws, "outside", {"far/away/e.txt": "changed\n"})
    kept = world.salvage(ws)

    assert (kept.tip, kept.changed_paths) == (tip, ("far/away/e.txt",))


def test_patterns_are_those_of_git(world: World) -> None:
    """Git itself writes the same for the same folders."""
    ws = make(world, "lib/deep/b.txt", "new one/f.txt", "far/away/e.txt")
    ours = render_cone(ws.cone)
    agent(ws, "sparse-checkout", "set", "--cone", *ws.cone)

    theirs = (ws.admin / "info/sparse-checkout").read_bytes()
    assert sorted(theirs.splitlines()) == sorted(ours.splitlines())


@pytest.mark.parametrize("path", ["fresh", "fresh/", "fresh/x.txt", "fresh/deep/"])
def test_a_folder_that_is_not_there_yet_can_be_added(world: World, path: str) -> None:
    """The agent's git takes what it makes there, as in a whole tree."""
    ws = make(world, path)

    agent_commits(ws, "new", {"fresh/deep/x.txt" if "deep" in path else "fresh/x.txt": "x\n"})

    assert ws.cone
    assert agent(ws, "status", "--porcelain") == ""
