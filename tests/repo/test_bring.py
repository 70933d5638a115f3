"""Untracked files of the person's checkout brought into a worktree."""

import os
from pathlib import Path

import pytest

from qloop.repo.bring import bring_files
from qloop.repo.workspace import SetupFailed, Workspace
from repo.attempt_world import World, picture, write
from repository import Repo


@pytest.fixture
def world(repo: Repo, tmp_path: Path) -> World:
    """A repository with a link to a folder outside among its tracked files."""
    (tmp_path / "outside").mkdir()
    (repo.path / "out").symlink_to(tmp_path / "outside")
    repo.commit("one", {"a.txt": "a\n", ".gitignore": ".env\nconfig/*.key\n"})
    return World(repo, tmp_path / "trees")


@pytest.fixture
def ws(world: World) -> Workspace:
    """An attempt's workspace at the person's HEAD."""
    return world.make()


def test_named_files_and_folders_are_copied(world: World, ws: Workspace) -> None:
    """Content and modes come along; nothing is linked to the person's files."""
    write(world.repo.path, {".env": "SECRET=1\n", "config/x.key": "k\n", "config/deep/y": "y\n"})
    (world.repo.path / ".env").chmod(0o600)
    brought = bring_files(world.repository, ws, [".env", "config/"])

    assert brought == (".env", "config/x.key", "config/deep/y")
    assert (ws.tree / ".env").read_text() == "SECRET=1\n"
    assert (ws.tree / ".env").stat().st_mode & 0o777 == 0o600
    assert (ws.tree / ".env").stat().st_ino != (world.repo.path / ".env").stat().st_ino
    assert (ws.tree / "config/deep/y").read_text() == "y\n"


def test_nothing_named_brings_nothing(world: World, ws: Workspace) -> None:
    """Without names and without an include file the worktree stays as it is."""
    write(world.repo.path, {".env": "SECRET=1\n"})
    before = picture(ws.tree)

    assert bring_files(world.repository, ws, []) == ()
    assert picture(ws.tree) == before


def test_a_missing_file_is_named(world: World, ws: Workspace) -> None:
    """A file named in copyFiles that is not there fails the set-up with its path."""
    with pytest.raises(SetupFailed, match=r"missing\.env"):
        bring_files(world.repository, ws, ["missing.env"])


@pytest.mark.parametrize("entry", ["/etc/passwd", "../x", "a/../../x", ""])
def test_a_path_out_of_the_repository_is_refused(world: World, ws: Workspace, entry: str) -> None:
    """copyFiles names paths in the repository only."""
    with pytest.raises(SetupFailed, match="copyFiles"):
        bring_files(world.repository, ws, [entry])


def test_a_tracked_file_is_not_overwritten(world: World, ws: Workspace) -> None:
    """What the start commit holds is not replaced by what the person is editing."""
    write(world.repo.path, {"a.txt": "being edited\n"})

    assert bring_files(world.repository, ws, ["a.txt"]) == ()
    assert (ws.tree / "a.txt").read_text() == "a\n"


def test_the_include_file_names_patterns(world: World, ws: Workspace) -> None:
    """Untracked and ignored files that match are brought, whatever git itself ignores."""
    write(
        world.repo.path, {".worktreeinclude": "# for agents\n*.key\n.env\n!config/no.key\na.txt\n"}
    )
    write(world.repo.path, {"config/x.key": "k\n", "config/no.key": "n\n", "other.log": "o\n"})
    write(world.repo.path, {'ünï "q" .key': "u\n", ".env": "e\n", ".qloop/s.key": "state\n"})
    Repo(world.repo.path / "nested.key").commit("inner", {"in.key": "i\n"})
    brought = bring_files(world.repository, ws, [".env"])

    assert set(brought) == {".env", "config/x.key", 'ünï "q" .key'}
    assert (ws.tree / "config/x.key").read_text() == "k\n"
    assert not (ws.tree / "config/no.key").exists()


def test_links_stay_links_only_within_the_repository(
    world: World, ws: Workspace, tmp_path: Path
) -> None:
    """One that leads out is replaced by the file it leads to; to a folder or nowhere, left out."""
    write(tmp_path / "outside", {"real.env": "R=1\n"})
    folder = world.repo.path / "links"
    write(folder, {"real": "r\n"})
    (folder / "inside").symlink_to("real")
    (folder / "absolute").symlink_to(folder / "real")
    (folder / "outside").symlink_to("../../outside/real.env")
    (folder / "folder").symlink_to(tmp_path / "outside")
    (folder / "nowhere").symlink_to("/nowhere")
    os.mkfifo(folder / "pipe")
    brought = bring_files(world.repository, ws, ["links"])

    assert brought == ("links/absolute", "links/inside", "links/outside", "links/real")
    assert (ws.tree / "links/inside").readlink() == Path("real")
    assert not (ws.tree / "links/absolute").is_symlink()
    assert not (ws.tree / "links/outside").is_symlink()
    assert (ws.tree / "links/outside").read_text() == "R=1\n"


def test_nothing_is_written_outside_the_worktree(
    world: World, ws: Workspace, tmp_path: Path
) -> None:
    """A tracked link that leads out of the tree is not followed to write."""
    (ws.tree / "shared").symlink_to(tmp_path / "outside")
    write(world.repo.path, {"shared/x.env": "x\n"})

    with pytest.raises(SetupFailed, match="leads outside"):
        bring_files(world.repository, ws, ["shared/x.env"])
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_file_that_cannot_be_copied_fails_the_set_up(world: World, ws: Workspace) -> None:
    """A file in the place of a folder is told, with the file that was to be brought."""
    write(world.repo.path, {"folder/x.env": "x\n"})
    write(ws.tree, {"folder": "in the way\n"})

    with pytest.raises(SetupFailed, match=r"x\.env"):
        bring_files(world.repository, ws, ["folder"])
