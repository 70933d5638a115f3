"""A project's own server, while something is tried on it."""

import sys
from pathlib import Path

import pytest

from qloop.run.gates import Room, run_gate
from qloop.run.serving import NotServed, room_of_visitor, served
from qloop.system.cancel import Cancel
from qloop.system.ports import leased_ports
from qloop.system.table import read_row
from qloop.system.tree import Marks
from qloop.system.web import fetch, find_server

SERVE = f"exec '{sys.executable}' -m http.server --bind 127.0.0.1 $QLOOP_PORT"


@pytest.fixture
def room(tmp_path: Path) -> Room:
    """A folder with a page in it."""
    tree, logs = tmp_path / "a tree", tmp_path / "logs"
    tree.mkdir()
    logs.mkdir()
    (tree / "index.html").write_text("tea", encoding="utf-8")
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
    return Room(tree, env, logs, Marks(folders=(tree,)), 60.0, 100_000, Cancel())


def test_it_answers_as_long_as_it_is_needed(room: Room) -> None:
    """Its visitors' left processes go with each visitor, the server with the block."""
    with leased_ports() as port:
        assert port is not None
        with served(room, SERVE, port, 60.0) as server:
            visitor = room_of_visitor(room, server)
            left = f"setsid '{sys.executable}' -c 'import time; time.sleep(600)' & echo $! > pid"
            result = run_gate(visitor, "visit", left)
            pid = int((room.cwd / "pid").read_text("utf-8"))
            answer = fetch(server, "/")
        gone = find_server(port)

    assert result.green
    row = read_row(pid)
    assert row is None or not row.living
    assert (answer.status, answer.body) == (200, b"tea")
    assert gone is None


@pytest.mark.parametrize(
    ("command", "limit_s", "words"),
    [
        (
            "echo no such app; exit 7",
            60.0,
            "ended with exit code 7 before it answered\nno such app",
        ),
        ("echo slow; sleep 600", 0.3, "nothing answered on port"),
    ],
)
def test_one_that_does_not_come_up_is_told_with_its_output(
    room: Room, command: str, limit_s: float, words: str
) -> None:
    """One that ends, and one that never answers."""
    with leased_ports() as port:
        assert port is not None
        up = served(room, command, port, limit_s)
        with pytest.raises(NotServed) as refused:
            up.__enter__()

    assert words in str(refused.value)
