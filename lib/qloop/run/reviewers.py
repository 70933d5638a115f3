"""Which agents review a story: as `[gates]` asks, with the runners and models of their roles.

Errors: RunnerUnavailable, BadInput.
"""

from pathlib import Path

from qloop.agents.manifest import Manifest
from qloop.agents.roles import load_role
from qloop.plan.model import Story
from qloop.run.config import Config
from qloop.run.config_tables import Gates
from qloop.run.orders import Reviewer
from qloop.run.prepare import Wanted, find_agent
from qloop.run.review_brief import QUALITY, SPEC
from qloop.run.routing import route_role
from qloop.system.errors import RunnerUnavailable

TRIES = 2
"""How often a reviewer is asked whose answer cannot be used."""


def pick_reviewers(
    story: Story, wanted: Wanted, config: Config, root: Path
) -> tuple[Reviewer, ...]:
    """The reviewers of a story's next attempt, in the order in which they judge."""
    return tuple(_pick(role, story, wanted, config, root) for role in _roles(config.gates))


def most_calls(reviewer: Reviewer) -> int:
    """How many agents may be asked for one review, with those who stand in."""
    return TRIES * (1 + len(reviewer.stand_ins))


def _roles(gates: Gates) -> list[str]:
    asked = {SPEC: gates.spec_review, QUALITY: gates.quality_review}
    return [role for role, is_asked in asked.items() if is_asked]


def _pick(role: str, story: Story, wanted: Wanted, config: Config, root: Path) -> Reviewer:
    tier = load_role(role).tier
    route = route_role(role, wanted.wish, config, tier, story.retries.attempts)
    return Reviewer(
        role=role,
        runner=find_runner(role, route.runner, config, root, f"[gates] asks for a {role}"),
        model=route.model,
        timeout_s=wanted.timeout_s if wanted.timeout_s is not None else config.timeout,
    )


def find_runner(role: str, name: str, config: Config, root: Path, asked: str) -> Manifest:
    """The runner of that name for a role; *asked* is the setting that asks for it, in words."""
    found = find_agent(name, f"the {role}", config, root)
    if found is None:
        raise RunnerUnavailable(
            f"{asked}, and no agent command line is set up",
            where="qloop.toml",
            fix=f"name one in [roles.{role}], or do not ask for it",
        )
    return found
