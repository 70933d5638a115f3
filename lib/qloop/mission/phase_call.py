"""Starting a phase coordinator and hearing it to its end.

It is a fresh process, in a session of its own: its order and then nothing more comes on its
standard input, whose end means that the mission is gone; activity and its event go to its
standard output. It inherits the mission's lock, so that whoever gets that knows it is gone.
It is over when its process is, whoever else may hold its output open.
"""

import contextlib
import os
import selectors
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from qloop.mission.phase_order import PhaseOrder
from qloop.run.forks import own_environment
from qloop.state.phase_events import PhaseEvent, conclude_phase, read_activity
from qloop.system import process
from qloop.system.clock import monotonic_s
from qloop.system.identity import ProcessId, identify
from qloop.system.interrupts import Interrupts

LONGEST_LINE_BYTES = 1_000_000
MOST_LINES = 100
"""How many lines that are no activity are kept; one is due."""
CHUNK_BYTES = 65_536
REST_CHUNKS = 64
GRACE_S = 10.0
"""How long a coordinator may live that has closed its output."""
STOP_GRACE_S = 30.0
"""How long one may take to end what it runs."""
LOOK_EVERY_S = 0.1


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
    end_left: Callable[[int], None]
    """Ends what a coordinator leaves behind, given its pid, before that is reaped."""
    lines: list[str] = field(default_factory=list)
    _unsaid: bytes = b""
    """What of the order is still to be handed over."""
    _rest: bytes = b""
    _heard: int = 0
    _deadline_s: float | None = None
    """When it is ended by force, on the monotonic clock."""

    def run(self, note_start: Callable[[ProcessId | None], None]) -> tuple[PhaseEvent, float]:
        """Its event, and the seconds that it took."""
        began = monotonic_s()
        order_in, control = os.pipe()
        words, told = os.pipe()
        try:
            pid = self._start(order_in, told)
        except BaseException:
            os.close(control)
            os.close(words)
            raise
        finally:
            os.close(order_in)
            os.close(told)
        try:
            note_start(identify(pid))
            self._unsaid = (self.order.model_dump_json() + "\n").encode()
            self._attend(pid, control, words)
        finally:
            os.close(control)
            os.close(words)
            self.end_left(pid)
            code = process.wait_status(pid)
        return conclude_phase(self.order.phase, self.lines, code), monotonic_s() - began

    def _start(self, order_in: int, told: int) -> int:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as errors:
            return process.start(
                self._argv(),
                cwd=Path.cwd(),
                env=self._environment(),
                stdin=order_in,
                output=told,
                errors=errors.fileno(),
                pass_fds=(self.lock,),
            )

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

    def _attend(self, pid: int, control: int, words: int) -> None:
        """Hand over the order, hear what is said, until the process is no more."""
        os.set_blocking(control, False)
        os.set_blocking(words, False)
        with selectors.DefaultSelector() as selector, _ending(pid) as end:
            selector.register(control, selectors.EVENT_WRITE, "control")
            selector.register(words, selectors.EVENT_READ, "words")
            selector.register(self.interrupts, selectors.EVENT_READ, "interrupt")
            if end is not None:
                selector.register(end, selectors.EVENT_READ, "end")
            while not process.await_exit(pid, timeout_s=0):
                for key, _ in selector.select(self._patience_s(is_told=end is not None)):
                    if key.data == "interrupt":
                        self._pass_on(pid)
                    elif key.data == "control" and not self._hand_over(control):
                        selector.unregister(control)
                    elif key.data == "words" and not self._hear(words):
                        selector.unregister(words)
                        self._end_by(GRACE_S)
                if self._deadline_s is not None and monotonic_s() >= self._deadline_s:
                    return
        self._hear_rest(words)

    def _patience_s(self, *, is_told: bool) -> float | None:
        """How long to wait for something to happen; *is_told*: also its end is told."""
        left = None if self._deadline_s is None else max(0.0, self._deadline_s - monotonic_s())
        return left if is_told else min(LOOK_EVERY_S, LOOK_EVERY_S if left is None else left)

    def _end_by(self, grace_s: float) -> None:
        deadline = monotonic_s() + grace_s
        self._deadline_s = min(deadline, self._deadline_s or deadline)

    def _hand_over(self, control: int) -> bool:
        """Go on with the order; False when it is through, or nobody reads it."""
        try:
            self._unsaid = self._unsaid[os.write(control, self._unsaid) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:
            return False
        return bool(self._unsaid)

    def _hear(self, words: int) -> bool:
        """Take what was said; False at the end of it."""
        try:
            data = os.read(words, CHUNK_BYTES)
        except BlockingIOError:
            return True
        self._take_data(data)
        return bool(data)

    def _hear_rest(self, words: int) -> None:
        """What a process that is gone had said; what it left behind may go on for ever."""
        with contextlib.suppress(BlockingIOError):
            for _ in range(REST_CHUNKS):
                if not (data := os.read(words, CHUNK_BYTES)):
                    break
                self._take_data(data)
        self._take_data(b"")

    def _take_data(self, data: bytes) -> None:
        *whole, self._rest = (self._rest + data).split(b"\n")
        if not data:
            whole, self._rest = [self._rest], b""
        elif len(self._rest) > LONGEST_LINE_BYTES:
            whole, self._rest = [*whole, self._rest], b""
        for line in whole:
            self._take(line.decode("utf-8", "replace"))

    def _take(self, line: str) -> None:
        activity = read_activity(line)
        if activity is not None:
            self.say(activity)
        elif line.strip() and len(self.lines) < MOST_LINES:
            self.lines.append(line)

    def _pass_on(self, pid: int) -> None:
        """Hand on a person's wish to stop; the second one ends what runs, the third by force."""
        self.interrupts.clear()
        for _ in range(self.interrupts.count - self._heard):
            self._signal(pid, signal.SIGINT if self._heard == 0 else signal.SIGTERM)
            self._heard += 1
            if self._heard > 1:
                self._end_by(STOP_GRACE_S if self._heard == 2 else 0.0)

    def _signal(self, pid: int, signum: signal.Signals) -> None:
        """To the coordinator; of a person's own program all get it, as from a terminal."""
        process.send_signal(pid, signum, to_group=self.command is not None)


@contextlib.contextmanager
def _ending(pid: int) -> Iterator[int | None]:
    """A file descriptor that is readable once a child has ended; None where there is none."""
    try:
        end = process.open_pidfd(pid)
    except ProcessLookupError:
        end = None
    try:
        yield end
    finally:
        if end is not None:
            os.close(end)
