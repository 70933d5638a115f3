"""Processes of a test's own, and the proof that none of them is left."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import qloop
from qloop.system import process
from qloop.system.identity import identify
from qloop.system.tree import Marks, end_tree

PATIENCE_S = 60.0


def until(condition: Callable[[], bool]) -> None:
    """Wait for something that is bound to come; give up where it obviously does not."""
    limit = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < limit, "it never came"
        time.sleep(0.01)


@dataclass
class Zoo:
    """Processes that a test starts in a folder, all with a mark in their environment."""

    folder: Path
    mark: str
    roots: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def env(self) -> dict[str, str]:
        """An environment that bears the mark."""
        name, _, value = self.mark.partition("=")
        return {**os.environ, name: value}

    @property
    def by_env(self) -> Marks:
        """The mark in the environment alone."""
        return Marks(env=(self.mark,))

    @property
    def by_folder(self) -> Marks:
        """The folder alone."""
        return Marks(folders=(self.folder,))

    def python(
        self, code: str, *args: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> int:
        """Start Python as a root in a session of its own; return its pid."""
        return self.start([sys.executable, "-c", code, *args], cwd=cwd, env=env)

    def start(
        self,
        argv: Sequence[str],
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> int:
        """Start a root in a session of its own; return its pid."""
        child = subprocess.Popen(
            argv,
            cwd=self.folder if cwd is None else cwd,
            env=self.env if env is None else env,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.roots.append(child)
        return child.pid

    def pid_in(self, name: str) -> int:
        """The pid that a process wrote into a file of the folder, once it is there."""
        path = self.folder / name
        until(lambda: path.exists() and path.read_text().endswith("\n"))
        return int(path.read_text())

    def script(self, code: str, *args: str) -> process.Completed:
        """Run Python code that imports qloop, in a process of its own, to its end."""
        env = {**self.env, "PYTHONPATH": str(Path(qloop.__file__).parents[1])}
        return process.run([sys.executable, "-P", "-c", code, *args], cwd=self.folder, env=env)


@pytest.fixture
def zoo(tmp_path: Path) -> Iterator[Zoo]:
    """A place for processes; the test fails when one of them is left at its end."""
    folder = tmp_path / "the zoo"
    folder.mkdir()
    made = Zoo(folder, f"ZOO_MARK={os.getpid()}-{time.monotonic_ns()}")
    yield made
    for child in made.roots:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    left = end_tree([], Marks(env=(made.mark,), folders=(folder,)), grace_s=0)

    assert not left


def is_running(pid: int) -> bool:
    """Whether the process with this pid runs, zombies aside."""
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def is_there(pid: int) -> bool:
    """Whether there is a process with this pid, be it a zombie."""
    return identify(pid) is not None
