"""Processes shown under other words than they were started with."""

import subprocess
import sys

import pytest

from qloop.system.title import MAY_BE_RENAMED

SCRIPT = """
import sys
from pathlib import Path
from qloop.system.title import show_as
shown = show_as(["qloop", "x" * int(sys.argv[1]), "7"])
sys.stdout.buffer.write(b"%d\\0" % shown + Path("/proc/self/cmdline").read_bytes())
"""

pytestmark = pytest.mark.skipif(not MAY_BE_RENAMED, reason="this system does not let it be done")


def shown(letters: int, room: int) -> list[str]:
    """What is shown of a process with so much room that wants to show so many letters."""
    argv = [sys.executable, "-c", SCRIPT, str(letters), " " * room]
    out = subprocess.run(argv, check=True, stdout=subprocess.PIPE).stdout
    return out.decode().split("\0")


def test_the_words_are_shown_and_nothing_beside_them() -> None:
    """The number at the end fills the room with zeros, and keeps its value."""
    done, *words, number, after = shown(3, 1000)

    assert done == "1"
    assert words == ["qloop", "xxx"]
    assert (int(number), after) == (7, "")


def test_words_without_room_are_not_shown() -> None:
    """The old ones stay as they were."""
    done, *words = shown(5000, 1)

    assert done == "0"
    assert words[:2] == [sys.executable, "-c"]
