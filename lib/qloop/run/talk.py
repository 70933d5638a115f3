"""The talk with an agent that reads: asked, its answer checked, told what is wrong, asked again.

The agent reads a checkout of its own; what it does elsewhere is thrown away or taken back.
Errors: AnswerRefused where no answer can be used; BudgetReached; PersonNeeded, RunnerUnavailable,
BadInput, ReaderFailed for a call that came to no answer; KeyboardInterrupt.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from qloop.agents.answers import MalformedAnswer, has_answer
from qloop.agents.hindrances import Cause
from qloop.agents.manifest import Manifest
from qloop.repo.person import Snapshot
from qloop.repo.review_tree import find_changed, renew
from qloop.run.agent_call import AgentCall, Answered, call_agent
from qloop.run.call_end import find_hindered
from qloop.run.desk import shown
from qloop.run.finding import enumerate_names
from qloop.run.orders import Hindered
from qloop.run.previous import previous_text
from qloop.run.readers import Reader, ended_badly, hindered_error, is_whole
from qloop.run.reading_desk import ReadingDesk
from qloop.state.journal import EventKind
from qloop.system.clock import render_duration
from qloop.system.counting import counted
from qloop.system.errors import Faults
from qloop.system.files import write_atomic

CORRECTIONS = 3
"""How often an agent is told what is wrong with its answer."""
ANSWER = "answer.txt"
"""The file that keeps the last answer of those that cannot be used."""

Say = Callable[[str], None]
Made = TypeVar("Made")


class AnswerRefused(Faults):
    """No answer of an agent's could be used; `where` names the file that keeps the last."""


@dataclass(frozen=True, slots=True)
class Question(Generic[Made]):
    """What an agent is asked, and how its answer is read."""

    role: str
    task: str
    """What it does, such as `plans prd.md`."""
    key: str
    """What an object has that is an answer."""
    render: Callable[[str], str]
    """The prompt, given what there is to say of the last answer."""
    read: Callable[[str], Made]
    """What an answer gives. Raises MalformedAnswer."""
    fix: str = ""
    """What a person could do first where no answer can be used."""
    corrections: int = CORRECTIONS
    """How often it is told what is wrong with its answer."""


@dataclass(slots=True)
class Thread:
    """What several calls of one agent have in common."""

    goes_on: bool = False
    """Whether each goes on in the session of the one before, where its runner can."""
    session: str | None = None
    """That session; None where the next call begins anew."""
    runner: str = ""
    """Whose it is."""
    calls: int = 0

    def begin(self, runner: Manifest) -> None:
        """Another call comes, of a runner that can go on with no other one's session."""
        self.calls += 1
        if runner.name != self.runner:
            self.session = None

    def end(self, runner: Manifest, session: str | None) -> None:
        """Note the session of a call that came to its end."""
        self.runner = runner.name
        self.session = session if self.goes_on and runner.resume else None


@dataclass(slots=True)
class Talk(Generic[Made]):
    """What goes on between qloop and those who can be asked, until there is an answer."""

    desk: ReadingDesk
    question: Question[Made]
    readers: list[Reader]
    """Who is asked; the others stand in where it cannot work."""
    timeout_s: float
    say: Say
    thread: Thread = field(default_factory=Thread)

    def find_out(self) -> Made:
        """What the answer gives. Raises as the module tells."""
        previous, answer = "", ""
        faults: tuple[str, ...] = ()
        most = self.question.corrections
        for number in range(most + 1):
            answered = self._ask(previous)
            answer = answered.reading.answer
            try:
                return self.question.read(answer)
            except MalformedAnswer as exc:
                faults = (*exc.faults, *self._written())
            more = number < most
            again = f"; told so, correction {number + 1} of {most}" if more else ""
            self.say(f"the {self.question.role}'s answer has {_count(faults)}{again}")
            previous = previous_text(faults, answer)
        raise self._refusal(faults, answer)

    def _ask(self, previous: str) -> Answered:
        """One call that came to an answer, by whoever can work."""
        while True:
            reader = self.readers[0]
            before = self.desk.look()
            self.thread.begin(reader.runner)
            resumed = self.thread.session
            answered = self._call(reader, previous)
            self._take_back(before)
            if answered.ended.cancelled:
                raise KeyboardInterrupt
            if is_whole(answered) and has_answer(answered.reading.answer, self.question.key):
                return answered
            hindered = find_hindered(answered, reader.runner)
            log = shown(answered.log, self.desk.terms)
            if hindered is None and is_whole(answered) and answered.denied is None:
                return answered
            if hindered is None and resumed is not None:
                self.say(f"the session of the {self.question.role} cannot go on; it begins anew")
                continue
            if hindered is None:
                raise ended_badly(self.question.role, reader, answered, self.timeout_s, log)
            self._replace(hindered, log)

    def _call(self, reader: Reader, previous: str) -> Answered:
        thread = self.thread
        if thread.calls > 1:
            renew(self.desk.workspace)
        role = self.question.role
        call = AgentCall(
            role=role,
            prompt=self.question.render(previous),
            runner=reader.runner,
            model=reader.model,
            timeout_s=self.timeout_s,
            cwd=self.desk.workspace.tree,
            session=thread.session,
            log_name=f"{role}-{thread.calls}.log",
        )
        log = shown(self.desk.logs / call.log_name, self.desk.terms)
        limit = render_duration(self.timeout_s)
        self.say(f"{reader.label} {self.question.task}, for at most {limit}; its log: {log}")
        answered = call_agent(self.desk, call)
        thread.end(reader.runner, answered.reading.session if is_whole(answered) else None)
        return answered

    def _written(self) -> Sequence[str]:
        """What to tell an agent that wrote files instead of an answer."""
        changed = find_changed(self.desk.workspace)
        if not changed:
            return ()
        names = enumerate_names(changed)
        role = self.question.role
        self.say(f"the {role} changed its checkout ({names}); that is thrown away")
        return (f"what was written into files is thrown away: {names}",)

    def _take_back(self, before: Snapshot) -> None:
        told, role = self.desk.take_back(before), self.question.role
        for text in told:
            self.say(f"the {role} went into your repository: {text}")
        if told:
            self.desk.emit(EventKind.GUARD_BREACHED, role=role, reason="\n".join(told))

    def _replace(self, hindered: Hindered, log: str) -> None:
        """Let the next one in line take over. Raises where nobody can."""
        error = hindered_error(self.question.role, hindered, log)
        if hindered.cause is Cause.CONFIGURATION or len(self.readers) == 1:
            raise error
        self.readers.pop(0)
        self.say(f"{error.what}; {self.readers[0].label} takes over")

    def _refusal(self, faults: Sequence[str], answer: str) -> AnswerRefused:
        role = self.question.role
        kept = self.desk.logs / ANSWER
        write_atomic(kept, answer.encode("utf-8", "backslashreplace"))
        stronger = f"name a stronger model in [roles.{role}]"
        return AnswerRefused(
            f"no answer of the {role}'s can be used, and the last has {_count(faults)}",
            tuple(faults),
            where=shown(kept, self.desk.terms),
            fix=f"{self.question.fix}, or {stronger}" if self.question.fix else stronger,
        )


def _count(faults: Sequence[str]) -> str:
    return counted(len(faults), "fault")
