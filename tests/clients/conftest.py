"""Fixtures for tests with real clients: installed where that is wanted, else skipped."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from client_install import (
    AS_STARTED,
    NotInstalled,
    Package,
    ensure_installed,
    is_installed,
    search_path,
)
from client_table import CLIENTS
from client_world import HELLO, Client, ClientWorld
from model_server import ModelServer
from qloop.repo.lookup import close_all
from world import end_all, left_behind

HOW = "`bin/test -m real_clients` installs it"
_missing: dict[str, str] = {}


@pytest.fixture(params=CLIENTS, ids=lambda client: client.name)
def client(request: pytest.FixtureRequest) -> Client:
    """Each client in its turn, installed."""
    made: Client = request.param
    need(made.package, request.config)
    return made if sandbox_works(made) else replace(made, full=True)


@pytest.fixture
def real(client: Client, tmp_path: Path) -> Iterator[ClientWorld]:
    """A repository, the client and its service; after the test no process of it may be left."""
    yield from running(client, tmp_path)


def running(client: Client, tmp_path: Path) -> Iterator[ClientWorld]:
    """A world for a client, and what must hold when it ends."""
    within = Path(os.environ["XDG_STATE_HOME"])
    with ModelServer(within, {STORY_TEXT: HELLO}) as server:
        yield ClientWorld(tmp_path, client, server)
        close_all()
        found = left_behind(str(tmp_path), os.environ["HOME"])
        left = {pid: command_line(pid) for pid in found}
        end_all([*left])
        assert left == {}
        assert server.faulty == []
        assert server.elsewhere == []


STORY_TEXT = "Say hello"


def command_line(pid: int) -> str:
    """What a process was started as."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").replace("\0", " ")
    return "gone by now"


def sandbox_works(client: Client) -> bool:
    """Whether it may be held to the least that it needs, on this machine."""
    if not client.sandbox:
        return True
    env = {**os.environ, "PATH": search_path(client.package)}
    return subprocess.run(client.sandbox, env=env, capture_output=True, check=False).returncode == 0


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
