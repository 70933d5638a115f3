"""The door at which the agent that leads a wave hands in its wishes, and nobody else does.

A local socket: one line of JSON asks, one answers. Who asks must be the agent or have been started
by it; an implementer of the wave is neither.
"""

import json
import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qloop.system.errors import BadInput, QloopError, UsageWrong
from qloop.system.peers import is_below, peer_pid

VARIABLE = "QLOOP_COORDINATOR"
"""Where the agent, and what it starts, find the door."""
LONGEST_BYTES = 1_000_000

Answer = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(slots=True)
class Door:
    """The door of one wave."""

    path: Path
    answer: Answer
    """What a wish comes to. Raises QloopError."""
    agent: int | None = None
    """The agent's process, once it has been started."""

    def serve(self, server: socket.socket) -> None:
        """Answer one after the other, until the socket is closed."""
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection, suppress(OSError, ValueError):
                connection.settimeout(10.0)
                told = json.dumps(self._answer(connection)).encode()
                connection.sendall(told + b"\n")

    def _answer(self, connection: socket.socket) -> dict[str, Any]:
        line = _read_line(connection)  # in any case: what is left unread breaks the answer off
        try:
            if self.agent is None or not is_below(peer_pid(connection), self.agent):
                raise UsageWrong("only the agent that leads the wave may ask for that")
            return {"value": self.answer(json.loads(line))}
        except QloopError as exc:
            return {"error": exc.what, "where": exc.where, "fix": exc.fix, "code": exc.exit_code}


@contextmanager
def open_door(answer: Answer) -> Iterator[Door]:
    """A door for the length of a block."""
    # Not in TMPDIR: the path of a socket is short.
    folder = Path(tempfile.mkdtemp(prefix="qloop-", dir="/tmp"))  # mode 0700
    door = Door(folder / "door", answer)
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        server.bind(str(door.path))
        server.listen()
        threading.Thread(target=door.serve, args=(server,), name="door", daemon=True).start()
        yield door
    finally:
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        server.close()
        shutil.rmtree(folder, ignore_errors=True)


def find_door() -> Path | None:
    """The door of the wave that this process's agent leads; None where it leads none."""
    name = os.environ.get(VARIABLE)
    return Path(name) if name else None


def ask(door: Path, **wish: Any) -> dict[str, Any]:
    """Hand in a wish and return what came of it. Raises BadInput, UsageWrong."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.connect(str(door))
            connection.sendall(json.dumps(wish).encode() + b"\n")
            told = json.loads(_read_line(connection))
        except (OSError, ValueError) as exc:
            raise BadInput(
                f"the wave's coordinator cannot be reached from here: {exc}",
                where=str(door),
                fix="end here: its wave is over, or a sandbox bars local sockets",
            ) from exc
    if "error" in told:
        kind = UsageWrong if told["code"] == UsageWrong.exit_code else BadInput
        raise kind(told["error"], where=told["where"], fix=told["fix"])
    value: dict[str, Any] = told["value"]
    return value


def _read_line(connection: socket.socket) -> bytes:
    with connection.makefile("rb") as lines:
        return lines.readline(LONGEST_BYTES)
