"""The live board's thread, when something is wrong with it."""

import threading
from pathlib import Path

import pytest

from look_world import BRANCH, World, story
from qloop.state.journal import EventKind
from qloop.ui.live import LiveBoard
from repository import Repo

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def world(repo: Repo) -> World:
    """A repository in which a run has begun."""
    made = World(repo)
    made.plan(story("A"))
    made.tell(EventKind.RUN_STARTED, branch=BRANCH, max_parallel=2)
    return made


def test_a_board_that_cannot_be_drawn_ends_no_run(world: World, capsys: Captured) -> None:
    """What went wrong is saved and told when the run is over; the run itself hears nothing."""
    with LiveBoard(world.private, Path("no\0file"), 0):
        pass
    told = capsys.readouterr().err

    assert "error: a bug of qloop (ValueError" in told
    assert "Traceback" not in told


def test_its_thread_ends_with_the_run(world: World, capsys: Captured) -> None:
    """Also where the run ends by an error, which goes on its way."""
    with pytest.raises(KeyError), LiveBoard(world.private, world.quantum, 0):
        raise KeyError
    names = [thread.name for thread in threading.enumerate()]

    assert "board" not in names
    assert BRANCH in capsys.readouterr().err
