"""Starting an agent, of whatever role: its prompt handed over, its output kept and read.

What it answered is a claim; what counts is for the caller to find out.
Errors: PromptTooLong; OSError when it cannot be started; InternalFailure for a lost log;
BudgetReached where the budget has nothing left for it.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from qloop.agents.gate.denials import Denial, find_stuck
from qloop.agents.gate.terms import INTENT, gate_variables
from qloop.agents.manifest import OUTPUT_FILE, SESSION, SHELL, Manifest
from qloop.agents.reading import Reading, claimed_signal
from qloop.agents.signals import Said
from qloop.agents.words import command
from qloop.run import purse
from qloop.run.agent_output import AgentOutput
from qloop.run.briefing import encode_prompt
from qloop.run.desk import Desk
from qloop.run.own_program import own_words
from qloop.state.journal import EventKind
from qloop.system.logged import Ended, run_logged
from qloop.system.masking import find_secrets, mask_text
from qloop.system.stagger import await_turn
from qloop.system.tree import Marks

AGENT_GRACE_S = 5.0
PROMPT = "prompt.md"


@dataclass(frozen=True, slots=True)
class AgentCall:
    """One call of an agent command line, with the story of a desk at hand."""

    role: str
    """The name of its role file; `QLOOP_ROLE` in its environment."""
    prompt: str
    runner: Manifest
    model: str | None
    timeout_s: float
    cwd: Path
    """The tree it works in; `QLOOP_WORKTREE` in its environment."""
    checks: tuple[str, ...] = ()
    """The commands that it may run to see whether its work is right."""
    is_watched: bool = True
    """Whether it is ended when it does nothing for too long."""
    session: str | None = None
    """The session that it goes on with, as its agent named it."""
    log_name: str = "output.log"
    """Its log in the attempt's folder; the prompt lies beside it."""

    @property
    def output_name(self) -> str:
        """The name of the file that it writes its output into, where its manifest asks for one."""
        return f"{Path(self.log_name).stem}.answer"

    @property
    def denials_name(self) -> str:
        """The name of the file that the gate notes its denials in."""
        return f"{Path(self.log_name).stem}.denied.jsonl"

    @property
    def prompt_name(self) -> str:
        """The name of the file that keeps its prompt."""
        return PROMPT if self.log_name == "output.log" else f"{Path(self.log_name).stem}.{PROMPT}"


@dataclass(frozen=True, slots=True)
class Answered:
    """How a call ended and what it said."""

    ended: Ended
    reading: Reading
    said: Said
    """The signal of its final answer, if there is one that counts."""
    log: Path
    usd: float = 0.0
    """What it cost, in United States dollars."""
    source: str = ""
    """How that is known: `reported`, `priced`, `estimated`, `unused`."""
    denied: Denial | None = None
    """What the gate denied it again and again, until it ended."""


def call_agent(desk: Desk, call: AgentCall) -> Answered:
    """Let an agent work until it ends, is out of time or stuck, or the desk's work is cancelled.

    Its whole process tree is gone then. Its start and its end are journaled, with its role.
    """
    prompt_file = desk.logs / call.prompt_name
    data = encode_prompt(mask_text(call.prompt), call.runner, desk.dispatch.story or call.role)
    prompt_file.write_bytes(data)
    desk.write_files(call.runner)
    argv = command(
        call.runner,
        {
            "{model}": call.model or "",
            "{prompt}": data.decode() if call.runner.prompt == "argument" else "",
            "{prompt_file}": str(prompt_file),
            OUTPUT_FILE: str(_fresh(desk.logs / call.output_name)),
            "{story}": desk.dispatch.story,
            "{worktree}": str(call.cwd),
            SESSION: call.session or "",
        },
        desk.runner_files,
        call.checks,
    )
    return run_call(desk, call, argv, data if call.runner.prompt == "stdin" else b"")


def said_in_answer(ended: Ended, reading: Reading) -> Said:
    """The signal of an agent's final answer."""
    return claimed_signal(reading, ended.code or 0)


def run_call(
    desk: Desk,
    call: AgentCall,
    argv: tuple[str, ...],
    stdin: bytes,
    claim: Callable[[Ended, Reading], Said] = said_in_answer,
) -> Answered:
    """`call_agent` for a command line that stands already; *claim* tells what its end says."""
    reserved = purse.claim(desk, _payment(desk, call))
    log = desk.logs / call.log_name
    denials = _fresh(desk.logs / call.denials_name)
    env = {
        **desk.agent_environment(call.runner, call.role, call.cwd, call.checks),
        **_gate_variables(desk, call, denials),
    }
    await_turn(desk.starts_of(call.runner), call.runner.stagger_s, desk.cancel)
    with _output(desk, call, log, env) as output:
        ended = _run(desk, call, argv, env, stdin, output)
        reading = output.reading()
    said = claim(ended, reading)
    answered = Answered(ended, reading, said, log, denied=find_stuck(denials))
    _tell_end(desk, call, answered)
    if call.runner.name != SHELL:
        facts = purse.settled_facts(_payment(desk, call), reserved, reading)
        desk.emit(EventKind.BUDGET_SETTLED, **facts)
        answered = replace(answered, usd=facts["usd"], source=facts["source"])
    return answered


def _gate_variables(desk: Desk, call: AgentCall, denials: Path) -> dict[str, str]:
    """What the gate of a call goes by; the intent is that of the phase it is made in, if any."""
    root, intent = desk.terms.place.root, os.environ.get(INTENT, "")
    return gate_variables(own_words(), str(denials), root, call.checks, intent)


def _output(desk: Desk, call: AgentCall, log: Path, env: Mapping[str, str]) -> AgentOutput:
    return AgentOutput(
        call.runner.output,
        log,
        desk.terms.limits.log_bytes,
        file=desk.logs / call.output_name if OUTPUT_FILE in call.runner.argv else None,
        secrets=find_secrets({**os.environ, **env}),
    )


def _run(
    desk: Desk,
    call: AgentCall,
    argv: tuple[str, ...],
    env: Mapping[str, str],
    stdin: bytes,
    output: AgentOutput,
) -> Ended:
    return run_logged(
        argv,
        cwd=call.cwd,
        env=env,
        stdin=stdin,
        log=desk.logs / call.log_name,
        log_bytes=desk.terms.limits.log_bytes,
        timeout_s=call.timeout_s,
        marks=_marks(desk, call.cwd),
        cancel=desk.cancel,
        stale_after_s=desk.terms.limits.stale_after_s if call.is_watched else None,
        grace_s=AGENT_GRACE_S,
        on_start=lambda process: desk.emit(
            EventKind.AGENT_STARTED,
            process=process.to_json(),
            role=call.role,
            runner=call.runner.name,
            worktree=str(call.cwd),
            start=desk.workspace.start,
        ),
        on_output=output.feed,
    )


def _fresh(path: Path) -> Path:
    """The path, where nothing is that an earlier call left."""
    path.unlink(missing_ok=True)
    return path


def _payment(desk: Desk, call: AgentCall) -> purse.Call:
    dispatch = desk.dispatch
    return purse.Call(
        role=call.role,
        runner=call.runner.name,
        model=call.model,
        wave=desk.wave or None,
        story=dispatch.story or None,
        attempt=dispatch.attempt or None,
    )


def _marks(desk: Desk, cwd: Path) -> Marks:
    marks = desk.marks
    return marks if cwd in marks.folders else replace(marks, folders=(*marks.folders, cwd))


def _tell_end(desk: Desk, call: AgentCall, answered: Answered) -> None:
    ended, reading = answered.ended, answered.reading
    desk.emit(
        EventKind.AGENT_ENDED,
        role=call.role,
        runner=call.runner.name,
        code=ended.code,
        signal=answered.said.signal,
        seconds=round(ended.seconds, 3),
        timed_out=ended.timed_out,
        stuck=ended.stuck,
        survivors=[one.pid for one in ended.survivors],
        session=reading.session,
        model=reading.model or call.model,
        turns=reading.turns,
        denied=asdict(answered.denied) if answered.denied is not None else None,
        **asdict(reading.usage),
    )
