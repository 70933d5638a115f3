"""`qloop doctor`: findings on standard output, 1 where one is bad."""

import json
from pathlib import Path

import pytest

from look_world import World, story
from qloop.cli.checkup import render_finding
from qloop.cli.main import main
from qloop.run.finding import Finding
from repository import Repo

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def world(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> World:
    """A repository to stand in."""
    monkeypatch.chdir(repo.path)
    return World(repo)


def test_all_is_well(world: World, capsys: Captured) -> None:
    """Nothing bad is exit code 0, also with warnings, which come with their fix."""
    world.repo.git("config", "--unset", "user.name")

    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "ok    git" in out
    assert "warn  identity" in out
    assert "-> git config user.name" in out


def test_something_is_bad(world: World, capsys: Captured, tmp_path: Path) -> None:
    """A finding that keeps a run from starting is exit code 1; --quantum names the plan."""
    other = tmp_path / "other.json"
    world.plan(story("A", "pending", "A"))
    world.quantum.rename(other)

    assert main(["doctor"]) == 0
    assert main(["doctor", "--quantum", str(other)]) == 1
    assert "bad   plan" in capsys.readouterr().out


def test_as_json(world: World, capsys: Captured) -> None:
    """Each finding is an object of check, state, text and fix."""
    world.plan(story("A", "pending", "A"))

    assert main(["doctor", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["ok"] is False
    assert {one["state"] for one in found["findings"]} <= {"ok", "warn", "bad"}
    assert all(one.keys() == {"check", "state", "text", "fix"} for one in found["findings"])


def test_outside_of_a_repository(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine can be checked anywhere."""
    monkeypatch.chdir(tmp_path)

    assert main(["doctor"]) == 0
    assert "warn  repository" in capsys.readouterr().out


def test_further_lines_stand_below_the_first() -> None:
    """A text of several lines and its fix are aligned."""
    made = render_finding(Finding("plan", "bad", "one\ntwo", "mend it"))

    assert made.splitlines() == [
        "bad   plan             one",
        "                       two",
        "                       -> mend it",
    ]
