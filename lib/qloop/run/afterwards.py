"""What may as well be done when nobody waits any more: by one thread, one after the other."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field


@dataclass(slots=True)
class Afterwards:
    """Work put off by any thread, let go of and waited for by one."""

    _put_off: list[Callable[[], object]] = field(default_factory=list)
    _begun: list["Future[object]"] = field(default_factory=list)
    _thread: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="afterwards")
    )

    def put_off(self, work: Callable[[], object]) -> None:
        """Have *work* done later."""
        self._put_off.append(work)

    def let_go(self) -> None:
        """Begin with what was put off so far."""
        while self._put_off:
            self._begun.append(self._thread.submit(self._put_off.pop(0)))

    def finish(self) -> list[str]:
        """Do all that is left, wait for it, and tell what went wrong."""
        self.let_go()
        self._thread.shutdown()
        faults = (one.exception() for one in self._begun)
        return [str(fault) for fault in faults if fault is not None]
