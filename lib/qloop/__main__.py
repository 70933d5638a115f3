"""`python -m qloop` and the installed command: one door, loaded without looking for garbage."""

import gc
import sys

RARELY = 50_000
"""How many more objects there must be before garbage is looked for: a short command never does."""


def main() -> int:
    """Load the door and go through it; the exit code."""
    gc.disable()  # what is loaded stays, and looking through it again and again takes time
    from qloop.cli.main import main as door

    gc.freeze()
    gc.set_threshold(RARELY)
    gc.enable()
    return door()


if __name__ == "__main__":
    sys.exit(main())
