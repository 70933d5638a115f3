"""From which base an attempt is merged, whatever its agent did with history."""

from pathlib import Path

import pytest

from qloop.repo.landing import ForeignCommit
from qloop.repo.landing_filter import LandingRefused
from qloop.repo.line import LineLost, line_ref
from qloop.repo.merging import MergeConflict
from qloop.system.errors import PersonNeeded
from repo.landing_world import BRANCH, TEN_LINES, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A repository whose line has begun."""
    return World(tmp_path)


def _edited(number: int, text: str, lines: str = TEN_LINES) -> str:
    return lines.replace(f"line {number}\n", f"{text}\n")


def test_plain_work_is_merged_with_what_landed_meanwhile(world: World) -> None:
    """Two stories from one start, in different places of one file, are both there."""
    agent = world.agent("US-2")
    agent.commit("two", {"shared.txt": _edited(9, "TWO"), "two.txt": "2\n"})
    world.land_files("US-1", {"shared.txt": _edited(0, "ONE"), "one.txt": "1\n"})

    landed = world.land(agent)

    assert world.show(landed.commit, "shared.txt") == _edited(9, "TWO", _edited(0, "ONE"))[:-1]
    assert world.files(landed.commit) == ["one.txt", "shared.txt", "two.txt"]
    assert landed.restored == ()
    assert landed.changed


def test_agent_that_merged_the_moved_line(world: World) -> None:
    """What it took in is counted once and does not conflict with itself."""
    agent = world.agent("US-2")
    agent.commit("two", {"shared.txt": _edited(9, "TWO")})
    world.land_files("US-1", {"shared.txt": _edited(0, "ONE")})
    agent.git("merge", "--quiet", "-m", "take in", line_ref(BRANCH))
    world.land_files("US-3", {"shared.txt": _edited(5, "THREE", _edited(0, "ONE"))})

    landed = world.land(agent)

    expected = _edited(5, "THREE", _edited(9, "TWO", _edited(0, "ONE")))
    assert world.show(landed.commit, "shared.txt") == expected[:-1]
    assert landed.restored == ()


def test_agent_that_rebased_onto_the_moved_line(world: World) -> None:
    """Its rewritten commits are its own; the sibling's stays the sibling's."""
    agent = world.agent("US-2")
    agent.commit("two", {"shared.txt": _edited(9, "TWO")})
    world.land_files("US-1", {"shared.txt": _edited(0, "ONE")})
    agent.git("rebase", "--quiet", line_ref(BRANCH))

    landed = world.land(agent)

    assert world.show(landed.commit, "shared.txt") == _edited(9, "TWO", _edited(0, "ONE"))[:-1]
    message = world.person.git("log", "-1", "--format=%B", landed.commit)
    assert "    - two" in message
    assert "US-1 done" not in message


def test_agent_that_amended_its_own_commit(world: World) -> None:
    """Rewriting one's own commits is no fault."""
    agent = world.agent()
    agent.commit("first try", {"a.txt": "1\n"})
    agent.write({"a.txt": "2\n"})
    agent.git("commit", "--quiet", "--all", "--amend", "-m", "second try")

    landed = world.land(agent)

    assert world.show(landed.commit, "a.txt") == "2"
    assert "first try" not in world.person.git("log", "-1", "--format=%B", landed.commit)


def _revert_on_the_line(world: World, commit: str) -> str:
    """The person reverts a landed story on the line's history."""
    world.person.git("switch", "--quiet", "--detach", line_ref(BRANCH))
    world.person.git("revert", "--no-edit", commit)
    reverted = world.person.git("rev-parse", "HEAD")
    world.person.git("update-ref", line_ref(BRANCH), reverted)
    return reverted


@pytest.mark.parametrize("took_in", [True, False])
def test_story_that_the_person_reverted_does_not_come_back(world: World, took_in: bool) -> None:
    """Neither by an agent that had taken it in, nor by one that never saw it."""
    agent = world.agent("US-2")
    agent.commit("two", {"two.txt": "2\n"})
    landed = world.land_files("US-1", {"one.txt": "1\n"}).commit
    if took_in:
        agent.git("merge", "--quiet", "-m", "take in", line_ref(BRANCH))
    _revert_on_the_line(world, landed)

    assert world.files(world.land(agent).commit) == ["shared.txt", "two.txt"]


def test_edit_of_landed_work_fails_once_and_lands_from_the_tip(world: World) -> None:
    """Whose change of the same place counts cannot be told; from the line's tip it is plain."""
    agent = world.agent("US-2")
    agent.commit("two", {"two.txt": "2\n"})
    world.land_files("US-1", {"shared.txt": _edited(0, "ONE")})
    agent.git("merge", "--quiet", "-m", "take in", line_ref(BRANCH))
    agent.commit("better", {"shared.txt": _edited(0, "BETTER")})
    again = world.agent("US-2")
    again.commit("better", {"shared.txt": _edited(0, "BETTER")})

    with pytest.raises(MergeConflict) as caught:
        world.propose(agent)
    assert caught.value.files == ("shared.txt",)
    assert world.show(world.land(again).commit, "shared.txt") == _edited(0, "BETTER")[:-1]


def test_merge_that_drops_the_other_side_is_undone(world: World) -> None:
    """`merge -s ours` claims the sibling's commit without its content; the content comes back."""
    agent = world.agent("US-2")
    agent.commit("two", {"shared.txt": _edited(9, "TWO")})
    world.land_files("US-1", {"shared.txt": _edited(0, "ONE"), "one.txt": "1\n"})
    agent.git("merge", "--quiet", "-s", "ours", "-m", "done with it", line_ref(BRANCH))

    landed = world.land(agent)

    assert world.show(landed.commit, "shared.txt") == _edited(9, "TWO", _edited(0, "ONE"))[:-1]
    assert world.files(landed.commit) == ["one.txt", "shared.txt"]
    assert landed.restored == ("one.txt", "shared.txt")


def test_soft_reset_onto_the_moved_line_reverts_nobody(world: World) -> None:
    """A commit of the old tree on the new tip looks like a removal of the sibling's work."""
    agent = world.agent("US-2")
    agent.commit("two", {"two.txt": "2\n"})
    world.land_files("US-1", {"one.txt": "1\n"})
    agent.git("reset", "--quiet", "--soft", line_ref(BRANCH))
    agent.git("commit", "--quiet", "-m", "two, squashed")

    landed = world.land(agent)

    assert world.files(landed.commit) == ["one.txt", "shared.txt", "two.txt"]
    assert landed.restored == ("one.txt",)


def test_state_files_are_never_called_restored(world: World) -> None:
    """They are the line's in any case, so an agent that took in the line dropped none."""
    agent = world.agent("US-2")
    agent.commit("two", {"two.txt": "2\n", "quantum.json": "agent\n"})
    world.person.git("switch", "--quiet", BRANCH)
    changed = world.person.commit("person", {"quantum.json": "person\n"})
    world.person.git("update-ref", line_ref(BRANCH), changed)
    agent.git("merge", "--quiet", "-s", "ours", "-m", "take in", line_ref(BRANCH))

    landed = world.land(agent)

    assert landed.restored == ()
    assert world.show(landed.commit, "quantum.json") == "person"


def test_work_that_does_not_descend_from_its_start_is_refused(world: World) -> None:
    """A rewritten start is told, and nothing is proposed."""
    world.land_files("US-1", {"one.txt": "1\n"})
    agent = world.agent("US-2")
    agent.git("commit", "--quiet", "--amend", "-m", "rewritten")
    agent.commit("two", {"two.txt": "2\n"})

    with pytest.raises(LandingRefused, match="does not descend"):
        world.propose(agent)


def test_line_without_the_start_waits_for_the_person(world: World) -> None:
    """An attempt cannot land on a line that lost the commit it started from."""
    world.land_files("US-1", {"one.txt": "1\n"})
    agent = world.agent("US-2")
    agent.commit("two", {"two.txt": "2\n"})
    world.person.git("update-ref", line_ref(BRANCH), world.start)

    with pytest.raises(LineLost, match="no longer holds"):
        world.propose(agent)
    assert issubclass(LineLost, PersonNeeded)


def test_commit_of_another_attempt_that_never_landed_is_refused(world: World) -> None:
    """Work that failed elsewhere does not come in by another story's history."""
    other = world.agent("US-1")
    foreign = other.commit("unjudged", {"one.txt": "1\n"})
    agent = world.agent("US-2")
    agent.git("merge", "--quiet", "--ff-only", foreign)
    agent.commit("two", {"two.txt": "2\n"})

    with pytest.raises(ForeignCommit) as caught:
        world.propose(agent)
    assert caught.value.commit == foreign
    assert caught.value.maker == other.attempt_id


def test_commit_that_the_person_took_onto_the_line_is_not_foreign(world: World) -> None:
    """An attempt's commit that stands in the line's history belongs to the line."""
    agent = world.agent("US-2")
    other = world.agent("US-1")
    picked = other.commit("salvaged by hand", {"one.txt": "1\n"})
    world.person.git("update-ref", line_ref(BRANCH), picked)
    agent.git("merge", "--quiet", "--ff-only", picked)
    agent.commit("two", {"two.txt": "2\n"})

    assert world.files(world.land(agent).commit) == ["one.txt", "shared.txt", "two.txt"]


def test_earlier_attempt_of_the_same_story_is_another_attempt(world: World) -> None:
    """A retry that picks up its predecessor's unlanded commits must make them its own."""
    first = world.agent("US-1")
    tried = first.commit("tried", {"one.txt": "1\n"})
    second = world.agent("US-1")
    second.git("merge", "--quiet", "--ff-only", tried)

    with pytest.raises(ForeignCommit):
        world.propose(second)
    second.git("reset", "--quiet", "--hard", second.start)
    second.git("cherry-pick", "--allow-empty", tried)
    assert world.land(second).changed


@pytest.mark.parametrize("how", ["nothing", "empty commit", "took in the line", "undid it"])
def test_attempt_that_did_nothing_is_told(world: World, how: str) -> None:
    """Commits without content, and what others landed, are no work of one's own."""
    agent = world.agent("US-2")
    world.land_files("US-1", {"one.txt": "1\n"})
    if how == "empty commit":
        agent.commit("nothing")
    elif how == "took in the line":
        agent.git("merge", "--quiet", "--no-ff", "-m", "take in", line_ref(BRANCH))
    elif how == "undid it":
        agent.commit("do", {"x.txt": "x\n"})
        agent.git("revert", "--no-edit", "HEAD")

    candidate = world.propose(agent)

    assert not candidate.changed
    assert world.files(candidate.commit) == ["one.txt", "shared.txt"]


def test_conflicts_name_every_file_and_land_nothing(world: World) -> None:
    """The files are told as they are named, and the line stays."""
    names = ("a b.txt", "líne\nend.txt", "sub/c.txt")
    agent = world.agent("US-2")
    agent.commit("two", dict.fromkeys(names, "two\n"))
    landed = world.land_files("US-1", dict.fromkeys(names, "one\n")).commit

    with pytest.raises(MergeConflict, match=r'merge conflict in a b.txt, "l.*end.txt"') as caught:
        world.propose(agent)
    assert caught.value.files == names
    assert world.line == landed


def test_file_changed_here_and_deleted_there_is_a_conflict(world: World) -> None:
    """Neither side is preferred."""
    agent = world.agent("US-2")
    agent.git("rm", "--quiet", "shared.txt")
    agent.commit("removed")
    world.land_files("US-1", {"shared.txt": _edited(3, "ONE")})

    with pytest.raises(MergeConflict):
        world.propose(agent)


def test_renamed_file_takes_the_siblings_change_along(world: World) -> None:
    """Git finds the rename, and the change lands under the new name."""
    agent = world.agent("US-2")
    agent.git("mv", "shared.txt", "renamed.txt")
    agent.commit("rename")
    world.land_files("US-1", {"shared.txt": _edited(0, "ONE")})

    landed = world.land(agent)

    assert world.files(landed.commit) == ["renamed.txt"]
    assert world.show(landed.commit, "renamed.txt") == _edited(0, "ONE")[:-1]


def test_new_files_do_not_move_with_a_renamed_folder(tmp_path: Path) -> None:
    """A file lands where its author put it; git's guess at folders is off."""
    world = World(tmp_path, {"old/a": TEN_LINES, "old/b": TEN_LINES + "b\n", "c": "c\n"})
    agent = world.agent("US-2")
    agent.commit("new", {"old/new": "n\n"})
    mover = world.agent("US-1")
    mover.git("mv", "old", "moved")
    mover.commit("move")
    world.land(mover)

    assert world.files(world.land(agent).commit) == ["c", "moved/a", "moved/b", "old/new"]


def test_shallow_repository_can_land(world: World, tmp_path: Path) -> None:
    """Where history ends early, merging still finds what is common."""
    world.person.commit("more history")
    shallow = World(tmp_path / "clone", clone_of=world.person.path)
    agent = shallow.agent("US-2")
    agent.commit("two", {"shared.txt": _edited(9, "TWO")})
    shallow.land_files("US-1", {"shared.txt": _edited(0, "ONE")})
    agent.git("merge", "--quiet", "-m", "take in", line_ref(BRANCH))

    landed = shallow.land(agent)

    expected = _edited(9, "TWO", _edited(0, "ONE"))[:-1]
    assert shallow.show(landed.commit, "shared.txt") == expected
    assert (shallow.repository.git_dir / "shallow").exists()


def test_repository_of_sha256_can_land(tmp_path: Path) -> None:
    """The other object format works alike."""
    world = World(tmp_path, object_format="sha256")
    agent = world.agent("US-2")
    agent.commit("two", {"two.txt": "2\n", "qloop.toml": "x\n"})
    world.land_files("US-1", {"one.txt": "1\n"})

    landed = world.land(agent)

    assert len(landed.commit) == 64
    assert world.files(landed.commit) == ["one.txt", "shared.txt", "two.txt"]


def test_partial_clone_fetches_what_a_merge_needs(world: World, tmp_path: Path) -> None:
    """A blob that neither side checked out here comes from where the clone came from."""
    world.person.git("config", "uploadpack.allowFilter", "true")
    world.person.git("config", "uploadpack.allowAnySHA1InWant", "true")
    clone = World(tmp_path / "clone", clone_of=world.person.path, clone_filter="blob:none")
    ours = _edited(0, "ONE"), _edited(9, "TWO")
    first, second = (clone.agent_without_files(f"US-{n}") for n in (1, 2))
    for agent, text in zip((first, second), ours, strict=True):
        name = agent.git_object(text.encode())
        agent.git("update-index", "--cacheinfo", f"100644,{name},shared.txt")
        agent.git("commit", "--quiet", "-m", "work")
    clone.land(first)

    landed = clone.land(second)

    expected = _edited(9, "TWO", _edited(0, "ONE"))[:-1]
    assert clone.show(landed.commit, "shared.txt") == expected
