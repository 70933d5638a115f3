"""`qloop watch` at the edges of a run: before its plan is there, and one that never began."""

import json
import os
import subprocess
import sys

import pytest

from look_world import BRANCH, RUN, World, story
from qloop.state.journal import EventKind
from repository import Repo


@pytest.fixture
def world(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> World:
    """A repository to stand in, held by a run, without a plan yet."""
    monkeypatch.chdir(repo.path)
    made = World(repo)
    made.hold()
    return made


def watch() -> subprocess.Popen[str]:
    """Start `qloop watch` here."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "qloop", "watch"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_a_run_that_is_being_opened(world: World) -> None:
    """Its plan may still have to be made: the watching waits for its start."""
    with watch() as watching:
        world.tell(EventKind.STATE_REPAIRED, text="ended what was left")
        world.plan(story("A"))
        world.tell(EventKind.RUN_STARTED, branch=BRANCH, max_parallel=2)
        world.tell(EventKind.RUN_ENDED, signal="INTERRUPTED", reasons=["`qloop run` goes on"])
        out, err = watching.communicate(timeout=120)

    assert (watching.returncode, err) == (0, "")
    assert "ended what was left" in out
    assert out.splitlines()[-2:] == [f"run {RUN} ended INTERRUPTED", "`qloop run` goes on"]


@pytest.mark.parametrize("waits", [True, False])
def test_a_run_that_never_began(world: World, waits: bool) -> None:
    """It ends with the run, and says how far that came."""
    with watch() as watching:
        if waits:
            world.tell(EventKind.RUN_ENDED, signal="WAITING", reasons=["merge first"])
        holder = json.loads((world.private / "run.json").read_text(encoding="utf-8"))
        holder["endedAt"] = "2026-01-02T03:05:00.000Z"
        world.plan(story("A"))  # for one that looks only now
        (world.private / "run.json").write_text(json.dumps(holder), encoding="utf-8")
        out, err = watching.communicate(timeout=120)

    assert (watching.returncode, err) == (0, "")
    assert ("merge first" in out) == waits
