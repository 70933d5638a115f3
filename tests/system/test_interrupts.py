"""Signals that ask a process to end, counted by whoever listens."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator

import pytest

from qloop.system.interrupts import HEARD, Interrupts


@pytest.fixture
def _handlers() -> Iterator[None]:
    """What the tests' own process does about such signals, put back."""
    before = {signum: signal.getsignal(signum) for signum in HEARD}
    yield
    for signum, handler in before.items():
        signal.signal(signum, handler)


@pytest.mark.usefixtures("_handlers")
def test_one_within_another_listens_until_it_is_closed() -> None:
    """Then the outer one hears again, and a selector that waits for it wakes."""
    outer = Interrupts()
    try:
        inner = Interrupts()
        os.kill(os.getpid(), signal.SIGTERM)
        heard = (outer.count, inner.count)
        inner.close()
        os.kill(os.getpid(), signal.SIGINT)

        assert heard == (0, 1)
        assert (outer.count, outer.last, outer.cancel.is_set) == (1, "SIGINT", True)
        assert os.read(outer.fileno(), 8)
    finally:
        outer.close()


def test_the_system_handles_them_again_once_nobody_listens() -> None:
    """A TERM then ends the process."""
    program = """
        import os, signal
        from qloop.system.interrupts import Interrupts
        Interrupts().close()
        os.kill(os.getpid(), signal.SIGTERM)
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=False)

    assert ended.returncode == -signal.SIGTERM
