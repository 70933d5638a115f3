"""Asking a member of an intent's team: what keeps it from answering stops the hand-off.

A usage limit is waited for, and so is a service that is away, a few times; all else is for a
person, who says how to go on. Errors: MemberErred; those of making a checkout; KeyboardInterrupt
where the wait is ended.
"""

import random
from collections.abc import Callable
from enum import StrEnum
from typing import TypeVar

from qloop.mission.asking import Judged
from qloop.mission.flow import ABANDON, asking
from qloop.mission.phase_desk import PhaseDesk
from qloop.run.pauses import UNCHARGED, Pauses
from qloop.run.readers import LimitReached, Reader, ReaderFailed, ServiceAway, find_readers
from qloop.state.journal import EventKind
from qloop.state.phase_events import Option, PhaseCheckpoint
from qloop.system.cancel import wait_until
from qloop.system.clock import epoch_s
from qloop.system.errors import (
    BadInput,
    Faults,
    PersonNeeded,
    QloopError,
    RunnerUnavailable,
)

Made = TypeVar("Made")
ERRED = "member"
"""The kind of the question how to go on, and under which its context names the member."""
AGAIN = Option(id="retry", description="have the member try again, once what kept it is mended")
WITHOUT = Option(id="without", description="go on without an agent for this member: by code alone")
WAYS_OUT = (AGAIN, WITHOUT, ABANDON)


class Course(StrEnum):
    """What follows where a member's call came to no answer."""

    WAIT = "wait"
    """Its runner pauses; then it is asked again."""
    ASK = "ask"
    """The member failed, and a person says how to go on."""
    FAIL = "fail"
    """It is nothing of the member's: the phase itself cannot go on."""


class MemberErred(QloopError):
    """A member of the team hands nothing on, for a reason that a person has to hear."""

    def __init__(self, role: str, reason: str) -> None:
        super().__init__(reason)
        self.role = role


def course_of(error: BaseException, tries: int) -> Course:
    """What follows an error of a member's call; *tries* of a service that is away. Pure."""
    match error:
        case LimitReached():
            return Course.WAIT
        case ServiceAway() if tries <= UNCHARGED:
            return Course.WAIT
        case ReaderFailed() | RunnerUnavailable() | PersonNeeded() | BadInput() | OSError():
            return Course.ASK
        case _:
            return Course.FAIL


def is_without(desk: PhaseDesk, role: str) -> bool:
    """Whether a person has answered that a member's part is to be done by code."""
    response, context = desk.order.user_response, desk.order.checkpoint_context or {}
    return response is not None and response.option == WITHOUT.id and context.get(ERRED) == role


def question_of(desk: PhaseDesk, erred: MemberErred) -> PhaseCheckpoint:
    """The question how to go on without what a member owes."""
    question = asking(f"The {erred.role} hands nothing on: {erred}.", "How to go on?")
    return desk.ask(ERRED, question, WAYS_OUT, **{ERRED: erred.role})


def ask_member(
    desk: PhaseDesk, role: str, put: Callable[[tuple[Reader, ...]], Made], asked: str = ""
) -> Judged[Made]:
    """What *put* gets of those who are asked in a member's role, or in that of *asked*."""
    pauses = Pauses()
    tries = 1
    while True:
        try:
            readers = find_readers(asked or role, desk.config, desk.repository.root)
            if not readers:
                return Judged(
                    None, f"no agent is set for the {role} ([roles.{role}] in qloop.toml)"
                )
            return Judged(put(readers), readers[0].label)
        except (QloopError, OSError) as exc:
            course = course_of(exc, tries)
            if course is Course.FAIL:
                raise
            if course is Course.ASK or not isinstance(exc, LimitReached | ServiceAway):
                raise MemberErred(role, _told(exc)) from exc
            tries += isinstance(exc, ServiceAway)
            pauses = _pause(desk, pauses, exc)


def _pause(desk: PhaseDesk, pauses: Pauses, error: LimitReached | ServiceAway) -> Pauses:
    """Wait as long as its runner pauses; the journal tells that, as it does in a run."""
    runner = error.hindered.runner
    paused = pauses.hindered(error.hindered, epoch_s(), random.random())
    pause = paused.by_runner[runner]
    until_s = pause.until_s or epoch_s()
    desk.journal.append(EventKind.RUNNER_PAUSED, **pause.to_json())
    desk.tell(f"{error.what}; waits until {pause.until}")
    if not wait_until(desk.cancel, until_s):
        raise KeyboardInterrupt
    desk.journal.append(EventKind.RUNNER_RESUMED, runner=runner)
    return paused.ended(until_s)[0]


def _told(error: Exception) -> str:
    faults = error.faults if isinstance(error, Faults) else ()
    return "\n".join((str(error), *faults))
