"""What `qloop coordinator` does, one wave for a driver or by hand, and `qloop recognizer`."""

import os
import sys
from pathlib import Path

from qloop.cli.context import resolve_quantum
from qloop.repo.checkout import find_repository
from qloop.run import control, coordinator, recognizer
from qloop.run.orders import WaveOrder
from qloop.run.recognition import RecognizeOrder
from qloop.run.wave_signal import say
from qloop.system.interrupts import Interrupts
from qloop.system.tree import become_subreaper
from qloop.ui import console

STANDARD_OUTPUT = 1
NO_ORDER = 130
"""The exit code where the driver was gone before it had said what to do."""


def coordinate(
    wave_id: str,
    stories: tuple[str, ...],
    quantum: Path | None,
    prd: Path | None,
    reports: int | None,
) -> int:
    """One wave: for the driver at the other end of the pipes, or by hand without one."""
    become_subreaper()
    interrupts = Interrupts()
    if reports is not None:
        stream = control.report_stream(reports)
        line = control.read_order(sys.stdin)
        if line is None:
            return NO_ORDER
        order = WaveOrder.model_validate_json(line)
        signal = coordinator.serve(order, sys.stdin, stream, interrupts.cancel)
        return say(signal, _say)

    from qloop.run.standalone import run_wave

    repository = find_repository(Path.cwd())
    state_file = resolve_quantum(repository.root, quantum)
    signal = run_wave(repository, state_file, prd, wave_id, stories, interrupts.cancel, console.say)
    return say(signal, _say)


def recognize(reports: int) -> int:
    """Look at what has landed, for the driver at the other end of the pipes."""
    become_subreaper()
    interrupts = Interrupts()
    stream = control.report_stream(reports)
    line = control.read_order(sys.stdin)
    if line is None:
        return NO_ORDER
    order = RecognizeOrder.model_validate_json(line)
    recognizer.serve(order, sys.stdin, stream, interrupts.cancel)
    return 0


def _say(text: str) -> None:
    os.write(STANDARD_OUTPUT, text.encode())
