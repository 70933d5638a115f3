"""The line: how it begins, which branch names and histories it refuses, what counts as landed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from qloop.repo.checkout import Repository
from qloop.repo.line import (
    LEASE_REF,
    LineLost,
    branch_ref,
    chain_since,
    ensure_line,
    find_branch_tip,
    find_landed,
    followed_ref,
    landed_ref,
    line_ref,
    line_tip,
    write_lease,
)
from qloop.system.errors import BadInput, PersonNeeded
from repo.landing_world import BRANCH, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A repository whose line has begun."""
    return World(tmp_path)


def test_missing_branch_is_made_at_head_and_followed(world: World) -> None:
    """Branch, line and followed value begin at the main checkout's commit, HEAD stays."""
    head = world.person.git("rev-parse", "HEAD")

    assert world.ref(f"refs/heads/{BRANCH}") == head
    assert world.line == head
    assert world.ref(followed_ref(BRANCH)) == head
    assert world.person.git("symbolic-ref", "HEAD") == "refs/heads/main"


def test_missing_branch_is_made_at_a_detached_head(world: World) -> None:
    """A detached HEAD is as good a beginning as a branch."""
    world.person.git("switch", "--quiet", "--detach")

    assert ensure_line(world.repository, "other") == world.start
    assert world.ref("refs/heads/other") == world.start


def test_repository_without_a_commit_cannot_have_a_line(tmp_path: Path) -> None:
    """An unborn HEAD is bad input, with the command that mends it."""
    from repository import Repo

    path = Repo(tmp_path / "empty").path.resolve()

    with pytest.raises(BadInput, match="no commit yet"):
        ensure_line(Repository(root=path, git_dir=path / ".git"), BRANCH)


def test_line_starts_at_an_existing_branch(world: World) -> None:
    """A branch that is there already gives the line its first commit, wherever HEAD is."""
    world.person.git("switch", "--quiet", "--create", "feature")
    commit = world.person.commit("on the feature", {"f": "1\n"})
    world.person.git("switch", "--quiet", "main")

    assert ensure_line(world.repository, "feature") == commit
    assert world.ref(followed_ref("feature")) == commit


def test_line_that_is_there_is_returned_as_it_stands(world: World) -> None:
    """Asking again changes nothing, also when the line is ahead of its branch."""
    landed = world.land_files("US-1", {"a.txt": "a\n"}).commit

    assert ensure_line(world.repository, BRANCH) == landed
    assert world.ref(f"refs/heads/{BRANCH}") == world.start


def test_line_has_a_reflog_from_its_first_value_on(world: World) -> None:
    """Git keeps no reflog of such refs by itself; moves by others would go unseen."""
    world.land_files("US-1", {"a.txt": "a\n"})

    entries = world.person.git("reflog", "show", "--format=%gs", line_ref(BRANCH)).splitlines()
    assert entries == [f"qloop: land on {BRANCH}", f"qloop: start the line of {BRANCH}"]


def test_lost_followed_value_is_what_branch_and_line_share(world: World) -> None:
    """Without a followed value, none of the branch's own commits counts as taken in."""
    world.land_files("US-1", {"a.txt": "a\n"})
    world.person.git("update-ref", "-d", followed_ref(BRANCH))
    world.person.git("switch", "--quiet", BRANCH)
    world.person.commit("mine", {"mine.txt": "m\n"})

    ensure_line(world.repository, BRANCH)
    assert world.ref(followed_ref(BRANCH)) == world.start


def test_branch_and_line_without_common_history_wait_for_the_person(world: World) -> None:
    """A branch that was never followed and has nothing of the line cannot be followed."""
    world.person.git("update-ref", "-d", followed_ref(BRANCH))
    world.person.git("switch", "--quiet", "--orphan", "alone")
    other = world.person.commit("unrelated", {"z": "z\n"})
    world.person.git("update-ref", f"refs/heads/{BRANCH}", other)

    with pytest.raises(PersonNeeded, match="no history in common"):
        ensure_line(world.repository, BRANCH)


def test_deleted_branch_waits_for_the_person(world: World) -> None:
    """Making it again silently would hide that somebody threw it away."""
    world.person.git("branch", "-D", BRANCH)

    with pytest.raises(PersonNeeded, match="was deleted") as caught:
        ensure_line(world.repository, BRANCH)
    assert caught.value.exit_code == 3
    assert f"git branch {BRANCH} {world.start}" in caught.value.fix
    assert f"git update-ref -d {line_ref(BRANCH)}" in caught.value.fix


@pytest.mark.parametrize("way", ["moved back", "rewritten"])
def test_branch_without_what_was_followed_waits_for_the_person(world: World, way: str) -> None:
    """A branch that lost commits that it had is not followed on."""
    world.person.git("switch", "--quiet", BRANCH)
    mine = world.person.commit("mine", {"mine.txt": "m\n"})
    world.person.git("update-ref", line_ref(BRANCH), mine)
    world.person.git("update-ref", followed_ref(BRANCH), mine)
    if way == "moved back":
        world.person.git("reset", "--quiet", "--hard", "HEAD^")
    else:
        world.person.git("commit", "--quiet", "--amend", "-m", "mine, but better")

    with pytest.raises(PersonNeeded, match=f"was {way}"):
        ensure_line(world.repository, BRANCH)
    with pytest.raises(PersonNeeded, match=mine):
        find_branch_tip(world.repository, BRANCH)


def test_the_named_way_out_of_a_rewritten_branch_works(world: World) -> None:
    """Deleting the two refs, as the message says, begins a new line at the branch."""
    world.land_files("US-1", {"a.txt": "a\n"})
    world.person.git("switch", "--quiet", BRANCH)
    world.person.git("commit", "--quiet", "--amend", "-m", "another start")
    with pytest.raises(PersonNeeded) as caught:
        ensure_line(world.repository, BRANCH)
    for command in caught.value.fix.partition("with: git update-ref")[2].split("&&"):
        world.person.git("update-ref", "-d", command.split()[-1])

    assert ensure_line(world.repository, BRANCH) == world.ref(f"refs/heads/{BRANCH}")


def test_line_moved_back_by_somebody_waits_for_the_person(world: World) -> None:
    """A line without what the branch already took from it has been tampered with."""
    world.person.git("switch", "--quiet", BRANCH)
    landed = world.person.commit("landed", {"a.txt": "a\n"})
    world.person.git("update-ref", followed_ref(BRANCH), landed)

    with pytest.raises(LineLost, match="no longer holds"):
        ensure_line(world.repository, BRANCH)


def test_a_deleted_line_is_told(world: World) -> None:
    """Asking for the tip of a line that is gone names the ref."""
    world.person.git("update-ref", "-d", line_ref(BRANCH))

    with pytest.raises(LineLost, match="is gone"):
        line_tip(world.repository, BRANCH)


@pytest.mark.parametrize(
    ("there", "wanted"), [("qloop", "qloop/us-1"), ("qloop/us-1", "qloop"), ("a/b", "a/b/c")]
)
def test_branch_name_that_git_cannot_keep_beside_another(
    world: World, there: str, wanted: str
) -> None:
    """One ref cannot be the folder of another; the one in the way is named."""
    world.person.git("branch", there)

    with pytest.raises(BadInput, match=f"beside refs/heads/{there}") as caught:
        ensure_line(world.repository, wanted)
    assert caught.value.where == f"refs/heads/{there}"


@pytest.mark.parametrize("kind", ["refs/heads/", "refs/tags/", "refs/remotes/", "refs/"])
@pytest.mark.parametrize("name_of", [branch_ref, line_ref, followed_ref])
def test_a_ref_that_git_takes_for_a_missing_one_is_refused(
    world: World, kind: str, name_of: Callable[[str], str]
) -> None:
    """Such as a branch called `refs/heads/new`, which a slip of a push makes."""
    like = f"{kind}{name_of('new')}"
    world.person.git("update-ref", like, world.start)

    with pytest.raises(BadInput, match=name_of("new")) as refused:
        ensure_line(world.repository, "new")

    assert refused.value.where == like
    assert ensure_line(world.repository, "newer") == world.start


def test_neighbours_of_a_branch_name_do_not_clash(world: World) -> None:
    """Branches in the same folder, or with the same beginning, are no hindrance."""
    for name in ("ql/other", "ql/x-2", "qlx"):
        world.person.git("branch", name)

    assert ensure_line(world.repository, "ql/x-3") == world.start


def test_line_of_an_earlier_plan_can_clash_too(world: World) -> None:
    """The line's ref clashes even when the branch of the earlier plan is gone."""
    world.person.git("branch", "-D", BRANCH)

    with pytest.raises(BadInput) as caught:
        ensure_line(world.repository, "ql")
    assert caught.value.where == line_ref(BRANCH)


def test_branch_that_is_another_name_is_refused(world: World) -> None:
    """Moving a symbolic ref would move the branch behind it, which may be checked out."""
    world.person.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")

    with pytest.raises(BadInput, match="only another name"):
        ensure_line(world.repository, "alias")


def test_each_lease_is_another_object(world: World) -> None:
    """Also two leases of one run differ, so a driver can fence its own former self."""
    first = write_lease(world.repository, "r-2")
    second = write_lease(world.repository, "r-2")

    assert len({world.lease, first, second}) == 3
    assert world.ref(LEASE_REF) == second
    assert world.person.git("cat-file", "-t", second) == "blob"


def test_landed_attempt_is_found_with_its_commit(world: World) -> None:
    """Marker, place on the line and trailers agree, also after others landed."""
    agent = world.agent("US-1")
    agent.commit("work", {"a.txt": "a\n"})
    landed = world.land(agent).commit
    world.land_files("US-2", {"b.txt": "b\n"})

    assert find_landed(world.repository, BRANCH, agent.attempt_id, "US-1") == landed


def test_marker_without_its_commit_on_the_line_is_not_landed(world: World) -> None:
    """What a crash in the midst of the transaction would leave proves nothing."""
    agent = world.agent("US-1")
    agent.commit("work", {"a.txt": "a\n"})
    candidate = world.propose(agent)
    world.person.git("update-ref", landed_ref(agent.attempt_id), candidate.commit)

    assert find_landed(world.repository, BRANCH, agent.attempt_id, "US-1") is None


def test_commit_on_the_line_without_its_marker_is_not_landed(world: World) -> None:
    """A trailer alone proves nothing."""
    agent = world.agent("US-1")
    agent.commit("work", {"a.txt": "a\n"})
    world.land(agent)
    world.person.git("update-ref", "-d", landed_ref(agent.attempt_id))

    assert find_landed(world.repository, BRANCH, agent.attempt_id, "US-1") is None


def test_marker_on_somebody_elses_commit_is_not_landed(world: World) -> None:
    """A marker that points at a commit of the line which does not name the attempt is a lie."""
    other = world.agent("US-2")
    other.commit("work", {"a.txt": "a\n"})
    landed = world.land(other).commit
    world.person.git("update-ref", landed_ref("US-1.7.0000000a"), landed)
    world.person.git("update-ref", landed_ref("US-1.7.0000000b"), world.start)

    assert find_landed(world.repository, BRANCH, "US-1.7.0000000a", "US-1") is None
    assert find_landed(world.repository, BRANCH, "US-1.7.0000000a", "US-2") is None
    assert find_landed(world.repository, BRANCH, "US-1.7.0000000b", "US-1") is None


def test_second_parents_are_not_on_the_lines_chain(world: World) -> None:
    """Only first parents make the line; what a merge brought in beside does not stand on it."""
    world.person.git("switch", "--quiet", "--create", "side")
    side = world.person.commit("aside", {"s": "s\n"})
    world.person.git("switch", "--quiet", "main")
    world.person.git("merge", "--quiet", "--no-ff", "-m", "merge", "side")
    tip = world.person.git("rev-parse", "HEAD")
    git = world.repository.git

    assert chain_since(git, tip, world.start) == [tip, world.start]
    assert chain_since(git, tip, side) == []
