"""A long-lived child process of qloop's own, whose exit status is read exactly once.

Source: subprocess, waitid(2), pidfd_open(2). Errors: OSError where it cannot be started.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from qloop.system.process import StatusLost, wait_status


@dataclass(slots=True)
class Child:
    """A started process; `fileno` becomes readable when it ends."""

    pid: int
    _popen: subprocess.Popen[bytes] = field(repr=False)
    _descriptor: int = field(default=-1, repr=False)

    def fileno(self) -> int:
        """The process's pidfd, for a selector."""
        return self._descriptor

    def wait(self) -> int | None:
        """Wait for its end: exit code, negative for a signal, None where it was lost."""
        try:
            code: int | None = wait_status(self.pid)
        except StatusLost:
            code = None
        self._popen.returncode = code if code is not None else -1
        os.close(self._descriptor)
        return code


def start_child(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: int,
    out: Path,
    err: Path,
    pass_fds: Sequence[int],
) -> Child:
    """Start a process in a session of its own, its output in files, *pass_fds* handed on."""
    with out.open("ab") as out_file, err.open("ab") as err_file:
        popen = subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=stdin,
            stdout=out_file,
            stderr=err_file,
            pass_fds=pass_fds,
            start_new_session=True,
        )
    return Child(popen.pid, popen, os.pidfd_open(popen.pid))
