"""How far the attempts at work have come, from the journal and the names of their logs. Pure.

The journal tells what ended, never what began: a gate in progress is known by its log, and an
attempt that waits for its turn to land by having been judged without having landed.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from qloop.agents.readable import readable_name
from qloop.agents.roles import IMPLEMENTER
from qloop.plan.model import Plan, Story
from qloop.state.journal import Event, EventKind
from qloop.ui.delegates import APPLIED

AGENT_LOG = "output.log"
TEST_GATE = "test"
REVIEWER = "-reviewer"
REVIEWERS = (f"spec{REVIEWER}", f"quality{REVIEWER}")
RESOLVER = "merge-resolver"
DELEGATES = ("qa", "worker")
_MERGE_LOG = re.compile(rf"{RESOLVER}(?:-(\d+))?\.log")
_REVIEW_LOG = re.compile(rf"({'|'.join(REVIEWERS)})(?:-(\d+))?\.log")


class Stage(StrEnum):
    """Where an attempt is."""

    SET_UP = "set-up"
    DELEGATED = "handed down"
    """Another agent looks at what failed before."""
    AGENT = "agent"
    JUDGED = "being judged"
    """Its gates run."""
    REVIEWED = "being reviewed"
    """Its commands are green; another agent judges it."""
    QUEUED = "queued"
    """Its evidence is green; it waits for its turn, or has it and is tested."""
    MERGED = "being merged"
    """It conflicts with what landed; another agent merges the two."""
    TESTED = "tested"
    LANDED = "landed"
    ENDING = "ending"
    """It failed; that is not settled yet."""


@dataclass(frozen=True, slots=True)
class Work:
    """An attempt that is not settled."""

    story: str
    number: int
    wave: str | None
    runner: str
    started: str
    stage: Stage
    since: int
    """The number of the event that brought it to its stage."""
    reviewer: str = ""
    """The role of the agent that judges or merges it, or did so last."""

    @property
    def agent(self) -> str:
        """Who is at work: the runner that makes it, or the role that judges or merges it."""
        others = (Stage.DELEGATED, Stage.REVIEWED, Stage.MERGED)
        return self.reviewer if self.stage in others else self.runner


@dataclass(frozen=True, slots=True)
class Gate:
    """A command that judges an attempt, or sets it up."""

    kind: str
    number: int
    total: int
    command: str
    log: str

    @property
    def label(self) -> str:
        """The gate for people, on one line."""
        place = f" {self.number}/{self.total}" if self.total > 1 else ""
        return f"{self.kind}{place}: {short_command(self.command)}"


def find_works(events: Iterable[Event]) -> dict[str, Work]:
    """The attempts of one run that are not settled, by story; *events* are that run's, in order."""
    works: dict[str, Work] = {}
    for event in events:
        if event.event is EventKind.RUN_ENDED:
            works.clear()
        elif event.event is EventKind.WAVE_ENDED:
            gone = [name for name, work in works.items() if work.wave == event.wave]
            for name in gone:
                del works[name]
        elif event.story is not None and event.attempt is not None:
            _take(works, event, event.story, event.attempt)
    return works


def find_gate(plan: Plan, story: Story, stage: Stage, logs: Collection[str]) -> Gate | None:
    """The command that runs for an attempt at *stage*: the last one that has a log."""
    verifying = [*(item for task in story.tasks for item in task.commands), *story.verify]
    kinds: dict[Stage, list[tuple[str, list[str]]]] = {
        Stage.SET_UP: [("setup", plan.setup_commands)],
        Stage.JUDGED: [("quality", plan.quality_commands), ("verify", verifying)],
    }
    if stage is Stage.QUEUED and plan.test_command and f"{TEST_GATE}.log" in logs:
        return Gate(TEST_GATE, 1, 1, plan.test_command, f"{TEST_GATE}.log")
    for kind, commands in kinds.get(stage, ()):
        for number in range(len(commands), 0, -1):
            if f"{kind}-{number}.log" in logs:
                command = commands[number - 1]
                return Gate(kind, number, len(commands), command, f"{kind}-{number}.log")
    return None


def log_of(plan: Plan, work: Work, logs: Collection[str]) -> str | None:
    """The name of the log that tells what an attempt does now; None where there is none."""
    story = plan.story(work.story)
    gate = find_gate(plan, story, work.stage, logs) if story is not None else None
    if gate is not None:
        return gate.log
    if work.stage is Stage.DELEGATED:
        return next((one for one in _logs_of(work.reviewer) if one in logs), None)
    newest = {Stage.REVIEWED: _newest_review, Stage.MERGED: _newest_merge}.get(work.stage)
    name = newest(logs) if newest is not None else AGENT_LOG
    names = (readable_name(name), name) if name is not None else ()
    return next((one for one in names if one in logs), None)


def _logs_of(role: str) -> tuple[str, str]:
    """The logs of a role that is called once for an attempt, the one for people first."""
    return readable_name(f"{role}.log"), f"{role}.log"


def short_command(command: str) -> str:
    """A command's first line that does something, with a mark where more follows."""
    lines = [line.strip() for line in command.splitlines()]
    doing = [line for line in lines if line and not line.startswith("#")] or [command.strip()]
    return doing[0] if len(doing) == 1 else f"{doing[0]} …"


def _take(works: dict[str, Work], event: Event, story: str, number: int) -> None:
    if event.event is EventKind.ATTEMPT_STARTED:
        runner = str(event.data.get("runner") or "agent")
        works[story] = Work(
            story, number, event.wave, runner, event.ts, Stage.SET_UP, since=event.seq
        )
        return
    work = works.get(story)
    if work is None or work.number != number:
        return
    if event.event is EventKind.STORY_SETTLED:
        del works[story]
        return
    stage = _stage_after(event)
    if stage is not None and stage is not work.stage:
        work = replace(work, stage=stage, since=event.seq)
    if event.event is EventKind.AGENT_STARTED and not is_makers(event.data):
        work = replace(work, reviewer=str(event.data.get("role")))
    works[story] = work


def _stage_after(event: Event) -> Stage | None:
    """Where an event of an attempt brings it; None where it stays."""
    data = event.data
    match event.event:
        case EventKind.AGENT_STARTED:
            return _stage_of_agent(data)
        case EventKind.AGENT_ENDED:
            return _stage_after_agent(data)
        case EventKind.GUARD_BREACHED:
            return Stage.ENDING
        case EventKind.GATE_ENDED:
            return _stage_after_gate(data)
        case EventKind.REVIEW_ENDED | EventKind.MERGE_ENDED | EventKind.DELEGATE_ENDED:
            return _stage_after_others(event)
        case EventKind.STORY_LANDED:
            return Stage.LANDED
        case _:
            return None


def _stage_after_others(event: Event) -> Stage | None:
    """Where agents bring an attempt that did not make it."""
    data = event.data
    if event.event is EventKind.DELEGATE_ENDED:
        return Stage.JUDGED if data.get("outcome") == APPLIED else None
    if event.event is EventKind.MERGE_ENDED:
        return Stage.QUEUED if data.get("solved") else Stage.ENDING
    if "review" not in data:
        return None
    return Stage.QUEUED if _all_passed(data.get("review")) else Stage.ENDING


def is_makers(data: Mapping[str, object]) -> bool:
    """Whether an agent's event is about the one that makes the change, not one that judges it."""
    return data.get("role") in (None, IMPLEMENTER)


def _stage_of_agent(data: Mapping[str, object]) -> Stage | None:
    if is_makers(data):
        return Stage.AGENT
    role = str(data.get("role"))
    if role == RESOLVER:
        return Stage.MERGED
    if role in DELEGATES:
        return Stage.DELEGATED
    return Stage.REVIEWED if role.endswith(REVIEWER) else None


def _stage_after_gate(data: Mapping[str, object]) -> Stage | None:
    if not data.get("green"):
        return Stage.ENDING
    return Stage.TESTED if data.get("gate") == TEST_GATE else None


def _stage_after_agent(data: Mapping[str, object]) -> Stage | None:
    if not is_makers(data):
        return None  # what came of it is told by itself
    claims = data.get("signal") == "STORY_PASSED" and data.get("code") == 0
    ended = data.get("timed_out") or data.get("stuck")
    return Stage.JUDGED if claims and not ended else Stage.ENDING


def _newest_review(logs: Collection[str]) -> str | None:
    """The log of the reviewer that was started last: quality comes after spec, `-2` after none."""
    found = [
        (REVIEWERS.index(match[1]), int(match[2] or 1), name)
        for name in logs
        if (match := _REVIEW_LOG.fullmatch(name)) is not None
    ]
    return max(found)[2] if found else None


def _newest_merge(logs: Collection[str]) -> str | None:
    found = [
        (int(match[1] or 1), match[0]) for name in logs if (match := _MERGE_LOG.fullmatch(name))
    ]
    return max(found)[1] if found else None


def _all_passed(review: object) -> bool:
    parts: Sequence[object] = list(review.values()) if isinstance(review, dict) else []
    return all(isinstance(part, dict) and part.get("status") == "passed" for part in parts)
