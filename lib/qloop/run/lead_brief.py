"""What an agent that leads a wave is told of it."""

from collections.abc import Iterable
from pathlib import Path

from qloop.agents.prompt import render_role
from qloop.plan.model import Plan
from qloop.run.leaders import COORDINATOR
from qloop.run.orders import WaveOrder

ON_PATH = Path("qloop")


def lead_brief(order: WaveOrder, plan: Plan, qloop: Path) -> str:
    """Its prompt; *qloop* is where the command lies."""
    ids = [one.story for one in order.dispatches]
    return render_lead(order.wave, ids, plan, order.terms.place.prd, qloop)


def render_lead(
    wave: str, story_ids: Iterable[str], plan: Plan, prd: str | None, qloop: Path = ON_PATH
) -> str:
    """The same for a wave that was not ordered yet."""
    values = {
        "qloop": str(qloop),
        "wave": wave,
        "stories": "\n".join(_story(plan, one) for one in story_ids),
        "prd": prd or "there is none on this machine",
    }
    return render_role(COORDINATOR, values)


def _story(plan: Plan, story_id: str) -> str:
    story = plan.story(story_id)
    if story is None:
        return f"- {story_id}"
    paths = [path for task in story.tasks for path in task.file_paths]
    text = f"- {story.label}"
    return f"{text} (files: {', '.join(paths)})" if paths else text
