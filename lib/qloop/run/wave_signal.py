"""The one signal that a wave's process says, and the exit code that goes with it."""

from collections.abc import Callable
from typing import Any

from qloop.agents.signals import render_signal

EXIT_CODES = {"WAVE_PASSED": 0, "WAVE_FAILED": 1, "BLOCKED": 3}


def say(signal: str, out: Callable[[str], Any]) -> int:
    """Say the wave's one signal and return the exit code that goes with it."""
    out(render_signal(signal) + "\n")
    return EXIT_CODES[signal]
