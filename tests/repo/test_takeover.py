"""What a failed attempt left, taken up by the next one, and given up again."""

from dataclasses import replace
from pathlib import Path

import pytest

from qloop.repo.guard import check_guard
from qloop.repo.takeover import changed_between, commit_taken, find_left, give_up, take_up
from qloop.repo.workspace import Workspace, remove_workspace
from repo.attempt_world import World, agent, agent_commits, picture, write
from repository import Repo

START = {"kept.txt": "kept\n", "far.txt": "far\n", "gone.txt": "gone\n", "moved.txt": "moved\n"}
SECOND = "US-001.2.0123abcd"


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A repository with a few files."""
    repo = Repo(tmp_path / "a repo")
    repo.commit("start", START)
    return World(repo, tmp_path / "trees")


@pytest.fixture
def left(world: World) -> tuple[str, str]:
    """Start and tip of an attempt that changed, added, removed, and left something uncommitted."""
    first = world.make()
    agent(first, "rm", "--quiet", "gone.txt")
    agent_commits(first, "work", {"kept.txt": "changed\n", "a b/new.txt": "new\n"})
    write(first.tree, {"rest.txt": "rest\n"})
    tip = world.salvage(first).tip
    remove_workspace(first)
    return first.start, tip


def second(world: World) -> Workspace:
    """The next attempt, at the line as it is now."""
    return world.make(SECOND, start=world.tip)


def test_the_failed_work_is_taken_up_and_committed(world: World, left: tuple[str, str]) -> None:
    """As one commit on the new start and on the attempt's branch; what gates left is gone."""
    start, tip = left
    ws = second(world)

    taken = take_up(ws, world.repository, start, tip)
    write(ws.tree, {"kept.txt": "mended\n", "junk.tmp": "junk\n"})
    commit_taken(ws, "kept.txt", "US-001: mend kept.txt")

    assert find_left(world.repository, "US-001", 1) == tip
    assert find_left(world.repository, "US-001", 7) is None
    assert sorted(changed_between(world.repository, start, tip)) == [
        "a b/new.txt",
        "gone.txt",
        "kept.txt",
        "rest.txt",
    ]
    assert taken
    assert agent(ws, "log", "--format=%s", "-2").splitlines() == ["US-001: mend kept.txt", "start"]
    assert agent(ws, "branch", "--show-current") == "ql-wt/US-001"
    assert agent(ws, "status", "--porcelain") == ""
    assert (ws.tree / "kept.txt").read_text("utf-8") == "mended\n"
    assert (ws.tree / "rest.txt").read_text("utf-8") == "rest\n"
    assert not (ws.tree / "gone.txt").exists()
    assert not (ws.tree / "junk.tmp").exists()
    assert world.salvage(ws).dirty is False
    check_guard(ws, world.repository)


def test_what_landed_meanwhile_stays(world: World, left: tuple[str, str]) -> None:
    """The work comes onto the line as it is now, and nothing of that is turned back."""
    world.repo.commit("landed", {"far.txt": "landed\n", "more.txt": "more\n"})
    ws = second(world)

    taken = take_up(ws, world.repository, *left)

    assert taken
    assert (ws.tree / "far.txt").read_text("utf-8") == "landed\n"
    assert (ws.tree / "more.txt").exists()
    assert (ws.tree / "kept.txt").read_text("utf-8") == "changed\n"


def test_a_conflict_leaves_the_worktree_as_it_is(world: World, left: tuple[str, str]) -> None:
    """So does a start that is unknown or not below this one, and a worktree with few folders."""
    fresh = second(world)
    begun = picture(fresh.tree)
    start, tip = left
    told = [
        take_up(fresh, world.repository, "0" * 40, tip),
        take_up(fresh, world.repository, tip, tip),
        take_up(replace(fresh, cone=("a b",)), world.repository, start, tip),
    ]
    remove_workspace(fresh)
    world.repo.commit("landed", {"kept.txt": "landed\n"})
    ws = second(world)
    before = picture(ws.tree)

    told.append(take_up(ws, world.repository, start, tip))

    assert told == [False] * 4
    assert picture(ws.tree) == before
    assert begun.keys() == before.keys()


def test_what_was_taken_up_is_given_up_again(world: World, left: tuple[str, str]) -> None:
    """Files, index and branch are what they were at the start, whatever gates left."""
    ws = second(world)
    before = picture(ws.tree)
    take_up(ws, world.repository, *left)
    write(ws.tree, {"kept.txt": "mended\n", "junk/a.tmp": "junk\n"})

    give_up(ws)

    assert picture(ws.tree) == before
    assert agent(ws, "rev-parse", "HEAD") == ws.start
    assert agent(ws, "branch", "--show-current") == "ql-wt/US-001"
    assert agent(ws, "status", "--porcelain") == ""
