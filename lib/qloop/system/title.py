"""Showing a process under other words than it was started with.

The words are written over the old ones, where the kernel reads them. Source: proc(5),
/proc/pid/stat fields arg_start and arg_end.
"""

import ctypes
import os
import sys
from pathlib import Path

MAY_BE_RENAMED = sys.platform == "linux"
"""Whether this system lets a process do so."""

_ARG_START, _ARG_END = 45, 46  # counted from the field after the command's name


def show_as(words: list[str]) -> bool:
    """Let `ps` and others show *words*, the last of them a number, for this process.

    The number is written with as many leading zeros as it takes to fill the room that the old
    words had. False where the room is too small, or the system does not do it.
    """
    if not MAY_BE_RENAMED:
        return False
    fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
    start, end = int(fields[_ARG_START]), int(fields[_ARG_END])
    *others, number = map(os.fsencode, words)
    text = b"".join(word + b"\0" for word in others)
    digits = end - start - len(text) - 1
    if digits < len(number):
        return False
    text += number.zfill(digits) + b"\0"
    ctypes.memmove(start, text, len(text))
    return True
