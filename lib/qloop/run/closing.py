"""Closing a run: the feature branch follows, the scratch goes, the end is written down."""

from dataclasses import replace
from pathlib import Path

from qloop.repo.finish import finish
from qloop.repo.landing import landing_lock
from qloop.repo.pool import drain
from qloop.run import holder
from qloop.run.ending import Ending
from qloop.run.opening import Opened
from qloop.run.proving import LANDINGS, Prover
from qloop.run.recognizer import ROOM
from qloop.state.journal import EventKind
from qloop.system.cancel import Cancel
from qloop.system.errors import QloopError


def close_run(opened: Opened, ending: Ending) -> Ending:
    """Bring the feature branch up to the line, clear up, and journal the end."""
    for room in (LANDINGS, ROOM):
        Prover(opened.repository, opened.terms, Cancel(), room=room).discard()
    drain(Path(opened.terms.place.base))
    ended = replace(ending, reasons=(*ending.reasons, *_follow(opened)))
    opened.journal.append(
        EventKind.RUN_ENDED,
        signal=ended.signal,
        exit_code=ended.exit_code,
        reasons=[*([str(ended.error)] if ended.error else []), *ended.reasons],
    )
    holder.write_holder(opened.private, opened.terms.run_id, opened.wanted.mode, ended=True)
    return ended


def _follow(opened: Opened) -> list[str]:
    """Move a feature branch that a checkout holds; what git refuses is said, not forced."""

    def intend(text: str) -> None:
        told = f"bringing the checkout of the feature branch up: {text}"
        opened.journal.append(EventKind.STATE_REPAIRED, text=told)

    try:
        with landing_lock(opened.repository):
            done = finish(opened.repository, opened.terms.place.branch, journal_intent=intend)
    except QloopError as exc:
        return [str(exc)]
    return [done.message] if done.message else []
