"""A worktree with a conflicting merge in it, and what counts as its solution."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from qloop.repo.landing import Solved
from qloop.repo.merge_tree import NotSolved, begin_merge, list_landed, merge_tree, read_solution
from qloop.repo.merging import Merge, MergeConflict
from qloop.repo.settings import read_settings
from qloop.repo.workspace import Workspace
from qloop.system import process
from repo.landing_world import Agent, World

FILES = {"a b.txt": "start\n", "notes.md": "start\n", "gone.txt": "start\n", "far.txt": "far\n"}


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A repository with a few files."""
    return World(tmp_path, FILES)


def conflict(
    world: World, ours: Callable[[Agent], object], theirs: Callable[[Agent], object]
) -> MergeConflict:
    """The conflict of an attempt with one that landed meanwhile."""
    second = world.agent("US-2")
    first = world.agent("US-1")
    ours(first)
    world.land(first)
    theirs(second)
    with pytest.raises(MergeConflict) as caught:
        world.propose(second)
    return caught.value


@contextmanager
def merging(world: World, merge: Merge) -> Iterator[Workspace]:
    """The worktree with the merge begun."""
    settings = read_settings(world.repository)
    base = world.folder / "trees"
    with merge_tree(world.repository, settings, base, "US-2.1.00000001", merge) as workspace:
        begin_merge(workspace, merge)
        yield workspace


def git(ws: Workspace, *words: str) -> str:
    """Git as an agent runs it in the worktree."""
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.invalid")
    done = process.run(["git", *identity, *words], cwd=ws.tree)
    assert done.code == 0, done.complaint
    return done.text


def solved(world: World, ws: Workspace, merge: Merge) -> dict[str, str]:
    """The files of the solution, read from the person's repository."""
    tree = read_solution(ws, world.repository, merge)
    return {path: world.show(tree, path) for path in world.files(tree)}


def test_both_sides_stand_in_the_worktree_as_git_leaves_them(world: World) -> None:
    """Marks in the file, three versions in the index, two heads; the rest is merged."""
    found = conflict(
        world,
        lambda one: one.commit("ours", {"a b.txt": "ours\n", "new.txt": "new\n"}),
        lambda one: one.commit("theirs", {"a b.txt": "theirs\n", "far.txt": "near\n"}),
    )

    with merging(world, found.merge) as ws:
        status = git(ws, "status", "--porcelain")
        versions = [git(ws, "show", f":{stage}:a b.txt") for stage in (1, 2, 3)]
        landed = list_landed(ws.git, found.merge)
        text = (ws.tree / "a b.txt").read_text("utf-8")
        (ws.tree / "a b.txt").write_text("both\n", encoding="utf-8")
        git(ws, "commit", "--quiet", "-a", "--no-edit")
        parents = git(ws, "rev-list", "--parents", "-1", "HEAD").split()[1:]
        files = solved(world, ws, found.merge)

    assert status.splitlines() == ['UU "a b.txt"', "M  far.txt"]
    assert versions == ["start", "ours", "theirs"]
    assert "<<<<<<<" in text
    assert [line.partition(" ")[2] for line in landed] == ["US-1: Do US-1"]
    assert parents == [found.merge.ours, found.merge.theirs]
    assert files == {
        **{name: text.strip() for name, text in FILES.items()},
        **{"a b.txt": "both", "far.txt": "near", "new.txt": "new"},
    }
    assert not (world.folder / "trees" / "merge.US-2.1.00000001").exists()


def test_a_file_that_one_side_removed_may_go_or_stay(world: World) -> None:
    """Whichever the agent leaves."""
    found = conflict(
        world,
        lambda one: (one.git("rm", "--quiet", "gone.txt"), one.commit("ours", {})),
        lambda one: one.commit("theirs", {"gone.txt": "changed\n"}),
    )

    with merging(world, found.merge) as ws:
        stays = solved(world, ws, found.merge)
        (ws.tree / "gone.txt").unlink()
        goes = solved(world, ws, found.merge)

    assert stays["gone.txt"] == "changed"
    assert "gone.txt" not in goes


def test_lines_that_look_like_marks_may_stay_where_a_side_has_them(world: World) -> None:
    """A page on merging, or a heading that is underlined; other marks may not."""
    title = "Title\n=======\n"
    found = conflict(
        world,
        lambda one: one.commit("ours", {"notes.md": f"{title}ours\n"}),
        lambda one: one.commit("theirs", {"notes.md": f"{title}theirs\n"}),
    )

    with merging(world, found.merge) as ws:
        notes = ws.tree / "notes.md"
        notes.write_text(f"{title}both\n", encoding="utf-8")
        files = solved(world, ws, found.merge)
        notes.write_text(f"{title}both\n>>>>>>> {found.merge.theirs}\n", encoding="utf-8")
        with pytest.raises(NotSolved, match=r"marks of the conflict are left in notes\.md"):
            solved(world, ws, found.merge)

    assert files["notes.md"] == f"{title}both".strip()


def test_files_of_the_story_may_be_fitted_and_others_not(world: World) -> None:
    """What only the line changed, or nobody, stays as it is."""
    found = conflict(
        world,
        lambda one: one.commit("ours", {"a b.txt": "ours\n", "gone.txt": "ours\n"}),
        lambda one: one.commit("theirs", {"a b.txt": "theirs\n", "far.txt": "near\n"}),
    )

    with merging(world, found.merge) as ws:
        (ws.tree / "a b.txt").write_text("both\n", encoding="utf-8")
        (ws.tree / "far.txt").write_text("fitted\n", encoding="utf-8")
        files = solved(world, ws, found.merge)
        for other in ("gone.txt", "brought.txt"):
            (ws.tree / other).write_text("mine\n", encoding="utf-8")
        with pytest.raises(NotSolved, match=r"not in conflict: brought\.txt, gone\.txt"):
            solved(world, ws, found.merge)

    assert files["far.txt"] == "fitted"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("rm", "-rf", "."), "it changed what is not in conflict"),
        (("sh", "-c", 'p=$PWD; cd ..; rm -rf "$p"'), "the worktree is gone"),
        (("git", "symbolic-ref", "HEAD", "refs/heads/none"), "HEAD does not resolve"),
    ],
)
def test_a_worktree_that_is_no_merge_any_more(
    world: World, words: tuple[str, ...], why: str
) -> None:
    """It is refused with what is wrong."""
    found = conflict(
        world,
        lambda one: one.commit("ours", {"a b.txt": "ours\n"}),
        lambda one: one.commit("theirs", {"a b.txt": "theirs\n"}),
    )

    with merging(world, found.merge) as ws:
        process.run(["sh", "-c", "rm -rf ./*"] if words[0] == "rm" else list(words), cwd=ws.tree)
        with pytest.raises(NotSolved, match=why):
            read_solution(ws, world.repository, found.merge)


def test_a_solution_lands_with_what_landed_meanwhile(world: World) -> None:
    """It is merged from the commit that it stands on; a conflict of it is one like any other."""
    found = conflict(
        world,
        lambda one: one.commit("ours", {"a b.txt": "ours\n"}),
        lambda one: one.commit("theirs", {"a b.txt": "theirs\n", "far.txt": "near\n"}),
    )
    second = Agent(world.folder / "agent 1", "US-2.1.00000001", world.start)
    with merging(world, found.merge) as ws:
        (ws.tree / "a b.txt").write_text("both\n", encoding="utf-8")
        tree = read_solution(ws, world.repository, found.merge)
    solution = Solved(tree, found.merge.ours, ())
    world.land_files("US-3", {"gone.txt": "three\n"})
    candidate = world.propose(second, solved=solution)
    world.land_files("US-4", {"far.txt": "four\n"})
    with pytest.raises(MergeConflict) as caught:
        world.propose(second, solved=solution)

    assert world.show(candidate.commit, "a b.txt") == "both"
    assert world.show(candidate.commit, "gone.txt") == "three"
    assert candidate.changed
    assert caught.value.files == ("far.txt",)


@pytest.mark.parametrize("clean", [True, False])
def test_a_generated_file_that_both_changed_stands_as_on_the_line(
    world: World, clean: bool
) -> None:
    """Also where it merges cleanly; it is stale then.

    What one side changed alone is not, nor what both removed.
    """
    lines = "".join(f"{number}\n" for number in range(20))
    made = {"made/all.lock": lines, "made/other.lock": "other\n", "made/old.lock": "old\n"}
    world.land_files("US-0", made)
    agent, first = world.agent("US-2"), world.agent("US-1")
    first.git("rm", "--quiet", "made/old.lock")
    first.commit("first", {"made/all.lock": f"first\n{lines}"})
    world.land(first)
    agent.git("rm", "--quiet", "made/old.lock")
    mine = f"{lines}last\n" if clean else f"mine\n{lines}"
    agent.commit("mine", {"made/all.lock": mine, "made/other.lock": "mine\n"})
    candidate = world.propose(agent, generated=("made",))

    assert candidate.stale == ("made/all.lock",)
    assert world.show(candidate.commit, "made/all.lock") == f"first\n{lines}".strip()
    assert world.files(candidate.commit) == sorted([*FILES, "made/all.lock", "made/other.lock"])
    assert world.show(candidate.commit, "made/other.lock") == "mine"
