"""What the end of an agent's call means for its story: a claim that may hold, or why it failed.

An agent that could not work, whatever its role, is a matter of its runner and not of the story.
"""

import signal
from pathlib import Path

from qloop.agents.classes import Call, CallClass, classify, find_hindrance
from qloop.agents.hindrances import Cause
from qloop.agents.manifest import SHELL, Manifest
from qloop.agents.signals import Said
from qloop.plan.model import Phase
from qloop.run.agent_call import Answered
from qloop.run.desk import Desk
from qloop.run.orders import Failed, Hindered
from qloop.system.clock import epoch_s, render_duration

WORDS = {
    Cause.USAGE_LIMIT: "has reached its usage limit",
    Cause.AUTHENTICATION: "is not let in",
    Cause.CONFIGURATION: "was refused its model or an option",
    Cause.OVERLOAD: "met a service that is overloaded",
    Cause.NETWORK: "did not reach its service",
}
PASSING = (Cause.OVERLOAD, Cause.NETWORK)
"""What goes by itself, and soon: tried again at the story's charge where it does not."""


def find_failure(desk: Desk, answered: Answered, log: str) -> Failed | None:
    """Why an implementer's call came to nothing; None where it claims that its story is done."""
    runner = desk.dispatch.runner
    if answered.ended.cancelled:
        return Failed.interrupted(log=log)
    if answered.ended.lost:
        return Failed.infra("the agent's exit status was lost", log)
    hindered = find_hindered(answered, runner)
    if hindered is not None:
        return hindered_failure(hindered, log)
    kind = classify(_call(answered, runner), epoch_s())
    if kind is CallClass.PASSED:
        return None
    if answered.denied is not None:
        reason = f"the agent was stuck at the gate: {answered.denied.text}"
        return Failed(phase=Phase.STUCK, reason=reason, log=log, at_gate=True)
    phase, reason = _explain(kind, answered, desk)
    return Failed(phase=phase, reason=reason, log=log)


def _explain(kind: CallClass, answered: Answered, desk: Desk) -> tuple[Phase, str]:
    said, code = answered.said, answered.ended.code or 0
    match kind:
        case CallClass.TIMEOUT:
            limit = render_duration(desk.dispatch.timeout_s)
            return Phase.TIMEOUT, f"the agent ran longer than its limit of {limit}"
        case CallClass.STALL:
            limit = render_duration(desk.terms.limits.stale_after_s)
            return Phase.STUCK, f"the agent was stuck: for {limit} it did nothing at all"
        case CallClass.CRASH:
            return Phase.CRASH, f"the agent was killed by {_signal_name(-code)}"
        case CallClass.BLOCKED:
            return Phase.AGENT_BLOCKED, "the agent said BLOCKED"
        case CallClass.NO_SIGNAL:
            return Phase.NO_SIGNAL, f"the agent said {said.signal}" if said.signal else said.why
        case _:
            return Phase.AGENT_FAILED, _why_failed(said, code)


def find_hindered(answered: Answered, runner: Manifest) -> Hindered | None:
    """What kept an agent of any role from working, where that ended its call."""
    if runner.name == SHELL or answered.ended.cancelled or answered.ended.lost:
        return None
    found = find_hindrance(_call(answered, runner), epoch_s())
    if found is None:
        return None
    return Hindered(
        runner=runner.name, cause=found.cause, text=found.text, resets_at_s=found.resets_at_s
    )


def hindered_failure(hindered: Hindered, log: str | None) -> Failed:
    """The failure of an attempt whose agent could not work; not charged."""
    passing = hindered.cause in PASSING
    return Failed(
        phase=Phase.INFRA if passing else Phase.INTERRUPTED,
        reason=f"{hindered.runner} {WORDS[hindered.cause]}: {hindered.text}",
        log=log,
        charged=False,
        hindered=hindered,
    )


def _call(answered: Answered, runner: Manifest) -> Call:
    ended = answered.ended
    return Call(
        runner=runner.name,
        program=Path(runner.argv[0]).name if runner.argv else "",
        form=runner.output,
        code=ended.code or 0,
        reading=answered.reading,
        said=answered.said,
        seconds=ended.seconds,
        timed_out=ended.timed_out,
        stalled=ended.stuck,
    )


def _why_failed(said: Said, code: int) -> str:
    if said.signal == "STORY_FAILED":
        return said.why if said.line is None and said.why else "the agent said STORY_FAILED"
    if said.signal == "STORY_PASSED":
        return "the agent said STORY_PASSED, but its output tells of a call that failed"
    return said.why if said.line else f"the agent ended with exit code {code}"


def _signal_name(signum: int) -> str:
    return signal.Signals(signum).name if signum in set(signal.Signals) else str(signum)
