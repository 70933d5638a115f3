"""One question to an agent that only reads, of whatever role, at a commit.

Errors: those of the talk, and of making its checkout.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from qloop.agents.prompt import render_role
from qloop.run.readers import Reader
from qloop.run.reading_desk import ReadingDesk, ReadingPlace, reading_desk
from qloop.run.talk import Question, Say, Talk, Thread
from qloop.system.cancel import Cancel

Made = TypeVar("Made")
WALK = "walk"
"""Whose folder of logs one has who is asked in several roles."""
JUDGES_CORRECTIONS = 1
"""How often one is corrected whose judgement can be done without."""


def ask(
    place: ReadingPlace,
    question: Question[Made],
    readers: tuple[Reader, ...],
    say: Say,
    cancel: Cancel,
) -> Made:
    """What the first of *readers* who can work answers; there is one at least.

    Prompts and output lie in a folder of the question's own below the place's `logs`.
    """
    own = replace(place, logs=_own_folder(place.logs, question.role))
    with reading_desk(own, question.role, readers[0].runner, cancel) as desk:
        return Talk(desk, question, list(readers), place.config.timeout, say).find_out()


@dataclass(slots=True)
class Walk:
    """One agent that is asked question after question: in one checkout, and in one session where
    its runner can go on with it."""

    cancel: Cancel
    undo: ExitStack
    """What ends with it."""
    thread: Thread = field(default_factory=lambda: Thread(goes_on=True))
    _desk: ReadingDesk | None = None

    def ask(
        self,
        place: ReadingPlace,
        question: Question[Made],
        readers: tuple[Reader, ...],
        say: Say,
    ) -> Made:
        """What it answers; the place of the first question is that of all."""
        if self._desk is None:
            own = replace(place, logs=_own_folder(place.logs, WALK))
            runner = readers[0].runner
            desk = reading_desk(own, question.role, runner, self.cancel)
            self._desk = self.undo.enter_context(desk)
        timeout_s = place.config.timeout
        talk = Talk(self._desk, question, list(readers), timeout_s, say, self.thread)
        return talk.find_out()


def role_question(
    role: str, task: str, key: str, values: Mapping[str, str], read: Callable[[str], Made]
) -> Question[Made]:
    """The question of a role file whose places are *values* and `${previous}`."""
    return Question(
        role=role,
        task=task,
        key=key,
        render=lambda previous: render_role(role, {**values, "previous": previous}),
        read=read,
        corrections=JUDGES_CORRECTIONS,
    )


def _own_folder(logs: Path, role: str) -> Path:
    """A folder that no other question has: `scout-1`, `scout-2`, …"""
    number = 1
    while True:
        folder = logs / f"{role}-{number}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            number += 1
        else:
            return folder
