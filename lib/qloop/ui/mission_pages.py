"""The pages of a mission that people read, as texts: state, checkpoints, budget.

They are rendered from the state and never read back.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from qloop.state.mission import Checkpoint, Mission, PhaseRun
from qloop.state.spending import Spent
from qloop.system.clock import render_duration
from qloop.ui.amounts import render_cost
from qloop.ui.history import first_line, in_one_line

WARN_AT = 0.75
CONFIRM_AT = 0.90


@dataclass(frozen=True, slots=True)
class Blocks:
    """How far the mission's plan is carried out; blocks are its stories."""

    passed: int
    at_work: tuple[str, ...]
    total: int


def count_blocks(document: Mapping[str, Any]) -> Blocks:
    """The blocks of a plan, as its file has them."""
    stories = [one for one in document.get("stories", ()) if isinstance(one, dict)]
    at_work = (str(one.get("id")) for one in stories if one.get("status") == "in_progress")
    passed = sum(one.get("status") == "passed" for one in stories)
    return Blocks(passed, tuple(at_work), len(stories))


def render_state(mission: Mission, spent: Spent, blocks: Blocks | None = None) -> str:
    """STATE.md; *blocks* where there is a plan."""
    sections = (
        ("Phase Progress", _phase_lines(mission)),
        ("Current Position", _position_lines(mission, blocks)),
        ("Active Phase Coordinator", _coordinator_lines(mission, blocks)),
        ("Budget", _budget_lines(mission, spent)),
        ("Checkpoints", _checkpoint_lines(mission)),
        ("Warmth (Accumulated)", ["```yaml", *_warmth_lines(mission), "```"]),
    )
    front = {
        "mission": json.dumps(_first_line(mission.directive), ensure_ascii=False),
        "status": mission.status,
        "autonomy": mission.autonomy,
        "started": mission.started_at,
        "updated_at": mission.updated_at,
    }
    lines = ["---", *(f"{key}: {value}" for key, value in front.items()), "---", ""]
    for title, body in sections:
        lines += [f"## {title}", "", *body, ""]
    return "\n".join(lines)


def render_checkpoints(mission: Mission) -> str:
    """CHECKPOINT.md: the question that waits, then those that were answered."""
    waiting = mission.open_checkpoint
    lines = ["# Checkpoint", ""]
    lines += _question_lines(waiting) if waiting else ["Nothing waits for an answer.", ""]
    answered = [line for one in mission.checkpoints if (line := _answered_line(one))]
    if answered:
        lines += ["## Answered", "", *answered]
    return "\n".join(lines) + "\n"


def _answered_line(one: Checkpoint) -> str:
    if one.answer is None:
        return ""
    said = f"**{one.answer.option}**, {one.answer.by}, {one.answer.at}"
    note = f": {' '.join(one.answer.note.split())}" if one.answer.note.strip() else ""
    return f"- {one.id} ({one.phase}): {first_line(one.question)} — {said}{note}"


def render_budget(mission: Mission, spent_usd: float) -> dict[str, Any]:
    """What budget.json holds."""
    return {
        "limit": mission.limit_usd,
        "currency": "USD",
        "enforcement": "off" if mission.limit_usd is None else "hard",
        "warning_threshold": WARN_AT,
        "confirmation_threshold": CONFIRM_AT,
        "spent": round(spent_usd, 6),
        "remaining": _left(mission, spent_usd),
    }


def _first_line(text: str) -> str:
    return next((line.strip("# ") for line in text.splitlines() if line.strip("# ")), "")


def _phase_lines(mission: Mission) -> list[str]:
    head = ["| Phase | Status | Duration | Notes |", "|-------|--------|----------|-------|"]
    return [*head, *(_phase_row(run) for run in mission.phases)]


def _phase_row(run: PhaseRun) -> str:
    took = render_duration(run.seconds) if run.seconds else "--"
    note = in_one_line(run.note).replace("|", "\\|") or "--"
    return f"| {run.phase} | {run.status} | {took} | {note} |"


def _position_lines(mission: Mission, blocks: Blocks | None) -> list[str]:
    current = mission.current
    lines = [f"**Phase:** {current.phase if current else 'none'}"]
    if blocks is not None:
        lines.append(f"**Block:** {blocks.passed} of {blocks.total} passed")
    return [*lines, f"**Status:** {current.status if current else mission.status}"]


def _coordinator_lines(mission: Mission, blocks: Blocks | None) -> list[str]:
    run = mission.current
    if run is None or run.process is None:
        return ["None is at work."]
    pid = run.process.get("pid")
    lines = [f"- ID: {run.spawn_id}", f"- Spawned: {run.spawned_at}", f"- Process: {pid}"]
    if blocks is not None and blocks.at_work:
        lines.append(f"- At work: {', '.join(blocks.at_work)}")
    return lines


def _budget_lines(mission: Mission, spent: Spent) -> list[str]:
    return [
        "| Metric | Value |",
        "|--------|-------|",
        f"| Spent | {render_cost(spent.usd, spent.guessed_usd)} |",
        f"| Limit | {_usd(mission.limit_usd)} |",
        f"| Remaining | {_usd(_left(mission, spent.usd))} |",
    ]


def _checkpoint_lines(mission: Mission) -> list[str]:
    waiting = mission.open_checkpoint
    if waiting is not None:
        return _question_lines(waiting)
    count = len(mission.checkpoints)
    return [f"None waits; {count} answered." if count else "None so far."]


def _question_lines(one: Checkpoint) -> list[str]:
    asked, *more = one.question.splitlines() or [""]
    return [
        f"**{one.id}** ({one.phase}, {one.type}): {asked}",
        "",
        *(f"- {line.strip()}" for line in more),
        *([""] if more else []),
        *(f"- `{option.id}`: {option.description}" for option in one.options),
        "",
        f"Answer: `qloop answer {one.id} {one.options[0].id}`, "
        f"then `qloop mission resume {one.mission}`",
        "",
    ]


def _warmth_lines(mission: Mission) -> list[str]:
    lines: list[str] = []
    for name, texts in mission.warmth.model_dump().items():
        lines.append(f"{name}:" if texts else f"{name}: []")
        lines += [f"  - {json.dumps(text, ensure_ascii=False)}" for text in texts]
    return lines


def _left(mission: Mission, spent_usd: float) -> float | None:
    return None if mission.limit_usd is None else round(max(0.0, mission.limit_usd - spent_usd), 6)


def _usd(amount: float | None) -> str:
    return "none" if amount is None else render_cost(amount)
