"""The guard: what an attempt may do to its start, and what it may not."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from qloop.repo.git import Git
from qloop.repo.guard import GuardTripped, check_guard, head_advance
from qloop.repo.workspace import Workspace
from qloop.system import process
from qloop.system.errors import BadInput
from repo.attempt_world import BRANCH, World, agent, agent_commits, write
from repository import Repo


@pytest.fixture
def world(repo: Repo, tmp_path: Path) -> World:
    """A repository with some history, and a folder for worktrees."""
    repo.commit("files", {"a.txt": "a\n"})
    return World(repo, tmp_path / "trees")


@pytest.fixture
def ws(world: World) -> Workspace:
    """An attempt's workspace at the person's HEAD."""
    return world.make()


def guarded(world: World, ws: Workspace) -> None:
    """Salvage, then guard, as an attempt does."""
    world.salvage(ws)
    check_guard(ws, world.repository)


@pytest.mark.parametrize(
    "what",
    [
        ("status",),
        ("checkout", "--quiet", "--detach"),
        ("branch", "-m", "renamed"),
        ("checkout", "--quiet", "-b", "other"),
        ("reset", "--quiet", "--soft", "HEAD~1"),
        ("commit", "--quiet", "--amend", "-m", "amended"),
        ("merge", "--quiet", "--no-ff", "-m", "merged", "side"),
    ],
)
def test_what_descends_from_the_start_is_adopted(
    world: World, ws: Workspace, what: tuple[str, ...]
) -> None:
    """Switched, renamed, detached, amended above the start, merged: all are advances."""
    agent(ws, "checkout", "--quiet", "-b", "side")
    agent_commits(ws, "side", {"side.txt": "s\n"})
    agent(ws, "checkout", "--quiet", BRANCH)
    agent_commits(ws, "one", {"x.txt": "x\n"})
    agent(ws, *what)

    guarded(world, ws)


def test_an_attempt_that_did_nothing_holds(world: World, ws: Workspace) -> None:
    """The start is its own ancestor."""
    guarded(world, ws)


def test_an_amended_start_trips(world: World, ws: Workspace) -> None:
    """A new commit in the start's place is a sibling, and both commits are told."""
    agent(ws, "commit", "--quiet", "--amend", "-m", "rewritten")
    head = agent(ws, "rev-parse", "HEAD")

    with pytest.raises(GuardTripped, match="HEAD reset detected") as caught:
        guarded(world, ws)
    assert (caught.value.base, caught.value.head) == (ws.start, head)
    assert ws.start in str(caught.value)
    assert head in str(caught.value)


def test_a_reset_and_a_commit_trip(world: World, ws: Workspace) -> None:
    """HEAD differs from the start as in any attempt, but does not contain it."""
    agent(ws, "reset", "--quiet", "--hard", "HEAD~1")
    agent_commits(ws, "sibling", {"x.txt": "x\n"})

    with pytest.raises(GuardTripped, match="HEAD reset detected"):
        guarded(world, ws)


def test_a_bare_reset_trips(world: World, ws: Workspace) -> None:
    """HEAD behind the start is a reset too."""
    agent(ws, "reset", "--quiet", "--hard", "HEAD~1")

    with pytest.raises(GuardTripped, match="HEAD reset detected"):
        guarded(world, ws)


@pytest.mark.parametrize("trick", ["replace", "grafts", "shallow", "commit-graph"])
def test_a_forged_ancestry_trips(world: World, ws: Workspace, trick: str) -> None:
    """Replace refs, grafts, a shallow file and a commit graph do not make a sibling descend."""
    agent(ws, "reset", "--quiet", "--hard", "HEAD~1")
    sibling = agent_commits(ws, "sibling", {"x.txt": "x\n"})
    agent(ws, "replace", "--graft", sibling, ws.start)
    if trick != "replace":
        write(ws.git_dir, {"info/grafts": f"{sibling} {ws.start}\n"})
        agent(ws, "replace", "-d", sibling)
    if trick == "shallow":
        write(ws.git_dir, {"shallow": f"{sibling}\n"})
    if trick == "commit-graph":
        agent(ws, "commit-graph", "write", "--reachable")

    with pytest.raises(GuardTripped, match="HEAD reset detected"):
        guarded(world, ws)


def _begin(ws: Workspace, *args: str) -> None:
    agent_commits(ws, "one", {"a.txt": "one\n"})
    agent(ws, "checkout", "--quiet", "-b", "other", ws.start)
    agent_commits(ws, "two", {"a.txt": "two\n"})
    agent_commits(ws, "three", {"b.txt": "three\n"})
    agent(ws, *args, check=False)


@pytest.mark.parametrize(
    ("what", "told"),
    [
        (("rebase", BRANCH), "a rebase is"),
        (("rebase", "--apply", BRANCH), "git am is"),
        (("merge", BRANCH), "a merge is"),
        (("cherry-pick", BRANCH), "a cherry-pick is"),
        (("revert", "HEAD~1", "HEAD"), "a revert"),
        (("bisect", "start"), "a bisect is"),
    ],
)
def test_an_unfinished_operation_trips(
    world: World, ws: Workspace, what: tuple[str, ...], told: str
) -> None:
    """What is half done is no work, also where the status looks clean."""
    _begin(ws, *what) if what[0] != "revert" else _begin_revert(ws)

    with pytest.raises(GuardTripped, match=told):
        guarded(world, ws)


def _begin_revert(ws: Workspace) -> None:
    agent_commits(ws, "one", {"a.txt": "one\n"})
    agent_commits(ws, "two", {"a.txt": "two\n"})
    agent(ws, "revert", "HEAD~1", check=False)


def test_a_rebase_that_waits_for_an_edit_trips(world: World, ws: Workspace) -> None:
    """It shows no change at all in the status, and HEAD descends from the start."""
    agent_commits(ws, "one", {"a.txt": "one\n"})
    editor = ("-c", "sequence.editor=sed -i.bak 1s/pick/edit/")
    agent(ws, *editor, "rebase", "-i", "HEAD~1")
    assert agent(ws, "status", "--porcelain") == ""

    with pytest.raises(GuardTripped, match="a rebase is unfinished"):
        guarded(world, ws)


def _link_tree(world: World, ws: Workspace) -> None:
    process.run(["mv", str(ws.tree), f"{ws.tree}.moved"])
    ws.tree.symlink_to(f"{ws.tree}.moved")


def _remove_tree(world: World, ws: Workspace) -> None:
    process.run(["rm", "-rf", str(ws.tree)])


def _remake_tree(world: World, ws: Workspace) -> None:
    _remove_tree(world, ws)
    ws.tree.mkdir()


def _point_away(world: World, ws: Workspace) -> None:
    (ws.tree / ".git").write_text(f"gitdir: {world.repo.path}/.git\n")


def _own_repository(world: World, ws: Workspace) -> None:
    (ws.tree / ".git").unlink()
    process.run(["git", "init", "-q", str(ws.tree)])


def _pipe(world: World, ws: Workspace) -> None:
    (ws.tree / ".git").unlink()
    os.mkfifo(ws.tree / ".git")


def _prune(world: World, ws: Workspace) -> None:
    agent(ws, "worktree", "remove", "--force", str(ws.tree))


def _break_head(world: World, ws: Workspace) -> None:
    (ws.admin / "HEAD").write_text("1" * 40 + "\n")


def _remove_admin(world: World, ws: Workspace) -> None:
    process.run(["rm", "-rf", str(ws.admin)])


def _unborn(world: World, ws: Workspace) -> None:
    agent(ws, "checkout", "--quiet", "--orphan", "unborn")


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (_link_tree, "worktree is gone"),
        (_remove_tree, "worktree is gone"),
        (_prune, "worktree is gone"),
        (_remake_tree, r"\.git was replaced"),
        (_point_away, r"\.git was replaced"),
        (_own_repository, r"\.git was replaced"),
        (_pipe, r"\.git was replaced"),
        (_break_head, "HEAD does not resolve"),
        (_remove_admin, "HEAD does not resolve"),
        (_unborn, "HEAD does not resolve"),
    ],
)
def test_a_worktree_that_is_not_the_attempts_any_more_trips(
    world: World, ws: Workspace, damage: Callable[[World, Workspace], None], told: str
) -> None:
    """A worktree that is gone, replaced, turned elsewhere or without a HEAD is told as such."""
    damage(world, ws)

    with pytest.raises(GuardTripped, match=told):
        guarded(world, ws)


def test_a_head_that_was_not_carried_over_trips(world: World, ws: Workspace) -> None:
    """Without a salvage the person's repository knows nothing of the work."""
    agent_commits(ws, "one", {"x.txt": "x\n"})

    with pytest.raises(GuardTripped, match="not known"):
        check_guard(ws, world.repository)


def test_an_advance_in_any_repository_is_silent(world: World) -> None:
    """The toolkit's guard takes names of any kind, and HEAD by default."""
    git = world.repository.git

    head_advance(git, "HEAD~1")
    head_advance(git, "HEAD", "main")


def test_a_reset_in_any_repository_trips(world: World) -> None:
    """Both commits are told in full."""
    before = world.tip
    world.repo.git("reset", "--quiet", "--hard", "HEAD~1")

    with pytest.raises(GuardTripped, match=f"HEAD reset detected.*{before}.*{world.tip}"):
        head_advance(world.repository.git, before)


@pytest.mark.parametrize(("before", "after"), [("nowhere", "HEAD"), ("HEAD", "--all")])
def test_an_unknown_commit_is_bad_input(world: World, before: str, after: str) -> None:
    """A name that is no commit is told, and is no reset."""
    with pytest.raises(BadInput, match="unknown commit"):
        head_advance(Git(world.repository.git_dir), before, after)
