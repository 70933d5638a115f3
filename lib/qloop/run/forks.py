"""The process that a run's coordinators are forked from, started before all else.

Loading what a coordinator needs takes longer than many a story; it is done once for a run, while
the driver itself loads. Where a process cannot be shown under other words than it was started with
there is none.
"""

import contextlib
import os
import secrets
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from qloop.system.forkserver import ForkFailed, ForkServer
from qloop.system.title import MAY_BE_RENAMED

SERVER = ("-P", "-m", "qloop.cli.forkserver")
ROOM = 4000
"""The longest command line, in bytes, that a fork can be shown under."""
DIGITS = 10
"""More than the number of a file descriptor has."""


@dataclass(slots=True)
class Forks:
    """A run's id, and the server that bears it as a mark."""

    run_id: str
    server: ForkServer | None

    def fork(self, words: Sequence[str], *, cwd: Path, descriptors: Sequence[int]) -> int | None:
        """The pid of a fork that goes by *words* and the number of its fourth descriptor.

        None where it has to be started anew.
        """
        if self.server is None or command_bytes(words) + DIGITS > ROOM:
            return None
        try:
            return self.server.fork(words, cwd=cwd, descriptors=descriptors)
        except ForkFailed:
            self.close()
            return None

    def close(self) -> None:
        """End the server."""
        if self.server is not None:
            self.server.close()
            self.server = None


@contextmanager
def begin_run(run_id: str | None = None) -> Iterator[Forks]:
    """A run's id, a new one unless it is given, and a server for it as long as it lasts."""
    run_id = run_id or new_run_id()
    forks = Forks(run_id, _start(run_id))
    try:
        yield forks
    finally:
        forks.close()


def new_run_id(begin: str = "r-") -> str:
    """Such as `r-20260102T030405Z-4f2a`."""
    return f"{begin}{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(2)}"


def own_environment() -> Mapping[str, str]:
    """qloop's own environment, in which this very package is imported; agents do not get it."""
    outer = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**outer, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}


def command_bytes(words: Sequence[str]) -> int:
    """The bytes that a command line takes, the end of each word included."""
    return sum(len(os.fsencode(word)) + 1 for word in words)


def _start(run_id: str) -> ForkServer | None:
    if not MAY_BE_RENAMED:
        return None
    begin = [sys.executable, *SERVER]
    argv = [*begin, " " * (ROOM - command_bytes(begin) - DIGITS)]
    env = {**own_environment(), "QLOOP_RUN": run_id}  # a later run ends what outlives this process
    with contextlib.suppress(OSError):
        return ForkServer.start(argv, cwd=Path.cwd(), env=env)
    return None
