"""What `qloop orchestrator` does: a whole feature, for the driver that started it."""

import sys

from qloop.run import control, orchestrator
from qloop.system.interrupts import Interrupts
from qloop.system.tree import become_subreaper


def orchestrate(reports: int) -> int:
    """Story after story, as the driver at the other end of the pipes hands them out."""
    become_subreaper()
    interrupts = Interrupts()
    orchestrator.serve(sys.stdin, control.report_stream(reports), interrupts.cancel)
    return 0
