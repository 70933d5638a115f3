"""Asking an agent to judge, in a phase: what it adds to what code has found out.

Code does each role's work; an agent only adds to it. So whatever keeps the agent from answering
ends no phase: it is said, and stands beside the result.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel

from qloop.agents.answers import MalformedAnswer, parse_answer
from qloop.agents.review import parse_place
from qloop.agents.role_answers import ROLE_ANSWERS
from qloop.agents.roles import load_role
from qloop.mission.held import kept
from qloop.mission.phase_desk import PhaseDesk
from qloop.repo.checkout import Repository
from qloop.repo.cited import count_lines
from qloop.run.readers import find_readers
from qloop.run.reading_call import ask, role_question
from qloop.run.reading_desk import ReadingPlace
from qloop.run.talk import Question, Say
from qloop.system.cancel import Cancel
from qloop.system.errors import Faults, QloopError

Made = TypeVar("Made")
Answer = TypeVar("Answer", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Judged(Generic[Made]):
    """What an agent added, or why none did."""

    answer: Made | None
    note: str
    """Who was asked, or why nobody answered; a sentence for people."""


class Asks(Protocol):
    """How a question comes to somebody, and what that adds."""

    def __call__(self, place: ReadingPlace, question: Question[Made], /) -> Judged[Made]:
        """What is answered."""


def judging(desk: PhaseDesk) -> Asks:
    """Whoever judges in a phase: what keeps them from answering ends nothing.

    What they change in the intent's folder is put back.
    """

    def ask_judge(place: ReadingPlace, question: Question[Made], /) -> Judged[Made]:
        with kept(desk.folder, question.role, desk.tell):
            return judge(place, question, desk.tell, desk.cancel)

    return ask_judge


def reading_place(desk: PhaseDesk, commit: str) -> ReadingPlace:
    """Where the agents of a phase read, at its cost."""
    return ReadingPlace(
        repository=desk.repository,
        config=desk.config,
        journal=desk.journal,
        commit=commit,
        logs=desk.logs,
        limit_usd=desk.order.mission_context.budget.remaining,
    )


def judge(place: ReadingPlace, question: Question[Made], say: Say, cancel: Cancel) -> Judged[Made]:
    """What an agent answers, where one is set for the question's role and can work."""
    role = question.role
    try:
        readers = find_readers(role, place.config, place.repository.root)
        if not readers:
            return Judged(None, f"no agent is set for the {role} ([roles.{role}] in qloop.toml)")
        answer = ask(place, question, readers, say, cancel)
    except (QloopError, OSError) as exc:
        more = "".join(f"; {fault}" for fault in exc.faults) if isinstance(exc, Faults) else ""
        note = f"the {role} added nothing: {exc}{more}"
        say(note)
        return Judged(None, note)
    return Judged(answer, f"{role}: {readers[0].label}")


def form_question(
    role: str,
    task: str,
    values: Mapping[str, str],
    model: type[Answer],
    check: Callable[[Answer], Answer],
) -> Question[Answer]:
    """The question of a role whose answer has the form of *model*.

    *check* may raise MalformedAnswer for one that cannot be used as it is.
    """
    key = ROLE_ANSWERS[load_role(role).output or ""][1]
    read = lambda answer: check(parse_answer(model, answer, key))  # noqa: E731
    return role_question(role, task, key, values, read)


def find_cited(repository: Repository, commit: str, places: Iterable[str]) -> frozenset[str]:
    """Those of *places*, as `path:line`, that there are in a commit."""
    parsed = {text: parse_place(text) for text in places}
    lines = count_lines(repository, commit, {one[0] for one in parsed.values() if one})
    return frozenset(
        text for text, one in parsed.items() if one is not None and one[1] <= lines.get(one[0], 0)
    )


def uncited(names: Iterable[str]) -> MalformedAnswer:
    """The fault of an answer in which nothing is shown by a place that exists."""
    told = ", ".join(names)
    return MalformedAnswer(f"no place that is cited exists in this commit: {told}")
