"""A mission on standard output: where it stands, what waits, what it came to; and as JSON."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.text import Text

from qloop.state.mission import Checkpoint, Mission, MissionStatus
from qloop.state.mission_store import as_it_stands
from qloop.state.phases import PhaseName, PhaseStatus
from qloop.state.spending import Spent
from qloop.system.clock import render_duration
from qloop.system.counting import counted
from qloop.ui import console
from qloop.ui.history import in_one_line
from qloop.ui.mission_panel import draw_panel, draw_question, render_money

WIDTH = 100
DOTS = 16


def mission_json(mission: Mission, folder: Path, spent: Spent) -> dict[str, Any]:
    """All that is known of it."""
    waiting = mission.open_checkpoint
    return {
        **mission.model_dump(mode="json"),
        "folder": str(folder),
        "spent_usd": spent.usd,
        "spent_estimated_usd": spent.guessed_usd,
        "open_checkpoint": waiting and waiting.id,
    }


def show_question(one: Checkpoint) -> None:
    """A question and its answers, on standard error."""
    for row in draw_question(one, WIDTH):
        console.say(console.printable(row.plain))


def show_status(mission: Mission, folder: Path, spent: Spent) -> None:
    """Where it stands, phase by phase, and how that was chosen."""
    stands = as_it_stands(mission)
    _show(draw_panel(stands, spent, (), WIDTH, None))
    console.result("")
    if stands is not mission:
        console.result(f"its process is gone; go on with: qloop mission resume {mission.id}")
    console.result(f"size    {mission.triage.complexity}: {'; '.join(mission.triage.reasons)}")
    console.result(f"folder  {folder}")


def show_summary(mission: Mission, spent: Spent, branch: str | None) -> None:
    """What a mission that is over came to, and where to look."""
    console.result(f"mission {mission.id}--{mission.slug} {mission.status}")
    for run in mission.phases:
        took = render_duration(run.seconds) if run.seconds else str(run.status)
        dots = "." * (DOTS - len(run.phase))
        console.result(
            console.printable(f"  {run.phase} {dots} {took:<8} {in_one_line(run.note)}".rstrip())
        )
    execution = mission.phase(PhaseName.EXECUTION)
    total = render_duration(sum(run.seconds for run in mission.phases))
    commits = counted(execution.metrics.commits, "commit")
    agents = counted(sum(run.metrics.agents_spawned for run in mission.phases), "agent")
    console.result(f"total {total}, {commits}, {agents}, {render_money(mission, spent)}")
    if mission.status is MissionStatus.COMPLETED and branch is not None:
        text = f"what landed: git log {branch}; take it into your branch: git merge {branch}"
        console.result(console.printable(text))
    refined = mission.phase(PhaseName.REFINEMENT)
    if refined.status is PhaseStatus.COMPLETE and refined.outputs:
        console.result(f"what to improve: {refined.outputs[0].path} in the mission's folder")


def _show(rows: Iterable[Text]) -> None:
    for row in rows:
        console.result(console.printable(row.plain.rstrip()))
