"""The commit that a wave's attempts start from: the line's tip when the first of them asks.

Errors: LineLost, GitFailed.
"""

import threading
from dataclasses import dataclass, field

from qloop.repo.checkout import Repository
from qloop.repo.line import line_tip
from qloop.repo.starts import hold_start
from qloop.run.orders import WaveOrder


@dataclass(slots=True)
class WaveStart:
    """One start for all stories that are handed out together."""

    order: WaveOrder
    _commit: str | None = None
    _asking: threading.Lock = field(default_factory=threading.Lock)

    def held_in(self, repository: Repository) -> str:
        """The commit, held in the person's *repository* for each attempt of the wave."""
        with self._asking:
            if self._commit is None:
                commit = line_tip(repository, self.order.terms.place.branch)
                hold_start(repository, commit, *(one.attempt_id for one in self.order.dispatches))
                self._commit = commit
            return self._commit
