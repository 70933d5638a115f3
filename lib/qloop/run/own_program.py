"""This very qloop as a command for an agent, whatever that agent's PATH and PYTHONPATH are."""

import shlex
import sys
from pathlib import Path

from qloop.run.forks import own_environment
from qloop.system.files import write_atomic


def own_words() -> str:
    """The words that start it, quoted for a shell."""
    library = own_environment()["PYTHONPATH"]
    return shlex.join(["env", f"PYTHONPATH={library}", sys.executable, "-P", "-m", "qloop"])


def write_program(place: Path) -> None:
    """Put the command at *place*; its folder is made where it is missing. Raises OSError."""
    write_atomic(place, f'#!/bin/sh\nexec {own_words()} "$@"\n'.encode())
    place.chmod(0o755)
