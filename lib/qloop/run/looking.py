"""Looking at the person's repository while something else goes on, since it takes as long."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from qloop.repo.checkout import Repository
from qloop.repo.person import Snapshot, take_snapshot


@dataclass(slots=True)
class Lookout:
    """A thread that takes snapshots of one repository."""

    repository: Repository
    _thread: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="look")
    )

    def begin(self) -> Callable[[], Snapshot]:
        """Begin with a snapshot; what waits for it, and raises GitFailed as it would."""
        return self._thread.submit(take_snapshot, self.repository).result

    def close(self) -> None:
        """Let the thread go, once what it began with is done."""
        self._thread.shutdown()
