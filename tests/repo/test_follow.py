"""Branch and line take in what is new on the other, and never under a person's checkout."""

from pathlib import Path

import pytest

from qloop.repo.follow import accept_take_in, follow, take_in
from qloop.repo.landing import LineMoved, Superseded
from qloop.repo.line import followed_ref, line_ref, write_lease
from qloop.repo.merging import MergeConflict
from qloop.system.errors import PersonNeeded
from repo.landing_world import BRANCH, TEN_LINES, World, fingerprint

HEAD_OF_BRANCH = f"refs/heads/{BRANCH}"


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A repository whose line has begun; `main` is checked out, the branch nowhere."""
    return World(tmp_path)


def _take(world: World) -> str:
    taken = take_in(world.repository, BRANCH)
    assert taken is not None
    accept_take_in(world.repository, BRANCH, taken, world.lease)
    return taken.commit


def _person_commits(world: World, files: dict[str, str], message: str = "mine") -> str:
    """The person commits on the branch, and goes back to where they were."""
    world.person.git("switch", "--quiet", BRANCH)
    commit = world.person.commit(message, files)
    world.person.git("switch", "--quiet", "main")
    return commit


def test_branch_follows_the_line(world: World) -> None:
    """Where no checkout holds it, branch and followed value go to the line's tip."""
    landed = world.land_files("US-1", {"one.txt": "1\n"}).commit

    follow(world.repository, BRANCH)

    assert world.ref(HEAD_OF_BRANCH) == world.ref(followed_ref(BRANCH)) == landed
    follow(world.repository, BRANCH)
    assert world.ref(HEAD_OF_BRANCH) == landed


def test_branch_held_by_the_main_checkout_stays(world: World) -> None:
    """Files, index and open edits of the person stay byte for byte."""
    person = world.person
    person.git("switch", "--quiet", BRANCH)
    person.write({"shared.txt": "staged\n", "new.txt": "untracked\n"})
    person.git("add", "shared.txt")
    person.write({"shared.txt": "open\n"})
    before = fingerprint(person.path)
    world.land_files("US-1", {"one.txt": "1\n"})

    follow(world.repository, BRANCH)

    assert world.ref(HEAD_OF_BRANCH) == world.ref(followed_ref(BRANCH)) == world.start
    assert fingerprint(person.path) == before


def test_branch_held_by_another_worktree_stays(world: World, tmp_path: Path) -> None:
    """A linked worktree holds it as much as the main checkout, until it is gone."""
    other = tmp_path / "other\nworktree"
    world.person.git("worktree", "add", "--quiet", str(other), BRANCH)
    landed = world.land_files("US-1", {"one.txt": "1\n"}).commit

    follow(world.repository, BRANCH)
    held = world.ref(HEAD_OF_BRANCH)
    other.rename(tmp_path / "moved away")
    follow(world.repository, BRANCH)

    assert held == world.start
    assert world.ref(HEAD_OF_BRANCH) == landed


@pytest.mark.parametrize("backend", ["merge", "apply"])
@pytest.mark.parametrize("linked", [False, True])
def test_branch_in_the_middle_of_a_rebase_stays(
    world: World, tmp_path: Path, backend: str, linked: bool
) -> None:
    """HEAD is detached then, yet the rebase will write the branch at its end."""
    place = world.person.path
    if linked:
        place = tmp_path / "linked"
        world.person.git("worktree", "add", "--quiet", "--detach", str(place))
    world.person.git("switch", "--quiet", BRANCH, cwd=place)
    (place / "shared.txt").write_text("branch\n", encoding="utf-8")
    world.person.git("commit", "--quiet", "--all", "-m", "branch", cwd=place)
    tip = _take(world)
    world.person.git("switch", "--quiet", "--detach", world.start, cwd=place)
    (place / "shared.txt").write_text("upstream\n", encoding="utf-8")
    world.person.git("commit", "--quiet", "--all", "-m", "upstream", cwd=place)
    upstream = world.person.git("rev-parse", "HEAD", cwd=place)
    world.person.git("rebase", f"--{backend}", upstream, BRANCH, cwd=place, check=False)
    world.land_files("US-1", {"one.txt": "1\n"})

    follow(world.repository, BRANCH)

    assert world.ref(HEAD_OF_BRANCH) == tip
    world.person.git("rebase", "--abort", cwd=place)
    assert world.person.git("status", "--porcelain", cwd=place) == ""


def test_branch_that_a_rebase_elsewhere_will_update_stays(world: World) -> None:
    """`rebase --update-refs` writes branches that no HEAD names."""
    person = world.person
    person.git("switch", "--quiet", "--create", "upper", BRANCH)
    person.commit("lower", {"shared.txt": "lower\n"})
    person.git("branch", "--force", BRANCH, "HEAD")
    tip = _take(world)
    person.commit("upper", {"upper.txt": "u\n"})
    person.git("switch", "--quiet", "main")
    person.commit("upstream", {"shared.txt": "upstream\n"})
    person.git("switch", "--quiet", "upper")
    person.git("rebase", "--update-refs", "main", check=False)
    world.land_files("US-1", {"one.txt": "1\n"})

    follow(world.repository, BRANCH)

    assert world.ref(HEAD_OF_BRANCH) == tip


def test_branch_to_which_a_bisect_returns_stays(world: World) -> None:
    """HEAD is detached then, yet `bisect reset` goes back to the branch."""
    world.person.git("switch", "--quiet", BRANCH)
    world.person.commit("one more", {"x.txt": "x\n"})
    tip = _take(world)
    world.person.git("bisect", "start", "HEAD", world.start)
    world.person.git("switch", "--quiet", "--detach", world.start)
    world.land_files("US-1", {"one.txt": "1\n"})

    follow(world.repository, BRANCH)

    assert world.ref(HEAD_OF_BRANCH) == tip


def test_branch_that_the_person_moved_is_not_moved_over(world: World) -> None:
    """What was committed there waits for `take_in`."""
    mine = _person_commits(world, {"mine.txt": "m\n"})
    world.land_files("US-1", {"one.txt": "1\n"})

    follow(world.repository, BRANCH)

    assert world.ref(HEAD_OF_BRANCH) == mine
    assert world.ref(followed_ref(BRANCH)) == world.start


def test_branch_that_the_person_moved_back_is_not_moved_forward(world: World) -> None:
    """Taking back landed work may be meant; that is asked elsewhere."""
    first = world.land_files("US-1", {"one.txt": "1\n"}).commit
    world.land_files("US-2", {"two.txt": "2\n"})
    follow(world.repository, BRANCH)
    world.person.git("branch", "--force", BRANCH, first)

    follow(world.repository, BRANCH)

    assert world.ref(HEAD_OF_BRANCH) == first


def test_deleted_branch_is_not_made_again_by_following(world: World) -> None:
    """That is a question for the person, asked elsewhere."""
    world.person.git("branch", "-D", BRANCH)
    world.land_files("US-1", {"one.txt": "1\n"})

    follow(world.repository, BRANCH)

    assert not world.ref(HEAD_OF_BRANCH)


def test_nothing_new_is_nothing_to_take_in(world: World) -> None:
    """Also when the line is ahead of the branch."""
    assert take_in(world.repository, BRANCH) is None
    world.land_files("US-1", {"one.txt": "1\n"})
    assert take_in(world.repository, BRANCH) is None


def test_commits_on_top_of_the_line_are_taken_as_they_are(world: World) -> None:
    """The line goes to the branch's tip, once the caller accepts it."""
    world.land_files("US-1", {"one.txt": "1\n"})
    follow(world.repository, BRANCH)
    mine = _person_commits(world, {"mine.txt": "m\n"})
    before = world.line

    taken = take_in(world.repository, BRANCH)

    assert taken is not None
    assert (taken.commit, taken.merged, world.line) == (mine, False, before)
    accept_take_in(world.repository, BRANCH, taken, world.lease)
    assert world.line == world.ref(followed_ref(BRANCH)) == mine
    assert take_in(world.repository, BRANCH) is None


def test_commits_beside_the_line_are_merged_into_it(world: World) -> None:
    """The line is the first parent, qloop the committer, and the branch follows the merge."""
    mine = _person_commits(world, {"mine.txt": "m\n"})
    landed = world.land_files("US-1", {"one.txt": "1\n"}).commit

    taken = take_in(world.repository, BRANCH)

    assert taken is not None
    assert taken.merged
    form = "--format=%P|%cn|%an|%s"
    assert world.person.git("log", "-1", form, taken.commit) == (
        f"{landed} {mine}|qloop|qloop|Take 1 commit of {BRANCH} into its line"
    )
    assert world.files(taken.commit) == ["mine.txt", "one.txt", "shared.txt"]
    accept_take_in(world.repository, BRANCH, taken, world.lease)
    assert world.ref(followed_ref(BRANCH)) == mine
    assert world.ref(HEAD_OF_BRANCH) == mine
    follow(world.repository, BRANCH)
    assert world.ref(HEAD_OF_BRANCH) == world.ref(followed_ref(BRANCH)) == taken.commit


def test_line_in_a_second_parent_is_merged_not_forwarded(world: World) -> None:
    """A fast-forward would take landed commits off the line's first-parent chain."""
    landed = world.land_files("US-1", {"one.txt": "1\n"}).commit
    _person_commits(world, {"mine.txt": "m\n"})
    world.person.git("switch", "--quiet", BRANCH)
    world.person.git("merge", "--quiet", "-m", "by hand", line_ref(BRANCH))
    world.person.git("switch", "--quiet", "main")

    commit = _take(world)

    parents = world.person.git("log", "-1", "--format=%P", commit).split()
    assert parents == [landed, world.ref(HEAD_OF_BRANCH)]
    assert world.files(commit) == ["mine.txt", "one.txt", "shared.txt"]


def test_attempt_that_was_on_its_way_lands_after_a_take_in(world: World) -> None:
    """Its start still stands on the line's chain, whichever way the commits came in."""
    agent = world.agent("US-2")
    agent.commit("two", {"two.txt": "2\n"})
    _person_commits(world, {"mine.txt": "m\n"})
    world.land_files("US-1", {"one.txt": "1\n"})
    _take(world)
    follow(world.repository, BRANCH)
    _person_commits(world, {"more.txt": "m\n"})
    _take(world)

    assert world.files(world.land(agent).commit) == [
        "mine.txt",
        "more.txt",
        "one.txt",
        "shared.txt",
        "two.txt",
    ]


def test_branch_brought_to_the_line_by_the_person_counts_as_followed(world: World) -> None:
    """There is nothing to take in, and from now on the branch must keep what it has."""
    landed = world.land_files("US-1", {"one.txt": "1\n"}).commit
    world.land_files("US-2", {"two.txt": "2\n"})
    world.person.git("branch", "--force", BRANCH, landed)

    assert take_in(world.repository, BRANCH) is None
    assert world.ref(followed_ref(BRANCH)) == landed


def test_conflicting_commits_wait_for_the_person_with_a_way_out(world: World) -> None:
    """The line stays; the command that is named, and a merge by hand, settle it."""
    _person_commits(world, {"shared.txt": "the person's\n"})
    landed = world.land_files("US-1", {"shared.txt": "the agent's\n"}).commit

    with pytest.raises(PersonNeeded, match=r"conflicts with its line in shared\.txt") as caught:
        take_in(world.repository, BRANCH)
    assert isinstance(caught.value.__cause__, MergeConflict)
    assert caught.value.exit_code == 3
    root = world.repository.root
    command = f"git -C '{root}' switch {BRANCH} && git -C '{root}' merge {line_ref(BRANCH)}"
    assert command in caught.value.fix
    assert world.line == landed
    world.person.git("switch", "--quiet", BRANCH)
    world.person.git("merge", line_ref(BRANCH), check=False)
    world.person.commit("settled", {"shared.txt": "both\n"})
    assert world.show(_take(world), "shared.txt") == "both"


def test_conflict_names_the_checkout_that_holds_the_branch(world: World) -> None:
    """Nobody is told to switch to where they are."""
    world.person.git("switch", "--quiet", BRANCH)
    world.person.commit("mine", {"shared.txt": "the person's\n"})
    world.land_files("US-1", {"shared.txt": "the agent's\n"}, start=world.start)

    with pytest.raises(PersonNeeded) as caught:
        take_in(world.repository, BRANCH)
    assert "switch" not in caught.value.fix


@pytest.mark.parametrize("way", ["moved back", "rewritten", "deleted"])
def test_branch_that_lost_what_was_followed_waits_for_the_person(world: World, way: str) -> None:
    """Nothing is taken in from a branch that somebody bent."""
    _person_commits(world, {"mine.txt": "m\n"})
    line = _take(world)
    if way == "moved back":
        world.person.git("branch", "--force", BRANCH, world.start)
    elif way == "deleted":
        world.person.git("branch", "-D", BRANCH)
    else:
        world.person.git("branch", "--force", BRANCH, world.start)
        _person_commits(world, {"mine.txt": "rewritten\n"})

    with pytest.raises(PersonNeeded, match=f"was {way}"):
        take_in(world.repository, BRANCH)
    assert world.line == line


def test_take_in_by_a_superseded_run_moves_nothing(world: World) -> None:
    """The lease fences this as it fences a landing."""
    _person_commits(world, {"mine.txt": "m\n"})
    taken = take_in(world.repository, BRANCH)
    assert taken is not None
    write_lease(world.repository, "r-2")
    before = world.person.git("for-each-ref")

    with pytest.raises(Superseded):
        accept_take_in(world.repository, BRANCH, taken, world.lease)
    assert world.person.git("for-each-ref") == before


def test_stale_take_in_moves_nothing(world: World) -> None:
    """What was judged is not what would stand on the line now."""
    _person_commits(world, {"mine.txt": "m\n"})
    taken = take_in(world.repository, BRANCH)
    assert taken is not None
    landed = world.land_files("US-1", {"one.txt": "1\n"}).commit

    with pytest.raises(LineMoved):
        accept_take_in(world.repository, BRANCH, taken, world.lease)
    assert world.line == landed
    assert world.ref(followed_ref(BRANCH)) == world.start


def test_commits_made_while_a_take_in_is_judged_come_next(world: World) -> None:
    """Accepting takes in what was judged; the rest is new the next time."""
    _person_commits(world, {"mine.txt": "m\n"})
    taken = take_in(world.repository, BRANCH)
    assert taken is not None
    later = _person_commits(world, {"later.txt": "l\n"})

    accept_take_in(world.repository, BRANCH, taken, world.lease)

    assert world.line == taken.commit
    assert _take(world) == later


def test_the_persons_merge_settings_do_not_bend_a_take_in(world: World) -> None:
    """A union rule counts only once the line has it; a driver never runs."""
    world.person.git("config", "merge.default", "union")
    _person_commits(world, {"shared.txt": TEN_LINES + "mine\n", ".gitattributes": "* merge=union"})
    world.land_files("US-1", {"shared.txt": TEN_LINES + "theirs\n"})

    with pytest.raises(PersonNeeded):
        take_in(world.repository, BRANCH)
