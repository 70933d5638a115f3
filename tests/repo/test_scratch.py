"""What set-up leaves in a worktree, and a worktree cleaned between candidates."""

import os
from pathlib import Path

import pytest

from qloop.repo.scratch import MANY_FILES, clean_to, note_setup
from qloop.repo.workspace import Workspace
from qloop.system import process
from repo.attempt_world import World, agent, picture, write
from repository import Repo


@pytest.fixture
def world(repo: Repo, tmp_path: Path) -> World:
    """A repository with an ignored kind of file."""
    repo.commit("one", {"a.txt": "a\n", "src/b.txt": "b\n", ".gitignore": "*.log\ncache/\n"})
    return World(repo, tmp_path / "trees")


@pytest.fixture
def scratch(world: World) -> Workspace:
    """A detached workspace at the person's HEAD."""
    return world.make("scratch.r-1", None)


def test_set_up_is_noted_file_by_file(scratch: Workspace) -> None:
    """Untracked and ignored files are noted exactly; git ignores them from then on."""
    write(scratch.tree, {"left.txt": "", "src/x.log": "", "new/[odd] !#.txt": "", "new/ b\\ ": ""})
    noted = note_setup(scratch)

    assert noted.leftovers == ("left.txt", "new/ b\\ ", "new/[odd] !#.txt", "src/x.log")
    assert agent(noted, "status", "--porcelain") == ""
    write(noted.tree, {"new/odd !#.txt": "", "src/left.txt": ""})
    assert agent(noted, "status", "--porcelain", "-uall") == (
        '?? "new/odd !#.txt"\n?? src/left.txt'
    )


def test_a_folder_of_many_files_is_noted_as_a_folder(scratch: Workspace) -> None:
    """So is one with a repository in it; a folder of a few files is noted by these."""
    write(scratch.tree, {f"many/{number}": "" for number in range(MANY_FILES + 1)})
    write(scratch.tree, {f"few/{number}": "" for number in range(MANY_FILES)})
    Repo(scratch.tree / "cloned/inner")
    noted = note_setup(scratch)

    assert {"many/", "cloned/", "few/0"} <= set(noted.leftovers)
    assert len(noted.leftovers) == MANY_FILES + 2
    assert agent(noted, "status", "--porcelain") == ""


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
@pytest.mark.parametrize("mode", [0o000, 0o400, 0o500, 0o300])
def test_cleaning_opens_closed_folders(scratch: Workspace, mode: int) -> None:
    """What was changed, added or removed in one is put right; the tree itself may be closed."""
    noted = note_setup(scratch)
    write(noted.tree, {"a.txt": "changed\n", "src/more.txt": "", "own/deep/x.txt": ""})
    (noted.tree / "src/b.txt").unlink()
    for closed in ("src", "own/deep", "own", "."):
        (noted.tree / closed).chmod(mode)

    clean_to(noted, noted.start)

    assert agent(noted, "status", "--porcelain", "--ignored") == ""
    assert not (noted.tree / "own").exists()


def test_cleaning_leaves_the_commit_and_what_set_up_left(world: World, scratch: Workspace) -> None:
    """Everything else goes: untracked, ignored, nested repositories, empty folders, changes."""
    write(scratch.tree, {"left.txt": "l\n", "cache/left": "c\n", "src/own/left": "o\n"})
    (scratch.tree / "logs/empty").mkdir(parents=True)
    noted = note_setup(scratch)
    (noted.tree / "logs/empty").rmdir()
    write(noted.tree, {"a.txt": "changed\n", "x.log": "", "cache/more": "", "src/own/more": ""})
    write(noted.tree, {"src/own/deep/more": "", "gone/deep/more": ""})
    Repo(noted.tree / "nested").commit("inner", {"in.txt": "i\n"})
    process.run(["git", "init", "-q", str(noted.tree / "src")])
    (noted.tree / "src/b.txt").unlink()
    (noted.tree / "link").symlink_to(world.repo.path)
    candidate = world.repo.commit("two", {"c.txt": "c\n"})
    clean_to(noted, candidate)

    assert sorted(picture(noted.tree)) == [
        ".git",
        ".gitignore",
        "README.md",
        "a.txt",
        "c.txt",
        "cache/left",
        "left.txt",
        "src/b.txt",
        "src/own/left",
    ]
    assert (noted.tree / "a.txt").read_text() == "a\n"
    assert (noted.tree / "logs/empty").is_dir()
    assert not (noted.tree / "gone").exists()
    assert agent(noted, "rev-parse", "HEAD") == candidate
    assert (world.repo.path / "c.txt").exists()


def test_cleaning_goes_back_and_forth_between_candidates(world: World, scratch: Workspace) -> None:
    """Files of one candidate are not there for the next; folders and files change places."""
    write(scratch.tree, {"src/left": "l\n"})
    noted = note_setup(scratch)
    first = world.tip
    world.repo.git("rm", "--quiet", "-r", "src", "a.txt")
    second = world.repo.commit("two", {"a.txt/deep.txt": "d\n", "other.txt": "o\n"})
    clean_to(noted, second)
    assert sorted(picture(noted.tree)) == [
        ".git",
        ".gitignore",
        "README.md",
        "a.txt/deep.txt",
        "other.txt",
        "src/left",
    ]
    clean_to(noted, first)

    assert sorted(picture(noted.tree)) == [
        ".git",
        ".gitignore",
        "README.md",
        "a.txt",
        "src/b.txt",
        "src/left",
    ]


def test_untouched_files_are_not_written_again(world: World, scratch: Workspace) -> None:
    """What was built from a file need not be built again."""
    before = (scratch.tree / "a.txt").stat().st_mtime_ns
    clean_to(scratch, world.repo.commit("two", {"c.txt": "c\n"}))

    assert (scratch.tree / "a.txt").stat().st_mtime_ns == before


def test_flags_in_the_index_keep_nothing_back(world: World, scratch: Workspace) -> None:
    """A changed file that git was told to overlook is put right, and a sparse checkout filled."""
    agent(scratch, "update-index", "--assume-unchanged", "a.txt")
    agent(scratch, "update-index", "--skip-worktree", "src/b.txt")
    write(scratch.tree, {"a.txt": "changed\n", "src/b.txt": "changed\n"})
    clean_to(scratch, world.tip)
    assert (scratch.tree / "a.txt").read_text() == "a\n"
    assert (scratch.tree / "src/b.txt").read_text() == "b\n"
    agent(scratch, "sparse-checkout", "set", "--no-cone", "/a.txt")
    assert not (scratch.tree / "src").exists()
    clean_to(scratch, world.tip)

    assert (scratch.tree / "src/b.txt").read_text() == "b\n"
    assert agent(scratch, "status", "--porcelain") == ""


def _break_index(ws: Workspace) -> None:
    (ws.admin / "index").write_bytes(b"nonsense")


def _lock_index(ws: Workspace) -> None:
    (ws.admin / "index.lock").touch()
    (ws.admin / "HEAD.lock").touch()


def _remove_git_file(ws: Workspace) -> None:
    (ws.tree / ".git").unlink()
    (ws.tree / ".git").mkdir()


def _remove_tree(ws: Workspace) -> None:
    process.run(["rm", "-rf", str(ws.tree)])


def _link_tree(ws: Workspace) -> None:
    process.run(["mv", str(ws.tree), f"{ws.tree}.moved"])
    ws.tree.symlink_to(f"{ws.tree}.moved")


def _break_head(ws: Workspace) -> None:
    (ws.admin / "HEAD").write_text("ref: refs/heads/nowhere\n")


def _begin_merge(ws: Workspace) -> None:
    agent(ws, "checkout", "--quiet", "-b", "x")
    write(ws.tree, {"a.txt": "x\n"})
    agent(ws, "commit", "--quiet", "-am", "x")
    agent(ws, "checkout", "--quiet", "-b", "y", "HEAD~1")
    write(ws.tree, {"a.txt": "y\n"})
    agent(ws, "commit", "--quiet", "-am", "y")
    agent(ws, "merge", "x", check=False)


def _shut_folder(ws: Workspace) -> None:
    write(ws.tree, {"shut/deep/x": ""})
    (ws.tree / "shut/deep").chmod(0o500)
    (ws.tree / "shut").chmod(0o500)
    os.mkfifo(ws.tree / "pipe")


@pytest.mark.parametrize(
    "damage",
    [
        _break_index,
        _lock_index,
        _remove_git_file,
        _remove_tree,
        _link_tree,
        _break_head,
        _begin_merge,
        _shut_folder,
    ],
)
def test_cleaning_mends_whatever_a_gate_did(
    world: World, scratch: Workspace, damage: object
) -> None:
    """The worktree holds exactly the commit, and git works in it, after any damage."""
    assert callable(damage)
    damage(scratch)
    clean_to(scratch, world.tip)

    assert agent(scratch, "status", "--porcelain", "--ignored") == ""
    assert agent(scratch, "rev-parse", "HEAD") == world.tip
    assert not scratch.tree.is_symlink()
    assert sorted(picture(scratch.tree)) == [
        ".git",
        ".gitignore",
        "README.md",
        "a.txt",
        "src/b.txt",
    ]
