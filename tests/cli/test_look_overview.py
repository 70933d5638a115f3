"""Bare `qloop`: starts nothing, says where things stand and what comes next."""

from pathlib import Path
from typing import Any

import pytest

from look_world import RUN, World, failed, story
from qloop.cli.main import main
from repository import Repo

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def world(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> World:
    """A repository to stand in."""
    monkeypatch.chdir(repo.path)
    return World(repo)


def overview(capsys: Captured) -> tuple[str, list[str]]:
    """What bare `qloop` says, and the commands that it names."""
    assert main([]) == 0
    out, err = capsys.readouterr()
    head, _, ways = out.partition("\nnext:\n")
    assert err == ""
    return head, [line.strip().split("  ")[0] for line in ways.splitlines()]


def test_outside_of_a_repository(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is no repository, that is said, with the way to make one."""
    monkeypatch.chdir(tmp_path)

    head, ways = overview(capsys)

    assert "not a git repository" in head
    assert ways == [
        "git init && git add . && git commit --allow-empty -m start", "qloop demo", "qloop doctor",
    ]  # fmt: skip


def test_in_a_bare_repository(
    repo: Repo, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository that cannot be used is said to be so."""
    repo.git("clone", "--quiet", "--bare", ".", "../bare.git")
    monkeypatch.chdir(repo.path.parent / "bare.git")

    head, ways = overview(capsys)

    assert "this repository is bare" in head
    assert ways == ["qloop doctor", "qloop demo", "qloop --help"]


def test_without_git(world: World, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without git is no error either."""
    monkeypatch.setenv("PATH", str(world.repo.path))

    _, ways = overview(capsys)

    assert ways[0] == "qloop doctor"


def test_without_a_plan(world: World, capsys: Captured) -> None:
    """A repository without a plan is told how to come by one; nothing is made."""
    head, ways = overview(capsys)

    assert "no plan" in head
    assert ways == ["qloop --coordinator prd.md", 'qloop mission new "TEXT"', "qloop demo"]
    assert not world.private.exists()


def test_a_plan_with_faults(world: World, capsys: Captured) -> None:
    """The faults of a plan are told, and how to see them again."""
    world.plan(story("A", "pending", "A"))

    head, ways = overview(capsys)

    assert "dependsOn" in head
    assert ways == ["qloop validate", "qloop doctor", "qloop demo"]


@pytest.mark.parametrize(
    ("stories", "ways"),
    [
        ([story("A")], ["qloop run", "qloop waves", "qloop status"]),
        ([story("A", "in_progress")], ["qloop run", "qloop waves", "qloop status"]),
        ([story("A", "passed")], ["git log ql/x", "git merge ql/x", "qloop plan PRD"]),
        (
            [
                story("A", "blocked"),
                story("B", "failed", "A", retries=failed(1, "red")),
                story("C", "failed", retries=failed(3, "red")),
            ],
            ["qloop show C", "qloop story reset C", "qloop status"],
        ),
        (
            [story("W", "pending", "A"), story("A", "blocked")],
            ["qloop show A", "qloop story unblock A", "qloop status"],
        ),
    ],
)
def test_by_where_the_plan_stands(
    world: World, capsys: Captured, stories: list[Any], ways: list[str]
) -> None:
    """The commands are those for what is left to do."""
    world.plan(*stories)

    assert overview(capsys)[1] == ways


def test_what_was_taken_over_is_not_to_be_merged_again(world: World, capsys: Captured) -> None:
    """On the branch itself there is something to take; elsewhere not, once it is taken."""
    world.plan(story("A", "passed"))
    world.repo.git("switch", "-q", "-c", "ql/x")
    assert overview(capsys)[1][1] == "git merge ql/x"
    world.repo.git("switch", "-q", "-c", "elsewhere")

    head, ways = overview(capsys)

    assert "all of ql/x is in what is checked out" in head
    assert ways == ["qloop plan PRD", "qloop report", "git log ql/x"]


def test_a_branch_behind_its_line(world: World, capsys: Captured) -> None:
    """A finished plan whose branch could not follow names the merge."""
    world.plan(story("A", "passed"))
    world.repo.git("branch", "ql/x")
    world.land("one")

    assert overview(capsys)[1][0] == "git merge --ff-only refs/qloop/line/ql/x"


@pytest.mark.parametrize(
    ("status", "second"),
    [("in_progress", "qloop logs A --follow"), ("passed", "qloop show STORY")],
)
def test_while_a_run_is_on(world: World, capsys: Captured, status: str, second: str) -> None:
    """A run that is on is named, with the ways to watch and to end it."""
    world.plan(story("A", status))
    world.hold()

    head, ways = overview(capsys)

    assert f"run {RUN} is on" in head
    assert ways == ["qloop watch", second, "qloop stop"]


def test_after_a_run_that_is_gone(world: World, capsys: Captured) -> None:
    """A run that did not end can be taken up."""
    world.plan(story("A"))
    world.hold(dead=True)
    main([])

    out = capsys.readouterr().out

    assert f"run {RUN} is gone" in out
    assert "take it up where it was" in out
