"""The implementer's work: the agent with its prompt, or the story's own commands.

What comes back is a claim and the reason where there is none that could count.
"""

import signal
from dataclasses import dataclass
from pathlib import Path

from qloop.agents.manifest import LONGEST_ARGUMENT_BYTES, SHELL, command
from qloop.agents.prompt import bullet_list, render_role
from qloop.agents.signals import Said, parse_signal
from qloop.plan.model import Phase, Story
from qloop.run.desk import Desk, EventKind, shown
from qloop.run.orders import AttemptOrder, Failed
from qloop.system.clock import render_duration
from qloop.system.logged import Ended, read_tail, run_logged

PREVIOUS_LOG_BYTES = 8_000
AGENT_GRACE_S = 5.0


@dataclass(frozen=True, slots=True)
class Claim:
    """What the implementer made of its story: nothing wrong so far, or why it failed."""

    failed: Failed | None
    log: str | None


def work(desk: Desk, order: AttemptOrder) -> Claim:
    """Let the implementer work until it ends, is out of time, or is stopped."""
    story = Story.model_validate(order.story)
    log = desk.logs / "output.log"
    if desk.dispatch.runner.name == SHELL:
        ended, reason = _run_tasks(desk, story, log)
        said = Said("STORY_PASSED" if reason is None else "STORY_FAILED", None, reason or "")
    else:
        ended = _run_agent(desk, render_prompt(order, story), log)
        said = parse_signal(read_tail(log, desk.terms.limits.log_bytes), ended.code or 0)
    desk.emit(
        EventKind.AGENT_ENDED,
        code=ended.code,
        signal=said.signal,
        seconds=round(ended.seconds, 3),
        timed_out=ended.timed_out,
    )
    where = shown(log, desk.terms)
    return Claim(_failure(ended, said, where, desk.dispatch.timeout_s), where)


def render_prompt(order: AttemptOrder, story: Story) -> str:
    """The implementer's prompt: role, story, document, patterns, and the last failure."""
    return render_role(
        "implementer",
        {
            "story_id": story.id,
            "story": "\n\n".join(part for part in (story.title, story.description) if part),
            "criteria": bullet_list(story.acceptance_criteria, "Nothing beyond the story itself."),
            "tasks": _tasks_text(story),
            "prd": order.terms.place.prd or "there is none on this machine",
            "patterns": bullet_list(list(order.patterns), "None yet."),
            "previous": _previous_text(story, Path(order.terms.place.root)),
            "checks": _checks_text(order, story),
        },
    )


def _run_agent(desk: Desk, prompt: str, log: Path) -> Ended:
    manifest = desk.dispatch.runner
    prompt_file = desk.logs / "prompt.md"
    data = prompt.encode("utf-8", "backslashreplace")
    prompt_file.write_bytes(data)
    argument = data[:LONGEST_ARGUMENT_BYTES].decode("utf-8", "ignore")
    argv = command(
        manifest,
        {
            "{model}": desk.dispatch.model or "",
            "{prompt}": argument,
            "{prompt_file}": str(prompt_file),
            "{story}": desk.dispatch.story,
            "{worktree}": str(desk.workspace.tree),
        },
    )
    stdin = data if manifest.prompt == "stdin" else b""
    return _start(desk, argv, stdin, log, desk.agent_environment(), desk.dispatch.timeout_s)


def _run_tasks(desk: Desk, story: Story, log: Path) -> tuple[Ended, str | None]:
    """Each task's commands in order in one process; the first that is not 0 ends the attempt."""
    lines = ["set -u"]
    commands = [item for task in story.tasks for item in task.run]
    for number in range(len(commands)):
        lines.append(f'bash -c "${{{number + 1}}}" || exit $?')
    argv = ("bash", "-c", "\n".join(lines), "tasks", *commands)
    ended = _start(desk, argv, b"", log, desk.agent_environment(), desk.dispatch.timeout_s)
    if ended.code == 0:
        return ended, None
    return ended, f"a task's command ended with exit code {ended.code}"


def _start(
    desk: Desk,
    argv: tuple[str, ...],
    stdin: bytes,
    log: Path,
    env: dict[str, str],
    timeout_s: float,
) -> Ended:
    return run_logged(
        argv,
        cwd=desk.workspace.tree,
        env=env,
        stdin=stdin,
        log=log,
        log_bytes=desk.terms.limits.log_bytes,
        timeout_s=timeout_s,
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
        return Failed(phase=Phase.INTERRUPTED, reason="the run was stopped", log=log, charged=False)
    if ended.lost:
        return Failed(
            phase=Phase.INFRA, reason="the agent's exit status was lost", log=log, charged=False
        )
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


def _tasks_text(story: Story) -> str:
    parts: list[str] = []
    for task in story.tasks:
        head = ": ".join(part for part in (task.id, task.title) if part) or "Step"
        parts.append("\n".join(filter(None, [f"- {head}", _indent(task.description)])))
        parts += [f"  - file: {path}" for path in task.file_paths]
        parts += [f"  - could be done by: `{item}`" for item in task.run]
    return "\n".join(parts) or "Take the steps that you find right."


def _indent(text: str | None) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n")) if text else ""


def _checks_text(order: AttemptOrder, story: Story) -> str:
    commands = [item for task in story.tasks for item in task.commands]
    commands += [*story.verify, *order.commands.quality]
    return bullet_list([f"`{item}`" for item in commands], "No command judges this story.")


def _previous_text(story: Story, root: Path) -> str:
    """Why the last attempt failed, with the end of its log."""
    if not story.retries.failure_log:
        return ""
    last = story.retries.failure_log[-1]
    text = f"## The last attempt failed\n\nPhase: {last.phase}. {last.reason or ''}"
    if not last.log or not (root / last.log).is_file():
        return text
    tail = read_tail(root / last.log, PREVIOUS_LOG_BYTES)
    return f"{text}\n\nThe end of its log:\n\n{_indent(tail)}"
