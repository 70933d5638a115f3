"""Questions and answers between processes through a folder, for who may use nothing but files.

Who asks lays a question into the folder, rings the bell (a named pipe), and waits at a named pipe
of its own. A question that nobody waits for any more is dropped; who asks again gets the answer
that holds then.
Units: seconds, bytes. Errors: MailboxClosed where nobody answers; OSError.
Source: fifo(7).
"""

import contextlib
import errno
import json
import os
import re
import secrets
import select
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from qloop.system.cancel import Cancel
from qloop.system.errors import QloopError
from qloop.system.files import write_atomic

Letter = dict[str, Any]

LARGEST_BYTES = 65_536
MOST_WAITING = 64
"""How many questions may wait at once; more are dropped."""

_BELL = "bell"
_NAME = re.compile(r"[0-9a-f]{32}")


class MailboxClosed(QloopError):
    """There is nobody at the other end."""


class Mailbox:
    """Answers what is asked in a folder, each question in a thread of its own, until `close`."""

    def __init__(self, folder: Path, answer: Callable[[Letter], Letter]) -> None:
        folder.mkdir(mode=0o700, parents=True)
        self._folder = folder
        self._answer = answer
        self._stop = Cancel()
        self._places = threading.Semaphore(MOST_WAITING)
        os.mkfifo(folder / _BELL, 0o600)
        # Open for writing as well, so that it never ends when the last who rang goes.
        self._bell = os.open(folder / _BELL, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._thread = threading.Thread(target=self._serve, name="mailbox", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answer nothing more that is asked from now on."""
        self._stop.set("closed")
        self._thread.join()
        self._stop.close()
        os.close(self._bell)

    def _serve(self) -> None:
        ends = select.poll()
        ends.register(self._bell, select.POLLIN)
        ends.register(self._stop, select.POLLIN)
        rest = b""
        while not self._stop.is_set:
            ends.poll()
            with contextlib.suppress(BlockingIOError):
                *names, rest = (rest + os.read(self._bell, LARGEST_BYTES)).split(b"\n")
                for name in names:
                    self._take(name.decode("ascii", "replace"))

    def _take(self, name: str) -> None:
        if _NAME.fullmatch(name) and self._places.acquire(blocking=False):
            threading.Thread(target=self._reply, args=(name,), name="letter", daemon=True).start()

    def _reply(self, name: str) -> None:
        try:
            with contextlib.suppress(OSError, ValueError):
                answer = self._answer(_read(self._folder / f"{name}.ask"))
                write_atomic(self._folder / f"{name}.answer", json.dumps(answer).encode())
                _ring(self._folder / f"{name}.{_BELL}", b"!")
        finally:
            self._places.release()


def ask(folder: Path, question: Letter, wait_s: float | None) -> Letter | None:
    """The answer to a question; None where none came in *wait_s* (None: wait for it).

    Raises MailboxClosed.
    """
    name = secrets.token_hex(16)
    with _own_bell(folder, name) as bell:
        (folder / f"{name}.ask").write_bytes(json.dumps(question).encode())
        try:
            _ring(folder / _BELL, f"{name}\n".encode())
        except OSError as exc:
            raise MailboxClosed("nobody answers here", where=str(folder)) from exc
        ends = select.poll()
        ends.register(bell, select.POLLIN)
        if not ends.poll(None if wait_s is None else wait_s * 1000):
            return None
        return _read(folder / f"{name}.answer")


@contextlib.contextmanager
def _own_bell(folder: Path, name: str) -> Iterator[int]:
    path = folder / f"{name}.{_BELL}"
    try:
        os.mkfifo(path, 0o600)
    except FileNotFoundError as exc:
        raise MailboxClosed("nobody answers here", where=str(folder)) from exc
    try:
        bell = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            yield bell
        finally:
            os.close(bell)
    finally:
        for kind in (_BELL, "ask", "answer"):
            (folder / f"{name}.{kind}").unlink(missing_ok=True)


def _ring(bell: Path, word: bytes) -> None:
    """Write into a named pipe that somebody reads; OSError where nobody does."""
    handle = os.open(bell, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        os.write(handle, word)
    finally:
        os.close(handle)


def _read(path: Path) -> Letter:
    """A letter; it may be anything that an agent put there. Raises OSError, ValueError."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        data = b""
        while block := os.read(handle, LARGEST_BYTES):
            data += block
            if len(data) > 16 * LARGEST_BYTES:
                raise OSError(errno.EFBIG, "a letter is too large", str(path))
    finally:
        os.close(handle)
    letter = json.loads(data)
    if not isinstance(letter, dict):
        raise ValueError("a letter is no JSON object")
    return letter
