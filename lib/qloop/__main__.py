"""`python -m qloop` and the installed command: one door, loaded without looking for garbage."""

import gc
import sys


def main() -> int:
    """Load the door and go through it; the exit code."""
    gc.disable()  # what is loaded stays, and looking through it again and again takes time
    from qloop.cli.main import main as door

    gc.freeze()
    gc.enable()
    return door()


if __name__ == "__main__":
    sys.exit(main())
