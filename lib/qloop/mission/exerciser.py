"""The end-to-end exerciser: flows from one end to the other, by the commands that they are.

Declared in qloop.toml; where none are, what verifies the stories that have passed is tried.
Errors: GateCancelled, GateLost.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from qloop.plan.model import Plan, Status
from qloop.run.config_refinement import Refinement
from qloop.run.gates import TAIL_BYTES, GateResult, Room, numbered, run_named
from qloop.state.refinement import Finding, FlowResult, Flows, Place, Severity
from qloop.system.logged import read_tail

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_FROM_PLAN = "no flows are declared, so these are the stories' own checks"
_NONE = "no flows are declared, and no story that has passed has a command that verifies it"


@dataclass(frozen=True, slots=True)
class Flow:
    """Commands that somebody's way through the project is made of."""

    name: str
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The flows to try, and what is to be said of the choice."""

    flows: tuple[Flow, ...]
    notes: tuple[str, ...] = ()


def choose_flows(settings: Refinement, plan: Plan) -> Choice:
    """The declared flows, else one for each story that has passed and can be verified."""
    if settings.flows:
        return Choice(tuple(Flow(one.name, one.commands) for one in settings.flows))
    own = tuple(
        Flow(story.id, tuple(story.verify))
        for story in plan.stories
        if story.verify and story.status is Status.PASSED
    )
    return Choice(own, (_FROM_PLAN if own else _NONE,))


def exercise(
    choice: Choice, room: Room, clean: Callable[[], None], tell: Callable[[str], None]
) -> Flows:
    """Try each flow to its first red command; *clean* is called before each."""
    results: list[FlowResult] = []
    findings: list[Finding] = []
    for number, flow in enumerate(choice.flows, start=1):
        tell(f"e2e-exerciser tries {flow.name}")
        clean()
        logs = room.logs / f"{number:02d}-{_UNSAFE.sub('-', flow.name).strip('-')}"
        logs.mkdir(parents=True, exist_ok=True)
        ran = run_named(replace(room, logs=logs), numbered("step", flow.commands))
        results.append(_result(flow, ran, room.logs))
        if not ran[-1].green:
            findings.append(_finding(flow, ran[-1], results[-1]))
    return Flows(results=tuple(results), findings=tuple(findings), notes=choice.notes)


def not_tried(choice: Choice, why: str) -> Flows:
    """The same flows where none can be tried."""
    results = tuple(FlowResult(name=flow.name, green=False, line=why) for flow in choice.flows)
    return Flows(results=results, notes=choice.notes)


def _result(flow: Flow, ran: Sequence[GateResult], folder: Path) -> FlowResult:
    last = ran[-1]
    seconds = round(sum(one.seconds for one in ran), 3)
    log = str(last.log.relative_to(folder))
    return FlowResult(name=flow.name, green=last.green, line=last.line, log=log, seconds=seconds)


def _finding(flow: Flow, red: GateResult, result: FlowResult) -> Finding:
    return Finding(
        severity=Severity.CRITICAL,
        source="flow",
        rule="flow",
        text=f"{flow.name}: {result.line}",
        places=(Place(what=flow.name),),
        evidence=read_tail(red.log, TAIL_BYTES).strip(),
        check=flow.commands,
    )
