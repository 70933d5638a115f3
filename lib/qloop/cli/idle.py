"""A coordinator ahead of its wave: all imported, waiting for the words to go by.

The driver starts it. The first line of its standard input is a coordinator's command line, as a
JSON list; from then on it is that coordinator. The end of the input instead ends it, silently.
"""

import gc
import importlib
import json
import sys

from qloop.system.title import show_as

NEEDED = ("qloop.cli.coordinating", "qloop.cli.main", "qloop.cli.run", "qloop.run.coordinator")


def main() -> int:
    """Wait, then be a coordinator; the exit code."""
    gc.disable()  # what is loaded stays, and looking through it again and again takes time
    for name in NEEDED:
        importlib.import_module(name)
    gc.freeze()
    gc.enable()
    line = sys.stdin.readline()
    if not line:
        return 0
    words: list[str] = json.loads(line)
    show_as(words)

    from qloop.cli.main import main as door

    return door(words[words.index("coordinator") :])


if __name__ == "__main__":
    sys.exit(main())
