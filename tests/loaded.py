"""qloop as processes that need not load qloop: they are forked from one that has loaded all of it.

Loading takes longer than most of what a run in the tests does, and is done once for each worker.
A fork has a session, a folder, an environment and streams of its own, and goes through the door
that a start from a shell goes through; what it starts in its turn is started anew. It differs in
what /proc tells of its words and environment, in what a Python settles as it starts (`fits`), and
in that it is not taken down at its end. Tests that send signals, or look for the process, start it.
"""

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

LAZY = ("difflib", "git", "orjson", "platformdirs", "rich.table", "rich.text", "tempfile")
"""What qloop imports at the moment it needs it."""
SETTLED = ("LANG", "LC_", "PYTHON", "TZ")
"""How variables begin that a Python looks at as it starts."""
LONGEST_REQUEST = 200_000


class Loaded:
    """The process that commands are forked from, as tests see it."""

    def __init__(self) -> None:
        self._settled = _settled(os.environ)
        self._lock = threading.Lock()
        self._start()

    def _start(self) -> None:
        self._end, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with far:
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__, str(far.fileno())],
                env={"PATH": os.environ["PATH"], **self._settled},
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,  # whoever reads a pipe gets buffered text
                stderr=subprocess.STDOUT,
                pass_fds=[far.fileno()],
                start_new_session=True,
            )

    def fits(self, env: Mapping[str, str]) -> bool:
        """Whether a Python that starts in this environment is one like the forks."""
        return _settled(env) == self._settled

    def run(
        self, words: Sequence[str], cwd: Path, env: Mapping[str, str], patience_s: float
    ) -> tuple[int, str, str]:
        """Go by *words* to the end: the exit code (minus a signal's number) and what was put out.

        Raises TimeoutExpired when that takes longer than *patience_s*.
        """
        request = json.dumps({"words": list(words), "cwd": str(cwd), "env": dict(env)}).encode()
        readers = [_Reader() for _ in range(3)]
        with self._lock:
            if self._process.poll() is not None:  # a test may end all children of its process
                self.close()
                self._start()
            socket.send_fds(self._end, [request], [reader.far for reader in readers])
            pid = int(self._end.recv(LONGEST_REQUEST))
        for reader in readers:
            os.close(reader.far)
            reader.start()
        for reader in readers:
            reader.join(patience_s)
            if reader.is_alive():
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(["qloop", *words], patience_s)
        out, err, code = (reader.text for reader in readers)
        return int(code), out, err

    def close(self) -> None:
        """End it."""
        self._end.close()
        self._process.communicate()


class _Reader(threading.Thread):
    """Reads a pipe to its end, as text."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        own, self.far = os.pipe()
        self._file = os.fdopen(own)
        self.text = ""

    def run(self) -> None:
        with self._file:
            self.text = self._file.read()


def _settled(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(SETTLED)}


def main() -> None:
    """Load all, then fork for the process at the other end of the socket until that is gone."""
    from qloop.__main__ import main as door

    _load()
    with socket.socket(fileno=int(sys.argv[1])) as end:
        while True:
            data, descriptors, _, _ = socket.recv_fds(end, LONGEST_REQUEST, 3)
            if not data:
                return
            if os.fork() == 0:
                break
            for descriptor in descriptors:
                os.close(descriptor)
            _forget_ended()
        _watch_own_fork(end, descriptors)
    _be(json.loads(data), descriptors)
    _end(door())


def _load() -> None:
    import qloop

    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "1"  # as the door does before it loads more
    gc.disable()
    for name in LAZY:
        importlib.import_module(name)
    for found in pkgutil.walk_packages(qloop.__path__, "qloop."):
        importlib.import_module(found.name)
    gc.freeze()  # so that no fork copies it by looking through it
    gc.enable()


def _forget_ended() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass


def _watch_own_fork(end: socket.socket, descriptors: list[int]) -> None:
    """Fork, and come back as the fork; tell of its pid at once, and of its end."""
    child = os.fork()
    if child == 0:
        return
    end.send(str(child).encode())
    out, err, ends = descriptors
    os.close(out)
    os.close(err)
    status = os.waitpid(child, 0)[1]
    os.write(ends, str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _be(request: dict[str, Any], descriptors: list[int]) -> None:
    """Take the place of a process that was started as is asked for."""
    os.setsid()
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    out, err, ends = descriptors
    os.dup2(out, 1)
    os.dup2(err, 2)
    for descriptor in (out, err, ends):
        os.close(descriptor)
    sys.argv[1:] = request["words"]


def _end(code: int) -> NoReturn:
    """End at once: taking down all that is loaded would copy it first."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
