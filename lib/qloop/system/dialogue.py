"""A command that stays and answers: one process for many questions, instead of one for each.

It ends when its input does, so that it never outlives this process. Units: seconds.
Errors: DialogueEnded when it is gone or does not answer in time; it is ended then. OSError when it
cannot be started.
Source: pipe(7).
"""

import contextlib
import os
import select
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn, Self

from qloop.system import process
from qloop.system.clock import monotonic_s

_READ_BYTES = 65536


class DialogueEnded(Exception):
    """The command is gone, or was ended since it did not answer."""


class Dialogue:
    """One such command. Not for several threads at once."""

    def __init__(self, pid: int, questions: int, answers: int, timeout_s: float) -> None:
        self._pid = pid
        self._questions = questions
        self._answers = answers
        self._timeout_s = timeout_s
        self._rest = b""
        self._owner = os.getpid()

    @classmethod
    def start(
        cls, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout_s: float
    ) -> Self:
        """Start a command; *timeout_s* is the longest that it may take for an answer."""
        asked, questions = os.pipe()
        answers, answered = os.pipe()
        errors = os.open(os.devnull, os.O_WRONLY)
        try:
            pid = process.start(argv, cwd=cwd, env=env, stdin=asked, output=answered, errors=errors)
        except BaseException:
            os.close(questions)
            os.close(answers)
            raise
        finally:
            for descriptor in (asked, answered, errors):
                os.close(descriptor)
        return cls(pid, questions, answers, timeout_s)

    def ask(self, question: bytes) -> None:
        """Write a question. It must be shorter than a pipe holds, or its answer be read soon."""
        try:
            while question:
                question = question[os.write(self._questions, question) :]
        except OSError as exc:
            self._break_off(exc)

    def read_line(self) -> bytes:
        """The next line of the answer, without its end."""
        while b"\n" not in self._rest:
            self._fill()
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def read_exactly(self, count: int) -> bytes:
        """The next *count* bytes of the answer."""
        while len(self._rest) < count:
            self._fill()
        data, self._rest = self._rest[:count], self._rest[count:]
        return data

    def close(self) -> None:
        """End the command, and wait until it is gone."""
        if self._questions < 0:
            return
        os.close(self._questions)
        os.close(self._answers)
        self._questions = self._answers = -1
        if self._owner != os.getpid():
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        with contextlib.suppress(process.StatusLost):
            process.wait_status(self._pid)

    def _fill(self) -> None:
        deadline = monotonic_s() + self._timeout_s
        try:
            ends = select.poll()
            ends.register(self._answers, select.POLLIN)
            left_ms = max(0.0, deadline - monotonic_s()) * 1000
            data = os.read(self._answers, _READ_BYTES) if ends.poll(left_ms) else b""
        except OSError as exc:
            self._break_off(exc)
        if not data:
            self._break_off(None)
        self._rest += data

    def _break_off(self, cause: OSError | None) -> NoReturn:
        self.close()
        raise DialogueEnded from cause
