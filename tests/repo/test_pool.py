"""Trees that go from attempt to attempt: nothing of the former one is in them."""

import multiprocessing
import os
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from qloop.repo.names import attempt_id
from qloop.repo.pool import POOL, drain, give_tree
from qloop.repo.workspace import Workspace, remove_workspace, retire_workspace
from repo.attempt_world import World, agent, agent_commits, write
from repository import Repo
from world import wait_until

MANY = {f"d{number % 40}/file{number}.txt": f"{number}\n" for number in range(900)}


@pytest.fixture
def world(repo: Repo, tmp_path: Path) -> World:
    """A repository with so many files that its trees are worth keeping."""
    repo.commit("files", {**MANY, ".gitignore": "*.log\n", "dir/b.txt": "b\n", "dir/c.txt": "c\n"})
    return World(repo, tmp_path / "trees")


def picture(ws: Workspace) -> dict[str, object]:
    """All there is in a worktree: kind, permissions, content."""
    found: dict[str, object] = {}
    for here, folders, names in os.walk(ws.tree):
        for name in (*folders, *names):
            path = Path(here) / name
            mode = path.lstat().st_mode
            data: object = None
            if stat.S_ISLNK(mode):
                data = str(path.readlink())
            elif stat.S_ISREG(mode) and name != ".git":
                data = path.read_bytes()
            found[str(path.relative_to(ws.tree))] = (stat.filemode(mode), data)
    return found


def another(number: int) -> str:
    """The name of a later attempt."""
    return attempt_id("US-002", number + 1, "0123abcd")


def touched(ws: Workspace) -> str:
    """What git takes for changed or new in a worktree, ignored files included."""
    return ws.git.text("ls-files", "--modified", "--deleted", "--others")


def same_size_and_times(tree: Path) -> None:
    """Content changed in place, with the old times put back."""
    file = tree / "d1/file1.txt"
    before = file.stat()
    file.write_text("9\n", encoding="utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def folder_behind_a_link(tree: Path) -> None:
    """The old files can still be seen at their place."""
    (tree / "dir").rename(tree / "moved")
    (tree / "dir").symlink_to("moved")


def things_git_lists_nowhere(tree: Path) -> None:
    """A repository inside a tracked folder, pipes, a socket's folder, empty folders."""
    (tree / "dir/.git/objects").mkdir(parents=True)
    (tree / "dir/.git/HEAD").write_text("ref: refs/heads/x\n", encoding="ascii")
    os.mkfifo(tree / "dir/pipe")
    (tree / "empty/very").mkdir(parents=True)


def ignored_files(tree: Path) -> None:
    """Caches of all kinds, also in folders of their own."""
    write(tree, {"x.log": "x", "dir/y.log": "y", "cache/z.log": "z"})


def other_kinds(tree: Path) -> None:
    """A folder for a file, a file for a folder, a link for a file."""
    (tree / "d2/file2.txt").unlink()
    (tree / "d2/file2.txt").mkdir()
    write(tree, {"d2/file2.txt/in.txt": "in"})
    (tree / "d3").rename(tree / "d3-away")
    (tree / "d3").write_text("file", encoding="utf-8")
    (tree / "d4/file4.txt").unlink()
    (tree / "d4/file4.txt").symlink_to("/etc/passwd")


def permissions(tree: Path) -> None:
    """Executable files, closed and open folders."""
    (tree / "d5/file5.txt").chmod(0o777)
    (tree / "d6/file6.txt").chmod(0o000)
    (tree / "d7").chmod(0o777)
    (tree / "d8").chmod(0o500)


def links_from_outside(tree: Path) -> None:
    """A file that somebody else can go on writing into."""
    (tree.parent / "outside.txt").hardlink_to(tree / "d9/file9.txt")


def deletions(tree: Path) -> None:
    """Files and a whole folder."""
    (tree / "d10/file10.txt").unlink()
    for path in (tree / "d11").iterdir():
        path.unlink()
    (tree / "d11").rmdir()


TRICKS = (
    same_size_and_times,
    folder_behind_a_link,
    things_git_lists_nowhere,
    ignored_files,
    other_kinds,
    permissions,
    links_from_outside,
    deletions,
)


@pytest.mark.parametrize("trick", TRICKS)
def test_nothing_of_the_former_attempt_is_left(world: World, trick: Callable[[Path], None]) -> None:
    """The next attempt's tree is in all like a new one, at its own commit."""
    first = world.make()
    agent_commits(first, "work", {"dir/b.txt": "agent\n", "new/agent.txt": "agent\n"})
    trick(first.tree)
    kept = (first.tree / "d20/file20.txt").stat().st_ino
    assert retire_workspace(first)
    later = world.repo.commit("meanwhile", {"d12/file12.txt": "other\n", "more.txt": "more\n"})

    second = world.make(name=another(1), start=later)
    fresh = world.make(name=another(2), start=later)

    assert (second.tree / "d20/file20.txt").stat().st_ino == kept
    assert picture(second) == picture(fresh)
    assert touched(second) == ""
    assert agent(second, "status", "--porcelain", "--ignored") == ""
    if trick is links_from_outside:
        (world.base / "outside.txt").write_text("forged", encoding="utf-8")
        assert (second.tree / "d9/file9.txt").read_text("utf-8") == "9\n"


def test_what_git_takes_for_unchanged_is_written_anew(world: World) -> None:
    """Content that a filter stores as the same, and permissions where git looks at none."""
    world.repo.git("config", "core.fileMode", "false")
    world.repo.git("config", "filter.loud.smudge", "tr a-z A-Z")
    world.repo.git("config", "filter.loud.clean", "tr A-Z a-z")
    world.repo.commit("filter", {".gitattributes": "*.up filter=loud\n", "x.up": "hello\n"})
    first = world.make()
    write(first.tree, {"x.up": "hello\n"})
    (first.tree / "d5/file5.txt").chmod(0o755)
    (first.tree / "d20/file20.txt").chmod(0o644)
    kept = (first.tree / "d21/file21.txt").stat().st_ino
    retire_workspace(first)

    second = world.make(name=another(1))

    assert (second.tree / "x.up").read_text("utf-8") == "HELLO\n"
    assert picture(second) == picture(world.make(name=another(2)))
    assert (second.tree / "d21/file21.txt").stat().st_ino == kept


def test_files_are_written_by_the_attributes_of_their_commit(world: World) -> None:
    """Those that are the same in both commits too."""
    retire_workspace(world.make())
    later = world.repo.commit("ends", {"dir/.gitattributes": "*.txt text eol=crlf\n"})

    second = world.make(name=another(1), start=later)

    assert (second.tree / "dir/b.txt").read_bytes() == b"b\r\n"
    assert touched(second) == ""


def test_work_is_not_lost_where_giving_breaks_off(world: World, tmp_path: Path) -> None:
    """A half swept tree is not taken for what the attempt left."""
    armed, there = tmp_path / "armed", tmp_path / "there"
    wait = f"test -e '{armed}' && touch '{there}'; while test -e '{armed}'; do sleep 0.05; done"
    world.repo.git("config", "filter.slow.smudge", f"{wait}; cat")
    world.repo.git("config", "filter.slow.clean", "cat")
    world.repo.commit("filter", {".gitattributes": "*.slow filter=slow\n", "x.slow": "x\n"})
    first = world.make()
    agent_commits(first, "work", {"dir/b.txt": "agent\n"})
    write(first.tree, {"left.txt": "left\n", "x.slow": "y\n"})
    kept = world.salvage(first)
    armed.touch()
    giving = multiprocessing.get_context("spawn").Process(target=retire_workspace, args=(first,))
    giving.start()
    wait_until(there.exists)
    giving.kill()
    giving.join()
    armed.unlink()

    again = world.salvage(first)

    assert kept.dirty
    assert again.tip == kept.head
    assert world.repo.git("rev-parse", "refs/qloop/attempts/US-001/1") == kept.tip


def test_flags_in_the_agents_index_hide_nothing(world: World) -> None:
    """Nor does an index that is gone, or a link that leads elsewhere."""
    first = world.make()
    write(first.tree, {"d1/file1.txt": "hidden\n", "d2/file2.txt": "hidden\n"})
    agent(first, "update-index", "--assume-unchanged", "d1/file1.txt")
    agent(first, "update-index", "--skip-worktree", "d2/file2.txt")
    (first.tree / ".git").write_text("gitdir: /nowhere\n", encoding="utf-8")
    retire_workspace(first)

    second = world.make(name=another(1))

    assert (second.tree / "d1/file1.txt").read_text("utf-8") == "1\n"
    assert (second.tree / "d2/file2.txt").read_text("utf-8") == "2\n"
    assert touched(second) == ""


def test_each_tree_is_taken_once(world: World) -> None:
    """By sixteen at a time, which all get a whole one."""
    for number in range(8):
        retire_workspace(world.make(name=another(number)))

    def take(number: int) -> Workspace:
        return world.make(name=another(100 + number))

    with ThreadPoolExecutor(16) as threads:
        made = list(threads.map(take, range(16)))

    assert [path.name for path in (world.base / POOL).iterdir()] == []
    files = {(ws.tree / "d1/file1.txt").stat().st_ino for ws in made}
    assert len(files) == 16
    assert [touched(ws) for ws in made] == [""] * 16


def test_a_tree_in_doubt_is_not_handed_on(world: World) -> None:
    """Half given by a crash, without its commit, or with a broken index: a new one is made."""
    first = world.make()
    assert give_tree(first)
    remove_workspace(first)
    (entry,) = (world.base / POOL).iterdir()
    (entry / "index").write_bytes(b"broken")
    entry.with_name(".new-half").mkdir()

    second = world.make(name=another(1))

    assert touched(second) == ""
    assert [path.name for path in (world.base / POOL).iterdir()] == [".new-half"]
    drain(world.base)
    assert not (world.base / POOL).exists()


def test_small_trees_are_made_anew(repo: Repo, tmp_path: Path) -> None:
    """It is not worth it."""
    world = World(repo, tmp_path / "trees")
    assert retire_workspace(world.make())
    assert list(world.base.iterdir()) == []
