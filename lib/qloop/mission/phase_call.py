"""Starting a phase coordinator and hearing it to its end.

It is a fresh process, in a session of its own: its order and then nothing more comes on its
standard input, whose end means that the mission is gone; activity and its event go to its
standard output. It inherits the mission's lock, so that whoever gets that knows it is gone.
"""

import os
import selectors
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from qloop.mission.phase_order import PhaseOrder
from qloop.run.forks import own_environment
from qloop.state.phase_events import PhaseEvent, conclude_phase, read_activity
from qloop.system import process
from qloop.system.clock import monotonic_s
from qloop.system.identity import ProcessId, identify, send_signal
from qloop.system.interrupts import Interrupts

LONGEST_LINE_BYTES = 1_000_000
MOST_LINES = 100
"""How many lines that are no activity are kept; one is due."""


@dataclass(slots=True)
class PhaseCall:
    """One phase coordinator."""

    order: PhaseOrder
    command: str | None
    """The program of a person's own that coordinates this phase."""
    lock: int
    log: Path
    """Where what it says beside goes."""
    say: Callable[[str], None]
    interrupts: Interrupts
    lines: list[str] = field(default_factory=list)
    _rest: bytes = b""
    _heard: int = 0

    def run(self, note_start: Callable[[ProcessId | None], None]) -> tuple[PhaseEvent, float]:
        """Its event, and the seconds that it took."""
        began = monotonic_s()
        order_in, held = os.pipe()
        out, told = os.pipe()
        self.log.parent.mkdir(parents=True, exist_ok=True)
        try:
            with self.log.open("ab") as errors:
                pid = process.start(
                    self._argv(),
                    cwd=Path.cwd(),
                    env=self._environment(),
                    stdin=order_in,
                    output=told,
                    errors=errors.fileno(),
                    pass_fds=(self.lock,),
                )
        finally:
            os.close(order_in)
            os.close(told)
        with (
            os.fdopen(out, "rb", buffering=0) as words,
            os.fdopen(held, "wb", buffering=0) as control,
        ):
            note_start(identify(pid))
            _hand_over(control.fileno(), self.order)
            self._listen(words.fileno(), pid)
        code = process.wait_status(pid)
        return conclude_phase(self.order.phase, self.lines, code), monotonic_s() - began

    def _argv(self) -> list[str]:
        if self.command is not None:
            return ["bash", "-c", self.command]
        words = ["phase", str(self.order.phase), "--intent", self.order.intent_dir]
        return [sys.executable, "-P", "-m", "qloop", *words]

    def _environment(self) -> dict[str, str]:
        own = {
            "QLOOP_PHASE": str(self.order.phase),
            "QLOOP_INTENT_DIR": self.order.intent_dir,
            "QLOOP_RUN": self.order.run_id,
        }
        return {**own_environment(), **own}

    def _listen(self, words: int, pid: int) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(words, selectors.EVENT_READ, "words")
            selector.register(self.interrupts, selectors.EVENT_READ, "interrupt")
            while True:
                for key, _ in selector.select():
                    if key.data == "interrupt":
                        self._pass_on(pid)
                    elif not self._hear(os.read(words, 65_536)):
                        return

    def _hear(self, data: bytes) -> bool:
        *whole, self._rest = (self._rest + data).split(b"\n")
        if not data:
            whole, self._rest = [self._rest], b""
        elif len(self._rest) > LONGEST_LINE_BYTES:
            whole, self._rest = [*whole, self._rest], b""
        for line in whole:
            self._take(line.decode("utf-8", "replace"))
        return bool(data)

    def _take(self, line: str) -> None:
        activity = read_activity(line)
        if activity is not None:
            self.say(activity)
        elif line.strip() and len(self.lines) < MOST_LINES:
            self.lines.append(line)

    def _pass_on(self, pid: int) -> None:
        """Hand on a person's wish to stop; the second one ends what runs at once."""
        self.interrupts.clear()
        found = identify(pid)
        for _ in range(self.interrupts.count - self._heard):
            if found is not None:
                send_signal(found, signal.SIGINT if self._heard == 0 else signal.SIGTERM)
            self._heard += 1


def _hand_over(control: int, order: PhaseOrder) -> None:
    """Write the order; a coordinator that reads none of it may do without."""
    data = (order.model_dump_json() + "\n").encode()
    try:
        while data:
            data = data[os.write(control, data) :]
    except BrokenPipeError:
        return
