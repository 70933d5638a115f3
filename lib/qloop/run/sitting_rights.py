"""What an agent that stays may run: its rights are told at its start, and hold for every story."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from qloop.plan.model import Plan, Status
from qloop.run.briefing import checks_of

VERBS = ("next", "done")
LONGEST_BYTES = 60_000
"""How long all commands may be together: rights may be one argument of a command line."""
RULE_BYTES = 20
"""About what a rule adds to its command."""


def may_run(plan: Plan, programs: Path, checks: tuple[str, ...]) -> tuple[str, ...]:
    """The commands by which it asks and hands in, and what judges its story and later ones.

    *programs* is the folder with `qloop`, *checks* are those of the story at hand; of later
    stories' as many as there is room for.
    """
    tools = (
        f"{name} orchestrator {verb}" for name in ("qloop", programs / "qloop") for verb in VERBS
    )
    first = dict.fromkeys((*tools, *checks))
    later = dict.fromkeys(one for one in _later(plan) if one not in first)
    return (*first, *_fitting(later, LONGEST_BYTES - sum(map(_length, first))))


def _later(plan: Plan) -> Iterator[str]:
    for story in plan.stories:
        if story.status != Status.PASSED:
            yield from checks_of(tuple(plan.quality_commands), story)


def _fitting(commands: Iterable[str], room_bytes: int) -> Iterator[str]:
    for one in commands:
        room_bytes -= _length(one)
        if room_bytes < 0:
            return
        yield one


def _length(command: str) -> int:
    return len(json.dumps(command)) + RULE_BYTES
