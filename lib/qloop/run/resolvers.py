"""Which agent solves a story's conflicts with the line, where `on_conflict` asks for one.

Errors: RunnerUnavailable, BadInput.
"""

from pathlib import Path

from qloop.agents.roles import load_role
from qloop.plan.model import Story
from qloop.run.config import Config
from qloop.run.orders import Resolver
from qloop.run.prepare import Wanted
from qloop.run.reviewers import find_runner
from qloop.run.routing import route_role

RESOLVER = "merge-resolver"
MERGES = 2
"""How often it is asked for one attempt: the line may move on, and conflict anew."""


def pick_resolver(story: Story, wanted: Wanted, config: Config, root: Path) -> Resolver | None:
    """The agent that merges the story's next attempt with the line, if it comes to that."""
    if config.on_conflict != "resolve":
        return None
    tier = load_role(RESOLVER).tier
    route = route_role(RESOLVER, wanted.wish, config, tier, story.retries.attempts)
    asked = f'on_conflict = "resolve" asks for a {RESOLVER}'
    return Resolver(
        runner=find_runner(RESOLVER, route.runner, config, root, asked),
        model=route.model,
        timeout_s=wanted.timeout_s if wanted.timeout_s is not None else config.timeout,
    )
