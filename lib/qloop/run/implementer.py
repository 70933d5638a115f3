"""The implementer's work: the agent with its prompt, or the story's own commands.

What comes back is a claim and the reason where there is none that could count.
"""

import signal
from dataclasses import dataclass
from pathlib import Path

from qloop.agents.manifest import SHELL, command
from qloop.agents.signals import Said, parse_signal
from qloop.plan.model import Phase, Story
from qloop.run.briefing import Briefing, encode_prompt
from qloop.run.desk import Desk, shown
from qloop.run.orders import AttemptOrder, Failed
from qloop.state.journal import EventKind
from qloop.system.clock import render_duration
from qloop.system.logged import Ended, read_tail, run_logged

AGENT_GRACE_S = 5.0


@dataclass(frozen=True, slots=True)
class Claim:
    """What the implementer made of its story: nothing wrong so far, or why it failed."""

    failed: Failed | None
    log: str | None


def work(desk: Desk, order: AttemptOrder) -> Claim:
    """Let the implementer work until it ends, is out of time, or is stopped."""
    story = order.read_story()
    log = desk.logs / "output.log"
    if desk.dispatch.runner.name == SHELL:
        ended, reason = _run_tasks(desk, story, log)
        said = Said("STORY_PASSED" if reason is None else "STORY_FAILED", None, reason or "")
    else:
        ended = _run_agent(desk, Briefing.of_order(order).render(story), log)
        said = parse_signal(read_tail(log, desk.terms.limits.log_bytes), ended.code or 0)
    desk.emit(
        EventKind.AGENT_ENDED,
        code=ended.code,
        signal=said.signal,
        seconds=round(ended.seconds, 3),
        timed_out=ended.timed_out,
        survivors=[one.pid for one in ended.survivors],
    )
    where = shown(log, desk.terms)
    return Claim(_failure(ended, said, where, desk.dispatch.timeout_s), where)


def _run_agent(desk: Desk, prompt: str, log: Path) -> Ended:
    manifest = desk.dispatch.runner
    prompt_file = desk.logs / "prompt.md"
    data = encode_prompt(prompt, manifest, desk.dispatch.story)
    prompt_file.write_bytes(data)
    argv = command(
        manifest,
        {
            "{model}": desk.dispatch.model or "",
            "{prompt}": data.decode() if manifest.prompt == "argument" else "",
            "{prompt_file}": str(prompt_file),
            "{story}": desk.dispatch.story,
            "{worktree}": str(desk.workspace.tree),
        },
    )
    stdin = data if manifest.prompt == "stdin" else b""
    return _start(desk, argv, stdin, log)


def _run_tasks(desk: Desk, story: Story, log: Path) -> tuple[Ended, str | None]:
    """Each task's commands in order in one process; the first that is not 0 ends the attempt."""
    lines = ["set -u"]
    commands = [item for task in story.tasks for item in task.run]
    for number in range(len(commands)):
        lines.append(f'bash -c "${{{number + 1}}}" || exit $?')
    argv = ("bash", "-c", "\n".join(lines), "tasks", *commands)
    ended = _start(desk, argv, b"", log)
    if ended.code == 0:
        return ended, None
    return ended, f"a task's command ended with exit code {ended.code}"


def _start(desk: Desk, argv: tuple[str, ...], stdin: bytes, log: Path) -> Ended:
    return run_logged(
        argv,
        cwd=desk.workspace.tree,
        env=desk.agent_environment(),
        stdin=stdin,
        log=log,
        log_bytes=desk.terms.limits.log_bytes,
        timeout_s=desk.dispatch.timeout_s,
        marks=desk.marks,
        cancel=desk.cancel,
        grace_s=AGENT_GRACE_S,
        on_start=lambda process: desk.emit(
            EventKind.AGENT_STARTED,
            process=process.to_json(),
            runner=desk.dispatch.runner.name,
            worktree=str(desk.workspace.tree),
            start=desk.workspace.start,
        ),
    )


def _failure(ended: Ended, said: Said, log: str, limit_s: float) -> Failed | None:
    if ended.cancelled:
        return Failed.interrupted(log=log)
    if ended.lost:
        return Failed.infra("the agent's exit status was lost", log)
    if ended.timed_out:
        reason = f"the agent ran longer than its limit of {render_duration(limit_s)}"
        return Failed(phase=Phase.TIMEOUT, reason=reason, log=log)
    code = ended.code or 0
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        return Failed(phase=Phase.CRASH, reason=f"the agent was killed by {name}", log=log)
    return _claim_failure(code, said, log)


def _claim_failure(code: int, said: Said, log: str) -> Failed | None:
    if said.signal == "BLOCKED":
        return Failed(phase=Phase.AGENT_BLOCKED, reason="the agent said BLOCKED", log=log)
    if said.signal == "STORY_FAILED":
        reason = said.why if said.line is None and said.why else "the agent said STORY_FAILED"
        return Failed(phase=Phase.AGENT_FAILED, reason=reason, log=log)
    if code != 0:
        reason = said.why if said.line else f"the agent ended with exit code {code}"
        return Failed(phase=Phase.AGENT_FAILED, reason=reason, log=log)
    if said.signal != "STORY_PASSED":
        reason = f"the agent said {said.signal}" if said.signal else said.why
        return Failed(phase=Phase.NO_SIGNAL, reason=reason, log=log)
    return None
