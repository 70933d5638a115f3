"""Fixtures for tests with real clients: installed where that is wanted, else skipped."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from client_install import AS_STARTED, NotInstalled, Package, ensure_installed, is_installed
from client_table import CLIENTS
from client_world import HELLO, Client, ClientWorld
from model_server import ModelServer
from world import end_all, processes_with

HOW = "`bin/test -m real_clients` installs it"
_missing: dict[str, str] = {}


@pytest.fixture(params=CLIENTS, ids=lambda client: client.name)
def client(request: pytest.FixtureRequest) -> Client:
    """Each client in its turn, installed."""
    made: Client = request.param
    need(made.package, request.config)
    return made


@pytest.fixture
def real(client: Client, tmp_path: Path) -> Iterator[ClientWorld]:
    """A repository, the client and its service; after the test no process of it may be left."""
    yield from running(client, tmp_path)


def running(client: Client, tmp_path: Path) -> Iterator[ClientWorld]:
    """A world for a client, and what must hold when it ends."""
    within = Path(os.environ["XDG_STATE_HOME"])
    with ModelServer(within, {STORY_TEXT: HELLO}) as server:
        yield ClientWorld(tmp_path, client, server)
        left = [*processes_with(str(tmp_path))]
        end_all(left)
        assert not left, f"processes were left: {left}"
        assert server.faulty == []
        assert server.elsewhere == []


STORY_TEXT = "Say hello"


def need(package: Package, config: pytest.Config) -> None:
    """Have it installed, or skip; where the checks must be whole, fail."""
    must = AS_STARTED.get("CI", "").lower() in ("true", "1")
    asked = must or "real_clients" in config.option.markexpr
    if not asked and not is_installed(package):
        pytest.skip(f"{package.program} {package.version} is not installed: {HOW}")
    if package.name not in _missing:
        try:
            ensure_installed(package)
        except NotInstalled as exc:
            _missing[package.name] = str(exc)
        else:
            return
    reason = f"could not be installed: {_missing[package.name]}"
    pytest.fail(reason) if must else pytest.skip(reason)
