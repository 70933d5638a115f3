"""A process that has loaded all that others need, and forks one whenever it is asked to.

What it forks is a child of the process that asked, which must be a subreaper: the server forks
twice, and the one in between is gone by then. It ends when the other end of its socket does.
Errors: OSError where no server can be started; ForkFailed where a server does not do its work.
Source: fork(2), prctl(2) PR_SET_CHILD_SUBREAPER, unix(7) SCM_RIGHTS.
"""

import contextlib
import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from qloop.system import process

LONGEST_REQUEST = 65536
MOST_DESCRIPTORS = 16
ANSWER_LIMIT_S = 30.0
"""How long the server may take to load all and answer, in seconds."""


class ForkFailed(Exception):
    """The server is gone, or did not answer."""


class ForkServer:
    """The server as the process sees it that started it."""

    def __init__(self, pid: int, end: socket.socket) -> None:
        self.pid = pid
        self._end = end

    @classmethod
    def start(cls, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> Self:
        """Start a server; its command line gets the number of its socket as the last word."""
        own, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        nothing = os.open(os.devnull, os.O_RDWR)
        try:
            pid = process.start(
                [*argv, str(far.fileno())],
                cwd=cwd,
                env=env,
                stdin=nothing,
                output=nothing,
                pass_fds=(far.fileno(),),
            )
        except BaseException:
            own.close()
            raise
        finally:
            far.close()
            os.close(nothing)
        own.settimeout(ANSWER_LIMIT_S)
        return cls(pid, own)

    def fork(self, words: Sequence[str], *, cwd: Path, descriptors: Sequence[int]) -> int:
        """Let a process be forked that goes by *words* in *cwd*; its pid.

        Of the *descriptors* it gets the first three as its standard ones, and the others too.
        Raises ForkFailed.
        """
        try:
            request = json.dumps({"words": list(words), "cwd": str(cwd)}).encode()
            socket.send_fds(self._end, [request], list(descriptors))
            answer = self._end.recv(LONGEST_REQUEST)
        except OSError as exc:
            raise ForkFailed(str(exc)) from exc
        if not answer.isdigit():
            raise ForkFailed(answer.decode("utf-8", "replace") or "it is gone")
        pid = int(answer)
        process.adopt(pid)
        return pid

    def close(self) -> None:
        """End the server, and wait until it is gone; what it forked goes on."""
        if self.pid:
            self._end.close()
            process.kill(self.pid)
            self.pid = 0


def serve(number: int, become: Callable[[list[str], list[int]], int]) -> int:
    """Fork for the process at the other end of socket *number* until that ends.

    In the fork *become* is called with the words and with the descriptors but for the standard
    ones; what it returns is the exit code.
    """
    with socket.socket(fileno=number) as end:
        while True:
            data, descriptors, _, _ = socket.recv_fds(end, LONGEST_REQUEST, MOST_DESCRIPTORS)
            if not data:
                return 0
            pid = _fork_twice(end, json.loads(data), descriptors, become)
            for descriptor in descriptors:
                os.close(descriptor)
            with contextlib.suppress(BrokenPipeError):
                end.send(str(pid).encode() if pid else b"could not fork")


def _fork_twice(
    end: socket.socket,
    request: dict[str, Any],
    descriptors: list[int],
    become: Callable[[list[str], list[int]], int],
) -> int | None:
    """The pid of the second child, once the first one is gone; None where that failed."""
    told, telling = os.pipe()
    between = os.fork()
    if between == 0:
        os.close(told)
        child = os.fork()
        if child == 0:
            os.close(telling)
            end.close()
            _be(request, descriptors, become)
        os.write(telling, str(child).encode())
        os._exit(0)
    os.close(telling)
    with os.fdopen(told, "rb") as answer:
        text = answer.read()
    os.waitpid(between, 0)
    return int(text) if text.isdigit() else None


def _be(
    request: dict[str, Any],
    descriptors: list[int],
    become: Callable[[list[str], list[int]], int],
) -> None:
    """Be the process that was asked for, and never come back."""
    code = 70
    try:
        os.setsid()
        os.chdir(request["cwd"])
        for standard, descriptor in enumerate(descriptors[:3]):
            os.dup2(descriptor, standard)
            os.close(descriptor)
        for descriptor in descriptors[3:]:
            os.set_inheritable(descriptor, False)
        signal.set_wakeup_fd(-1)
        code = become(request["words"], descriptors[3:])
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
