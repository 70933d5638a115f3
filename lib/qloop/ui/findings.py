"""What the waves' ends showed, as the plan keeps it: sentences, or objects of a check. Pure."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from qloop.plan.model import CompletedWave, Plan
from qloop.state.journal import Event
from qloop.system.counting import counted

MOST_NAMED = 5


def findings_about(plan: Plan, story_id: str) -> list[dict[str, Any]]:
    """Those that concern a story: `wave`, `text`, and what else a check told, oldest first."""
    return [
        {"wave": wave.id, **one}
        for wave in plan.execution.completed_waves
        for one in map(_as_object, wave.findings)
        if story_id in _stories(wave, one)
    ]


def finding_text(finding: Any) -> str:
    """A finding in words, whoever wrote it."""
    if isinstance(finding, str):
        return finding
    if isinstance(finding, dict) and isinstance(finding.get("text"), str):
        return str(finding["text"])
    return json.dumps(finding, ensure_ascii=False)


def count_findings(plan: Plan, events: Sequence[Event]) -> str:
    """How much the checks found in the waves of a run, and where to read it; empty for nothing."""
    waves = {event.wave for event in events if event.wave is not None}
    found = [
        (wave, one)
        for wave in plan.execution.completed_waves
        if wave.id in waves
        for one in wave.findings
        if isinstance(one, dict)
    ]
    if not found:
        return ""
    stories = list(dict.fromkeys(name for wave, one in found for name in _stories(wave, one)))
    ways = ", ".join(f"qloop show {name}" for name in stories[:MOST_NAMED])
    more = ", …" if len(stories) > MOST_NAMED else ""
    return f"{counted(len(found), 'finding')} of the checks at the waves' ends: {ways}{more}"


def finding_lines(found: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Findings for people, one each, under what found it."""
    for one in found:
        head = " ".join(str(one[name]) for name in ("wave", "check") if one.get(name) is not None)
        failed = f" ({one['failed']} did not land for it)" if one.get("failed") else ""
        first, *rest = finding_text(one).splitlines() or [""]
        yield f"  {head}: {first}{failed}"
        yield from (f"    {line}" for line in rest)


def _as_object(finding: Any) -> dict[str, Any]:
    return finding if isinstance(finding, dict) else {"text": finding_text(finding)}


def _stories(wave: CompletedWave, finding: dict[str, Any]) -> list[str]:
    """Those that it names; all of its wave where it names none."""
    named = finding.get("stories")
    return [str(one) for one in named] if isinstance(named, list) and named else wave.stories
