"""A coordinator ahead of its wave: all imported, waiting for the words to go by.

The driver starts it. The first line of its standard input is a coordinator's command line, as a
JSON list; from then on it is that coordinator. The end of the input instead ends it, silently.
"""

import json
import sys

from qloop.cli import coordinating, run
from qloop.cli.main import main as door
from qloop.run import coordinator
from qloop.system.title import show_as

IMPORTED = (coordinating, coordinator, run)
"""What a coordinator needs."""


def main() -> int:
    """Wait, then be a coordinator; the exit code."""
    line = sys.stdin.readline()
    if not line:
        return 0
    words: list[str] = json.loads(line)
    show_as(words)
    return door(words[words.index("coordinator") :])


if __name__ == "__main__":
    sys.exit(main())
