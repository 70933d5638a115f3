"""The process that coordinators are forked from: all they need is loaded once for a run.

Its command line is a blank word, which gives the room for the words of what it forks, and the
number of its socket.
"""

import gc
import importlib
import sys

from qloop.system.forkserver import serve
from qloop.system.title import show_as

NEEDED = ("qloop.cli.coordinating", "qloop.cli.main", "qloop.cli.run", "qloop.run.coordinator")


def main() -> int:
    """Load, then fork as often as it is asked for; the exit code."""
    gc.disable()  # what is loaded stays, and looking through it again and again takes time
    for name in NEEDED:
        importlib.import_module(name)
    gc.freeze()  # so that a fork does not copy it by looking through it
    gc.enable()
    return serve(int(sys.argv[-1]), be_command)


def be_command(words: list[str], descriptors: list[int]) -> int:
    """Go by *words*, which lack the number of the pipe to report on: the first descriptor."""
    from qloop.cli.main import main as door

    words = [*words, str(descriptors[0])]
    show_as(words)
    return door(words[words.index("qloop") + 1 :])


if __name__ == "__main__":
    sys.exit(main())
