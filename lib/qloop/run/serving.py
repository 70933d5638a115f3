"""A project's own server, for as long as something is tried on it.

Errors: NotServed; GateCancelled where the run is told to stop while it is awaited.
"""

import math
import secrets
import select
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from qloop.run.gates import TAIL_BYTES, GateCancelled, Room
from qloop.system.cancel import Cancel
from qloop.system.clock import monotonic_s, render_duration
from qloop.system.logged import Ended, read_tail, run_logged
from qloop.system.tree import Marks
from qloop.system.web import Server, find_server

LOG = "serve.log"
LOOK_EVERY_S = 0.1
GRACE_S = 3.0


class NotServed(Exception):
    """The server did not come up."""


@contextmanager
def served(room: Room, command: str, port: int, ready_within_s: float) -> Iterator[Server]:
    """The server that *command* starts on *port*; its whole tree is gone in the end."""
    job = _Job(replace(room, env={**room.env, "QLOOP_PORT": str(port)}), command)
    job.thread.start()
    try:
        yield _await(job, port, ready_within_s)
    finally:
        job.cancel.set("no longer needed")
        job.thread.join()
        job.cancel.close()


def room_of_visitor(room: Room, server: Server) -> Room:
    """Where commands run that use the server: what they leave behind goes, the server stays.

    They are known by a mark of their own, since they work in its folder.
    """
    mark = secrets.token_hex(8)
    own = {"QLOOP_PORT": str(server.port), "QLOOP_URL": server.address, "QLOOP_VISIT": mark}
    return replace(room, env={**room.env, **own}, marks=Marks(env=(f"QLOOP_VISIT={mark}",)))


@dataclass(slots=True)
class _Job:
    """The command, run beside."""

    room: Room
    command: str
    cancel: Cancel = field(default_factory=Cancel)
    thread: threading.Thread = field(init=False)
    ended: Ended | None = None
    fault: BaseException | None = None

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self._run, name="served")

    def _run(self) -> None:
        room = self.room
        try:
            self.ended = run_logged(
                ["bash", "-c", self.command],
                cwd=room.cwd,
                env=room.env,
                stdin=b"",
                log=room.logs / LOG,
                log_bytes=room.log_bytes,
                timeout_s=math.inf,
                marks=room.marks,
                cancel=self.cancel,
                grace_s=GRACE_S,
            )
        except BaseException as exc:  # noqa: BLE001 -- told to whoever waits for the server
            self.fault = exc

    def how_it_ended(self) -> str:
        tail = read_tail(self.room.logs / LOG, TAIL_BYTES).strip()
        code = None if self.ended is None else self.ended.code
        how = f"ended with exit code {code}" if code is not None else f"ended: {self.fault}"
        return f"it {how} before it answered" + (f"\n{tail}" if tail else "")


def _await(job: _Job, port: int, ready_within_s: float) -> Server:
    deadline = monotonic_s() + ready_within_s
    while True:
        found = find_server(port)
        if found is not None:
            return found
        if not job.thread.is_alive():
            raise NotServed(job.how_it_ended())
        if monotonic_s() >= deadline:
            tail = read_tail(job.room.logs / LOG, TAIL_BYTES).strip()
            limit = render_duration(ready_within_s)
            raise NotServed(f"nothing answered on port {port} within {limit}\n{tail}".rstrip())
        if select.select([job.room.cancel.fileno()], [], [], LOOK_EVERY_S)[0]:
            raise GateCancelled
