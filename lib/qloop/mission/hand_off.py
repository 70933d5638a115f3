"""From one of an intent's team to the next: a deliverable, its gate, an account of it.

A member's words are written by qloop, where the stage and the role allow it; a member whose
deliverable is not there at its end, or that wrote by itself what it may not, hands nothing on.
Errors: MemberErred for one that cannot do its work, BadInput for a hand-off that is refused by
its gate; OSError.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from qloop.mission.asking import Asks, Judged
from qloop.mission.completion import account_for
from qloop.mission.held import kept
from qloop.mission.member_call import MemberErred
from qloop.mission.preamble import render_preamble
from qloop.mission.stage_gate import Write, judge_write
from qloop.mission.team import REVIEWER
from qloop.run.reading_desk import ReadingPlace
from qloop.run.talk import Question
from qloop.state.delivery_lock import Activity, Maker, add_delegate, end_delegate, look
from qloop.state.lifecycle import Lifecycle, read_lifecycle
from qloop.state.savepoints import add_savepoint, folder_locked, rebuild_ledger
from qloop.system.errors import BadInput
from qloop.system.files import write_atomic

Made = TypeVar("Made")
REPORTS = "reports"
REPORTED = "Report"
"""The class of the ledger's lines that tell how a member's work ended."""
ANSWER_LAST = (
    "Your answer, in the form that your task asks for, comes last, behind the report.\n"
    "You read only: what you hand over is your answer, and qloop writes it down.\n"
)


def nobody(place: ReadingPlace, question: Question[Made], /) -> Judged[Made]:  # noqa: ARG001
    """The voice of a member who is no agent."""
    return Judged(None, "no agent is asked")


def nothing(_: object) -> None:
    """Do nothing; there is nothing to be said against it."""


@dataclass(slots=True)
class Member:
    """One of the team at work on the intent in *folder*."""

    folder: Path
    role: str
    voice: Asks = nobody
    """Who is asked in its name."""
    tell: Callable[[str], None] = nothing
    """Says a line of what goes on."""
    has_helpers: bool = False
    """Whether whoever is asked has sub-agents."""
    beside: Callable[[], str] = str
    """What stands between preamble and task, when it is asked."""
    said: list[str] = field(default_factory=list)
    """What it answered, call by call."""

    def ask(self, place: ReadingPlace, question: Question[Made], /) -> Judged[Made]:
        """What is answered in its name.

        Raises MemberErred where its own report says blocked, or it changed what it may not.
        """
        with kept(self.folder, self.role, self.tell) as strays:
            judged = self.voice(place, self._dressed(question))
        faults = [str(one) for one in strays if one.refusal is not None]
        if faults:
            raise MemberErred(self.role, "; ".join(faults))
        return judged

    def _dressed(self, question: Question[Made]) -> Question[Made]:
        """Its question, with the preamble before it; its words are kept for the account."""
        preamble = render_preamble(self.folder, self.role, has_helpers=self.has_helpers)

        def read(answer: str) -> Made:
            self.said.append(answer)
            self._check_word(answer)
            return question.read(answer)

        def render(previous: str) -> str:
            return f"{preamble}{ANSWER_LAST}{self.beside()}\n{question.render(previous)}"

        return replace(question, render=render, read=read)

    def _check_word(self, answer: str) -> None:
        # A reviewer's verdict is its answer; what it reports of itself is no more than that.
        if self.role == REVIEWER:
            return
        account = account_for(self.folder, self.role, answer)
        if account.is_blocked:
            report = _keep(self.folder, self.role, account.text)
            raise MemberErred(self.role, f"{account.lacking}; see {report}")

    def put(self, name: str, text: str) -> None:
        """Write one of the lifecycle files in its name. Raises BadInput where it may not."""
        with folder_locked(self.folder):
            write = Write(name, text, self.role)
            refusal = judge_write(read_lifecycle(self.folder), write)
            if refusal is not None:
                raise BadInput(
                    f"the {self.role} may not write {name}: {refusal.reason} ({refusal.rule})",
                    where=str(self.folder),
                    fix=refusal.fix,
                )
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, text.encode("utf-8", "surrogateescape"))


Gate = Callable[[Lifecycle], str | None]
"""What a deliverable lacks beside being there; None where nothing."""


def hand_over(
    member: Member, number: int, work: Callable[[Member], None], gate: Gate
) -> Mapping[str, str]:
    """Have a member of the team work, and say by which `report` it may be handed on.

    *number* tells its work from that of other rounds.
    """
    folder, role = member.folder, member.role
    with _as_delegate(folder, f"{role}-{number}", role) as finish:
        work(member)
        rebuild_ledger(folder)
        account = account_for(folder, role, member.said[-1] if member.said else None)
        report = _keep(folder, role, account.text)
        own = None if role == REVIEWER else account.lacking
        lacking = own or gate(read_lifecycle(folder))
        if lacking is not None:
            raise BadInput(
                f"the {role} hands nothing on: {lacking}",
                where=str(folder),
                fix=f"see {report}; write it yourself, or have it tried again",
            )
        finish()
    return {"report": report}


def _keep(folder: Path, role: str, text: str) -> str:
    """Keep a report, and say where."""
    place = folder / REPORTS
    place.mkdir(exist_ok=True)
    taken = [path.name[:3] for path in place.iterdir()]
    number = 1 + max((int(word) for word in taken if word.isdigit()), default=0)
    name = f"{number:03d}-{role}.md"
    write_atomic(place / name, text.encode("utf-8", "surrogateescape"))
    return f"{REPORTS}/{name}"


@contextlib.contextmanager
def _as_delegate(folder: Path, session: str, role: str) -> Iterator[Callable[[], None]]:
    """Have the member known as a delegate of whoever owns the intent, until it ends."""
    lock = look(folder, "").lock
    if lock is None:  # a phase that is tried without a mission
        yield lambda: None
        return
    owner = lock.owner_session
    add_delegate(folder, owner, session, Maker(agent=role))
    told = [Activity.FAILED]
    try:
        yield lambda: told.__setitem__(0, Activity.FINISHED)
    finally:
        end_delegate(folder, owner, session, told[0])
        add_savepoint(folder, REPORTED, f"{session} {told[0]}")
