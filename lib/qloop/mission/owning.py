"""Owning an intent for as long as a process works on it: the lock, and a sign of life now and then.

The sign comes from the process itself, however long it reads or waits without writing anything.
"""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread

from qloop.state.delivery_lock import (
    TTL_S,
    Activity,
    DeliveryLock,
    Maker,
    add_delegate,
    beat,
    claim,
    end_delegate,
    make_lock,
    release,
)
from qloop.state.lifecycle import Stage
from qloop.state.phase_events import PhaseEvent, PhaseFailure
from qloop.state.phases import PhaseName
from qloop.state.savepoints import STARTED, add_savepoint

BEAT_S = TTL_S / 6
STAGES = {
    PhaseName.RECON: Stage.WHY,
    PhaseName.PLANNING: Stage.HOW,
    PhaseName.EXECUTION: Stage.EXEC,
    PhaseName.REFINEMENT: Stage.EXEC,
}
"""The stage that a phase works in."""


def stage_of(phase: PhaseName, *, is_team: bool) -> Stage:
    """The stage that a phase begins in: a gated team still thinks over and specifies first."""
    return Stage.WHY if is_team and phase is PhaseName.PLANNING else STAGES[phase]


@contextlib.contextmanager
def owning(
    folder: Path, session: str, *, is_auto: bool, beat_s: float = BEAT_S
) -> Iterator[DeliveryLock]:
    """Be the intent's only owner within the block.

    Raises RepositoryBusy where somebody else is, and lives.
    """
    lock = claim(folder, make_lock(session, is_process=True, is_auto=is_auto))
    over = Event()
    heart = Thread(target=_keep_beating, args=(folder, session, over, beat_s), daemon=True)
    heart.start()
    try:
        yield lock
    finally:
        over.set()
        heart.join()
        release(folder, session)


@contextlib.contextmanager
def delegated(
    folder: Path, owner: str, session: str, phase: PhaseName, stage: Stage
) -> Iterator[Callable[[PhaseEvent], None]]:
    """Have a phase's coordinator known as a delegate of the intent's owner within the block.

    It failed unless the block says by which event it ended.
    """
    add_savepoint(folder, stage, STARTED)
    add_delegate(folder, owner, session, Maker(agent=phase.lower()))
    told = [Activity.FAILED]

    def end(event: PhaseEvent) -> None:
        told[0] = Activity.FAILED if isinstance(event, PhaseFailure) else Activity.FINISHED

    try:
        yield end
    finally:
        end_delegate(folder, owner, session, told[0])


def _keep_beating(folder: Path, session: str, over: Event, beat_s: float) -> None:
    while not over.wait(beat_s):
        with contextlib.suppress(OSError):  # a full disk ends no work
            if not beat(folder, session):
                return
