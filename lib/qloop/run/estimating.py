"""What the stories that are left are likely to cost.

Units: United States dollars. Errors: RunnerUnavailable, BadInput for a story without a runner.
"""

from dataclasses import dataclass
from pathlib import Path

from qloop.agents.manifest import SHELL
from qloop.plan.model import Plan, Status, Story
from qloop.run.choosing import Chooser, paid_agents
from qloop.run.config import Config
from qloop.run.prepare import OVER, Wanted
from qloop.state.budget import Estimate, estimate, total
from qloop.state.spending import Call


@dataclass(frozen=True, slots=True)
class StoryEstimate:
    """What one attempt at a story is likely to cost."""

    story: str
    runner: str
    model: str | None
    agents: int
    """Its implementer and its reviewers; none for a story of commands."""
    estimate: Estimate


def estimate_plan(
    plan: Plan, calls: tuple[Call, ...], config: Config, root: Path
) -> list[StoryEstimate]:
    """One attempt at each story that may still run; *calls* are those known so far, in order."""
    chooser = Chooser(Wanted(), config, root)
    left = [one for one in plan.stories if one.status not in OVER and one.status != Status.PASSED]
    return [_of_story(story, chooser, calls) for story in left]


def _of_story(story: Story, chooser: Chooser, calls: tuple[Call, ...]) -> StoryEstimate:
    chosen = chooser.choose(story)
    paid = [one for one in paid_agents(chosen) if one[1] != SHELL]
    whole = total([estimate(calls, *one) for one in paid]) if paid else Estimate(0, True)
    return StoryEstimate(story.id, chosen.runner.name, chosen.model, len(paid), whole)
