"""A mission for people at a terminal, and as JSON."""

from pathlib import Path
from typing import Any

from qloop.state.mission import Checkpoint, Mission
from qloop.system.clock import render_duration
from qloop.ui import console


def mission_json(mission: Mission, folder: Path, spent_usd: float) -> dict[str, Any]:
    """All that is known of it."""
    waiting = mission.open_checkpoint
    return {
        **mission.model_dump(mode="json"),
        "folder": str(folder),
        "spent_usd": spent_usd,
        "open_checkpoint": waiting and waiting.id,
    }


def show_question(one: Checkpoint) -> None:
    """A question and its answers."""
    console.say(f"STOP {one.id} {one.phase}: {one.question}")
    width = max(len(option.id) for option in one.options)
    for option in one.options:
        console.say(f"  {option.id:<{width}}  {option.description}")
    console.say(f"answer with: qloop answer {one.id} {one.options[0].id}")


def show_status(mission: Mission, folder: Path, spent_usd: float) -> None:
    """Where it stands, phase by phase."""
    console.result(f"mission {mission.id}--{mission.slug}  {mission.status}  {mission.autonomy}")
    console.result(f"folder   {folder}")
    console.result(f"budget   {_budget(mission, spent_usd)}")
    console.table(
        ("phase", "status", "time", "note"),
        [
            (run.phase, run.status, render_duration(run.seconds) if run.seconds else "", run.note)
            for run in mission.phases
        ],
    )
    if mission.open_checkpoint is not None:
        show_question(mission.open_checkpoint)


def show_summary(mission: Mission, spent_usd: float) -> None:
    """What a mission that is over came to."""
    show_status_line = f"mission {mission.id} {mission.status}"
    console.result(show_status_line)
    console.table(
        ("phase", "status", "time", "note"),
        [
            (run.phase, run.status, render_duration(run.seconds) if run.seconds else "", run.note)
            for run in mission.phases
        ],
    )
    total = sum(run.seconds for run in mission.phases)
    commits = sum(run.metrics.commits for run in mission.phases)
    console.result(f"total {render_duration(total)}, {commits} commits, ${spent_usd:.2f}")


def _budget(mission: Mission, spent_usd: float) -> str:
    limit = "no limit" if mission.limit_usd is None else f"of ${mission.limit_usd:.2f}"
    return f"${spent_usd:.2f} {limit}"
