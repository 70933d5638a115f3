"""Agents and repositories in odd states: nothing of it costs work, or stops what is sound."""

from collections.abc import Callable
from pathlib import Path

import pytest

from world import World, end_all, processes_with, wait_until

GONE = "1" * 40


def one_try(world: World, *steps: list[object], **top: object) -> None:
    """One story with one attempt that goes as *steps* say."""
    world.plan({"id": "A-1", "retries": {"maxAttempts": 1}}, **top)
    world.agent(A_1=[list(steps)])


@pytest.mark.parametrize("year", [2001, 2090])
def test_a_clock_that_is_wrong_changes_nothing(world: World, year: int) -> None:
    """Commits dated long before their start, or long after, land like others, side by side."""
    world.plan({"id": "A-1"}, {"id": "B-1"}, {"id": "C-1", "dependsOn": ["A-1", "B-1"]})
    commits = (
        "for i in 10 11 12 13 14 15 16 17 18 19 20 21; do echo $i > $QLOOP_STORY.txt; "
        f"export GIT_COMMITTER_DATE={year}-01-01T00:00:$i GIT_AUTHOR_DATE={year}-01-01T00:00:$i; "
        "git add -A; git commit -q -m c$i; done"
    )
    world.agent(A_1=[[["sh", commits]]], B_1=[[["sh", commits]]], C_1=[[["sh", commits]]])

    ran = world.run()

    assert ran.code == 0, ran.err
    assert {"A-1.txt", "B-1.txt", "C-1.txt"} <= set(world.files())
    assert len(world.log()) == 4
    assert not any("retries" in world.story(name) for name in world.statuses())


def empty_ref(git_dir: Path) -> None:
    """A ref as a power cut leaves it."""
    (git_dir / "refs" / "heads" / "cut-short").write_bytes(b"")


def missing_commit(git_dir: Path) -> None:
    """A tag whose commit is gone."""
    (git_dir / "refs" / "tags" / "gone").write_text(f"{GONE}\n", encoding="ascii")


def broken_worktree(git_dir: Path) -> None:
    """What a crash leaves in the midst of `git worktree add`."""
    folder = git_dir / "worktrees" / "half"
    folder.mkdir(parents=True)
    (folder / "HEAD").write_text(f"{GONE}\n", encoding="ascii")
    (folder / "commondir").write_text("../..\n", encoding="ascii")


@pytest.mark.parametrize("harm", [empty_ref, missing_commit, broken_worktree])
@pytest.mark.parametrize("meanwhile", [False, True])
def test_what_is_broken_elsewhere_in_the_repository_stops_no_story(
    world: World, harm: Callable[[Path], None], meanwhile: bool
) -> None:
    """Refs that lead nowhere are the person's to mend; before a run or during it, work lands."""
    one_try(
        world,
        ["touch", str(world.flags / "at-work")],
        ["wait-for", str(world.flags / "go")],
        ["write", "own.txt", "own\n"],
        ["commit", "own"],
        ["write", "more.txt", "more\n"],
    )
    if not meanwhile:
        harm(world.path / ".git")
    process = world.start("run")
    wait_until((world.flags / "at-work").exists)
    if meanwhile:
        harm(world.path / ".git")
    (world.flags / "go").touch()
    _, err = process.communicate()

    assert process.returncode == 0, err
    assert {"own.txt", "more.txt"} <= set(world.files())


def test_work_that_cannot_be_kept_stays_where_it_is(world: World) -> None:
    """Where the salvage itself fails, the worktree is not removed; the next run keeps it."""
    in_the_way = world.path / ".git" / "refs" / "qloop" / "attempts" / "A-1"
    one_try(
        world,
        ["sh", f'mkdir -p "{in_the_way.parent}" && touch "{in_the_way}"'],
        ["write", "own.txt", "own\n"],
    )

    first = world.run()
    left = [path for path in world.worktrees() if (path / "own.txt").is_file()]
    in_the_way.unlink()
    world.writes_own_file("A-1")
    second = world.run()

    assert first.code == 1
    assert left
    assert str(left[0]) in first.err
    assert second.code == 0, second.err
    assert world.files("refs/qloop/attempts/A-1/1")["own.txt"] == "own"
    assert world.worktrees() == []
    assert world.story("A-1")["retries"].get("attempts", 0) == 0


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".gitattributes", "x" * 5000 + " text\n"),
        (".gitmodules", '[submodule "x"]\n\tpath = x\n\turl = -evil\n'),
    ],
)
def test_files_are_kept_beside_one_that_git_refuses(world: World, name: str, text: str) -> None:
    """What git's checks do not let in fails the attempt; the rest of its work is not lost."""
    one_try(world, ["write", name, text], ["write", "own.txt", "own\n"], ["commit", "own"])

    ran = world.run()

    assert ran.code == 1
    assert world.failures("A-1") == ["guard"]
    assert world.files("refs/qloop/attempts/A-1/1")["own.txt"] == "own"


def test_what_a_red_set_up_left_is_committed_nowhere(world: World) -> None:
    """Files that were brought, and those that the commands made, are nobody's work."""
    (world.path / "secret.txt").write_text("secret\n", encoding="utf-8")
    one_try(
        world,
        copyFiles=["secret.txt"],
        setupCommands=["mkdir built && echo 1 > built/one && exit 1"],
    )

    ran = world.run()

    assert ran.code == 1
    assert world.failures("A-1") == ["setup"]
    assert set(world.files("refs/qloop/attempts/A-1/1")) == {"README.md"}
    (world.path / "secret.txt").unlink()


@pytest.mark.parametrize("line", ["```a", "`````a", "~~~ b"])
def test_many_openings_of_code_without_an_end(world: World, line: str) -> None:
    """Megabytes of them are read in one pass, and the signal after them counts."""
    one_try(
        world,
        ["sh", f"yes '{line}' | head -c 2000000"],
        ["write", "own.txt", "own\n"],
        ["print", "\n<quantum>STORY_PASSED</quantum>"],
    )

    ran = world.run()

    assert ran.code == 0, ran.err


def test_what_a_set_up_that_was_killed_left_is_committed_nowhere(world: World) -> None:
    """A run that dies in the midst of a set-up: the next one takes nothing of it for work."""
    (world.path / "secret.txt").write_text("secret\n", encoding="utf-8")
    at_work = world.flags / "at-work"
    wait = f'mkdir built; echo 1 > built/one; touch "{at_work}"; [ -e "{world.flags}/go" ]'
    world.plan(
        {"id": "A-1"},
        copyFiles=["secret.txt"],
        setupCommands=[f"{wait} || sleep 600"],
    )
    world.writes_own_file("A-1")
    process = world.start("run")
    wait_until(at_work.exists)
    victims = [*processes_with(str(world.path))]
    end_all([process.pid])
    process.communicate()
    end_all(victims)
    (world.flags / "go").touch()

    ran = world.run()

    assert ran.code == 0, ran.err
    assert set(world.files("refs/qloop/attempts/A-1/1")) == {"README.md"}
    (world.path / "secret.txt").unlink()


def test_what_an_agent_has_a_gate_do_is_its_own_doing(world: World) -> None:
    """A script of the agent's, run by a verifying command, may not touch the repository either."""
    here = str(world.path)
    one_try(world, ["write", "check.sh", f'git -C "{here}" tag evil\n'], ["commit", "check"])
    plan = world.document
    plan["stories"][0]["verify"] = ["sh check.sh"]
    world.write_document(plan)

    ran = world.run()

    assert ran.code == 1
    assert world.failures("A-1") == ["guard"]
    assert world.repo.git("tag", "--list") == ""
    assert world.log() == ["start"]
