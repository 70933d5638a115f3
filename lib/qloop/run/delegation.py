"""Asking delegates: one answer to one prompt, by an agent without tools that then is forgotten.

Nothing that it answers is believed: words are held to their length, and a change is applied by
qloop to the one file that it is of. Every call leaves one record in the journal.
Errors: those of `agent_call`; CallFailed for a call that came to no answer, CallCancelled.
"""

import os
from dataclasses import dataclass, replace
from typing import Any

from qloop.agents.compression import Compressed, compress, extract
from qloop.agents.error_trace import plain_lines
from qloop.agents.prompt import render_role
from qloop.agents.tokens import count_tokens
from qloop.agents.worker_answer import UnusableWork, change_text, fence_around
from qloop.run.agent_call import AgentCall, Answered, call_agent
from qloop.run.call_end import WORDS, find_hindered
from qloop.run.delegate_desk import DelegateDesk
from qloop.run.delegates import QA, WORKER
from qloop.run.desk import shown
from qloop.run.orders import Delegate
from qloop.run.purse import BudgetReached
from qloop.run.target import Target
from qloop.state.journal import EventKind
from qloop.system.clock import render_duration
from qloop.system.errors import BadInput, QloopError
from qloop.system.masking import find_secrets, mask_strings

LONGEST_TRACE = 60_000
"""Characters of a trace that a prompt takes: the first half of them, and the last."""
DEPTH = 1


class CallFailed(QloopError):
    """A delegate crashed, was stuck, out of time, or could not work at all."""

    def __init__(self, what: str, answered: Answered, where: str) -> None:
        super().__init__(what, where=where, fix="see its log")
        self.answered = answered


class CallCancelled(Exception):
    """It was told to stop while a delegate was at work."""

    def __init__(self, answered: Answered) -> None:
        super().__init__()
        self.answered = answered


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a worker made of its target."""

    target: Target
    worker: Delegate
    reason: str
    """Why it was asked."""
    answered: Answered
    after: str | None = None
    """The target's new content; None where nothing can be used."""
    why: str = ""
    """What is wrong with the answer, or the call."""
    outcome: str = ""
    """`rejected`, `failed` or `cancelled`, where nothing can be used."""

    def record(self, outcome: str = "", text: str = "") -> "Record":
        """The call's record, once it is known what became of the change."""
        return Record(
            role=WORKER,
            reason=self.reason,
            lines_in=self.target.lines,
            outcome=outcome or self.outcome,
            text=text or self.why,
            tokens_out=count_tokens(self.answered.reading.answer),
            target=self.target.name,
            delegate=self.worker,
            answered=self.answered,
        )


@dataclass(frozen=True, slots=True)
class Record:
    """One call of a delegate, or what was done without one, as the journal keeps it."""

    role: str
    reason: str
    """Why it was asked."""
    lines_in: int
    """Lines of the trace, or of the target."""
    outcome: str
    """`compressed`; `applied`, `put back`, `left` (somebody else changed it since), `rejected`;
    `failed`, `cancelled`, `killed`."""
    text: str
    """What a trace came to; what a worker's answer lacked, or the command that refused it."""
    tokens_out: int
    truncated: bool = False
    source: str = "model"
    """`model`, or `extract` where qloop itself took it out of the trace."""
    target: str | None = None
    delegate: Delegate | None = None
    """None where nobody was asked."""
    answered: Answered | None = None

    def facts(self) -> dict[str, Any]:
        """What the journal notes."""
        by, answered = self.delegate, self.answered
        return {
            "role": self.role,
            "reason": self.reason,
            "lines_in": self.lines_in,
            "tokens_out": self.tokens_out,
            "truncated": self.truncated,
            "outcome": self.outcome,
            "source": self.source,
            "text": self.text,
            "target": self.target,
            "runner": by.runner.name if by is not None else None,
            "model": by.model if by is not None else None,
            "usd": answered.usd if answered is not None else 0.0,
            "cost_source": answered.source if answered is not None else None,
            "depth": DEPTH,
        }


def ask(desk: DelegateDesk, delegate: Delegate, prompt: str) -> Answered:
    """One call to its end. Raises CallFailed, CallCancelled."""
    call = AgentCall(
        role=delegate.role,
        prompt=prompt,
        runner=delegate.runner,
        model=delegate.model,
        timeout_s=delegate.timeout_s,
        cwd=desk.workspace.tree,
        log_name=f"{delegate.role}.log",
    )
    answered = call_agent(desk, call)
    if answered.ended.cancelled:
        raise CallCancelled(answered)
    broken = _broken(answered, delegate)
    if broken:
        who = f"the {delegate.role} ({delegate.runner.name})"
        raise CallFailed(f"{who} {broken}", answered, shown(answered.log, desk.terms))
    return answered


def propose(
    desk: DelegateDesk, worker: Delegate, target: Target, ticket: str, reason: str
) -> Proposal:
    """What a worker makes of a file by a ticket; nothing is written.

    Who asks records what becomes of it.
    """
    _check_secrets(target, worker)
    try:
        answered = ask(desk, worker, render_worker(target.name, target.text, ticket))
    except CallFailed as exc:
        return Proposal(target, worker, reason, exc.answered, why=exc.what, outcome="failed")
    except CallCancelled as exc:
        record = Proposal(target, worker, reason, exc.answered, outcome="cancelled").record()
        desk.emit(EventKind.DELEGATE_ENDED, **record.facts())
        raise
    made = Proposal(target, worker, reason, answered)
    try:
        after = change_text(answered.reading.answer, target.name, target.text)
    except UnusableWork as exc:
        return replace(made, why=f"its answer cannot be used: {exc}", outcome="rejected")
    return replace(made, after=after)


def _check_secrets(target: Target, worker: Delegate) -> None:
    """Raise BadInput for a file that would come back with marks for what its runner knows."""
    text = target.text or ""
    if mask_strings(text, find_secrets({**os.environ, **worker.runner.set_env})) != text:
        raise BadInput(
            f"the target {target.name!r} holds a secret, which no prompt may carry",
            where=str(target.path),
            fix="change it by hand",
        )


def compress_trace(desk: DelegateDesk, qa: Delegate | None, trace: str, reason: str) -> Record:
    """What a trace comes to, journaled; an extract where nobody can be asked or nothing is said."""
    most, lines = desk.terms.delegate.qa_tokens, len(plain_lines(trace))
    answered, why = None, ""
    if qa is not None:
        try:
            answered = ask(desk, qa, render_qa(trace, most))
        except CallFailed as exc:
            answered, why = exc.answered, exc.what
        except CallCancelled as exc:
            stopped = Record(QA, reason, lines, "cancelled", "", 0, delegate=qa)
            record = replace(stopped, answered=exc.answered)
            desk.emit(EventKind.DELEGATE_ENDED, **record.facts())
            raise
        except (BudgetReached, BadInput, OSError) as exc:
            why = str(exc)
    if answered is None or why:
        found = extract(trace, most)
    else:
        found = compress(answered.reading.answer, trace, most)
    record = _compressed(found, qa, answered, lines, f"{reason}; {why}" if why else reason)
    desk.emit(EventKind.DELEGATE_ENDED, **record.facts())
    return record


def render_qa(trace: str, most: int) -> str:
    """What a compressor is told: the trace, and how much it may say."""
    lines = plain_lines(trace if len(trace) <= LONGEST_TRACE else _ends_of(trace))
    text = "\n".join(f"| {line}" for line in lines)
    return render_role(QA, {"trace": text, "most": str(most)})


def render_worker(target: str, before: str | None, ticket: str) -> str:
    """What a worker is told: its file and its ticket."""
    text = (before or "").replace("\r\n", "\n")
    fence = fence_around(text)
    body = f"{fence}\n{text.removesuffix(chr(10))}\n{fence}"
    content = body if before else "It does not exist yet, or is empty."
    values = {"target": target, "content": content, "ticket": ticket.strip(), "fence": fence}
    return render_role(WORKER, values)


def _compressed(
    found: Compressed, qa: Delegate | None, answered: Answered | None, lines: int, reason: str
) -> Record:
    return Record(
        role=QA,
        reason=reason,
        lines_in=lines,
        outcome="compressed",
        text=found.text,
        tokens_out=found.tokens,
        truncated=found.truncated,
        source=found.source,
        delegate=qa if answered is not None else None,
        answered=answered,
    )


def _ends_of(trace: str) -> str:
    half = LONGEST_TRACE // 2
    left_out = len(trace) - 2 * half
    return f"{trace[:half]}\n[{left_out} characters are left out here]\n{trace[-half:]}"


def _broken(answered: Answered, delegate: Delegate) -> str:
    """How a call came to no answer; empty where it ended well."""
    ended = answered.ended
    hindered = find_hindered(answered, delegate.runner)
    if hindered is not None:
        return f"{WORDS[hindered.cause]}: {hindered.text}"
    if ended.timed_out:
        return f"ran longer than its limit of {render_duration(delegate.timeout_s)}"
    if ended.stuck:
        return "was stuck: it did nothing at all for too long"
    if ended.lost:
        return "ended with an exit status that was lost"
    if ended.code != 0:
        return f"ended with exit code {ended.code}"
    return "says itself that its call failed" if answered.reading.failed else ""
