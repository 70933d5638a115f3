"""Warmth in EXECUTION: what the mission knows goes into every prompt, what runs taught comes up.

Pure. Prompts have the plan's `codebasePatterns`; that is the way down.
"""

from collections.abc import Sequence

from qloop.mission.phase_order import MissionContext
from qloop.plan.model import Plan, Story
from qloop.run.briefing import NOBODYS
from qloop.state.phases import Warmth

MOST_GOTCHAS = 12
LONGEST = 200


def told_down(context: MissionContext) -> tuple[str, ...]:
    """What every prompt is told of the mission, a sentence each."""
    warmth = context.warmth
    return (
        *(f"Must hold: {one}" for one in context.constraints),
        *(f"The person wants: {one}" for one in warmth.user_preferences),
        *warmth.patterns,
        *(f"Watch out: {one}" for one in warmth.gotchas),
    )


def with_patterns(known: Sequence[object], told: Sequence[str]) -> list[object]:
    """A plan's patterns, and those of *told* that it does not have yet."""
    return [*known, *(one for one in dict.fromkeys(told) if one not in known)]


def told_up(plan: Plan, down: Sequence[str]) -> Warmth:
    """What the plan's runs taught, without what they were told (*down*)."""
    learned = [one for one in plan.codebase_patterns if isinstance(one, str)]
    learned += [text for entry in plan.progress if (text := _learned(entry))]
    patterns = [one for one in dict.fromkeys(map(_short, learned)) if one and one not in down]
    gotchas = dict.fromkeys(one for story in plan.stories for one in gotchas_of(story))
    return Warmth(patterns=tuple(patterns), gotchas=tuple(gotchas)[-MOST_GOTCHAS:])


def gotchas_of(story: Story) -> tuple[str, ...]:
    """Why attempts at a story failed at their own fault, each reason once."""
    found = (
        f"{story.id} {one.phase}: {_short(one.reason or '')}"
        for one in story.retries.failure_log
        if one.phase not in NOBODYS
    )
    return tuple(dict.fromkeys(found))


def _learned(entry: object) -> str:
    """What an entry of the plan's progress says that was learned; empty for most."""
    found = entry.get("learnings") if isinstance(entry, dict) else None
    return found if isinstance(found, str) else ""


def _short(text: str) -> str:
    """The first line, cut where it is long."""
    line = next((one.strip() for one in text.splitlines() if one.strip()), "")
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1].rstrip()}…"
