"""Every test runs in a world of its own: no identity, no configuration, no HOME of the person."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from qloop.repo.lookup import close_all
from repository import Repo

if TYPE_CHECKING:
    from loaded import Loaded
    from world import World


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # As it is in a shell's background; what the tests start would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Nothing here needs a machine of a certain speed.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


LONG = ("test_real_", "test_interrupt", "test_fencing", "test_resume")
"""How the names of those modules begin whose tests wait longest for other processes."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long, so that no worker is left alone with it at the end."""
    items.sort(key=lambda item: not item.path.name.startswith(LONG))


@pytest.fixture(autouse=True)
def _own_world(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Take away what the person's environment would add, and give folders of the test's own."""
    for name in list(os.environ):
        if name.startswith(("GIT_", "QLOOP_", "XDG_")) or name == "NO_COLOR":
            monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("TMPDIR", str(home))
    yield
    close_all()


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repository with one commit, in a folder whose name has a space."""
    made = Repo(tmp_path / "a repo")
    made.commit("start", {"README.md": "start\n"})
    return made


@pytest.fixture(scope="session")
def loaded() -> Iterator["Loaded"]:
    """What qloop commands are forked from where it is no matter how they were started."""
    from loaded import Loaded

    made = Loaded()
    yield made
    made.close()


@pytest.fixture
def world(tmp_path: Path, loaded: "Loaded") -> Iterator["World"]:
    """A repository with a scripted agent; after the test no process of it may be left."""
    from world import World, end_all, left_behind

    made = World(tmp_path, loaded)
    yield made
    close_all()
    left = left_behind(str(tmp_path))
    end_all([*left])
    assert not left, f"processes were left: {left}"
