"""The implementer's work: the agent with its prompt, or the story's own commands.

What comes back is a claim and the reason where there is none that could count.
"""

from dataclasses import dataclass, replace

from qloop.agents.manifest import SHELL
from qloop.agents.signals import Said
from qloop.plan.model import Story
from qloop.run.agent_call import AgentCall, Answered, call_agent, run_call
from qloop.run.briefing import Briefing, checks_of
from qloop.run.call_end import find_failure
from qloop.run.delegation import CallCancelled
from qloop.run.desk import Desk, shown
from qloop.run.gates import GateCancelled
from qloop.run.handing_down import Handed, hand_down
from qloop.run.orders import AttemptOrder, Failed
from qloop.system.logged import Ended

ROLE = "implementer"


@dataclass(frozen=True, slots=True)
class Claim:
    """What the implementer made of its story: nothing wrong so far, or why it failed."""

    failed: Failed | None
    log: str | None
    breach: str = ""
    """What the guard found already, before the work came into the attempt's worktree."""
    mark: str | None = None
    """Whose mark its commits bear, where that is not the attempt's own."""


def work(desk: Desk, order: AttemptOrder) -> Claim:
    """Let the implementer work until it ends, is out of time, or is stopped."""
    story = order.read_story()
    if desk.dispatch.runner.name == SHELL:
        return _claim(desk, _run_tasks(desk, story))
    try:
        handed = hand_down(desk, order, story)
    except (CallCancelled, GateCancelled):
        return Claim(Failed.interrupted(), None)
    if handed.log is not None:
        return Claim(None, handed.log)
    call = _call(desk, _briefing(order, handed).render(story))
    checks = checks_of(order.commands.quality, story)
    return _claim(desk, call_agent(desk, replace(call, checks=checks)))


def _briefing(order: AttemptOrder, handed: Handed) -> Briefing:
    briefing = Briefing.of_order(order)
    return replace(briefing, finding=handed.finding, lines=handed.lines, by_model=handed.by_model)


def _claim(desk: Desk, answered: Answered) -> Claim:
    log = shown(answered.log, desk.terms)
    return Claim(find_failure(desk, answered, log), log)


def _call(desk: Desk, prompt: str) -> AgentCall:
    dispatch = desk.dispatch
    return AgentCall(
        role=ROLE,
        prompt=prompt,
        runner=dispatch.runner,
        model=dispatch.model,
        timeout_s=dispatch.timeout_s,
        cwd=desk.workspace.tree,
    )


def _run_tasks(desk: Desk, story: Story) -> Answered:
    """Each task's commands in order in one process; the first that is not 0 ends the attempt.

    What they print is no claim; how they ended is.
    """
    lines = ["set -u"]
    commands = [item for task in story.tasks for item in task.run]
    for number in range(len(commands)):
        lines.append(f'bash -c "${{{number + 1}}}" || exit $?')
    argv = ("bash", "-c", "\n".join(lines), "tasks", *commands)
    return run_call(desk, _call(desk, ""), argv, b"", lambda ended, _: _tasks_said(ended))


def _tasks_said(ended: Ended) -> Said:
    if ended.code == 0:
        return Said("STORY_PASSED", None, "")
    return Said("STORY_FAILED", None, f"a task's command ended with exit code {ended.code}")
