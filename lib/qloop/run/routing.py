"""Routing: which runner an agent gets, and which model. Pure.

For an implementer, what is said nearer to the story wins: the story, then the command line, then
`[roles.implementer]`, then the settings for all. Other roles are not the story's work: for them
`[roles.NAME]` wins, then the command line, then the settings for all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from qloop.agents.manifest import AUTO
from qloop.agents.roles import IMPLEMENTER, Tier
from qloop.plan.model import Story
from qloop.run.config import Config


@dataclass(frozen=True, slots=True)
class Route:
    """Where a call goes: a runner's name, or `auto`, and the model; None is the runner's own."""

    runner: str
    model: str | None


@dataclass(frozen=True, slots=True)
class Wish:
    """What is said in one place; the models from the smallest to the largest."""

    runner: str | None = None
    models: tuple[str, ...] = ()
    own: bool = False
    """Where it names another runner than the places after it, their models are not for that."""

    @classmethod
    def of(cls, runner: str | None, model: str | None) -> Self:
        """What a place says that knows of one model only."""
        return cls(runner, (model,) if model else ())


def route_implementer(story: Story, flags: Wish, config: Config, tier: Tier) -> Route:
    """Where the next attempt at a story goes; *flags* is what the command line says."""
    own = Wish.of(story.runner, story.model)
    wishes = (own, flags, _of_role(config, IMPLEMENTER), _of_all(config))
    return choose(wishes, tier, story.retries.attempts)


def route_role(role: str, flags: Wish, config: Config, tier: Tier, charged: int = 0) -> Route:
    """Where a call of any other role goes; *charged* are the attempts charged to its story."""
    return choose((_of_role(config, role), flags, _of_all(config)), tier, charged)


def choose(wishes: Sequence[Wish], tier: Tier, charged: int) -> Route:
    """The route by wishes in the order of their weight."""
    runner = next((wish.runner for wish in wishes if wish.runner), AUTO)
    for number, wish in enumerate(wishes):
        if wish.models:
            return Route(runner, pick_model(wish.models, tier, charged))
        others = {later.runner for later in wishes[number + 1 :] if later.runner}
        if wish.own and wish.runner == runner and others - {runner}:
            break
    return Route(runner, None)


def pick_model(models: Sequence[str], tier: Tier, charged: int) -> str:
    """One of several models, the smallest first: by the role's tier, else by attempts charged."""
    if tier == "small":
        return models[0]
    return models[-1] if tier == "large" else models[min(charged, len(models) - 1)]


def _of_role(config: Config, role: str) -> Wish:
    table = config.roles.get(role)
    return Wish() if table is None else replace(Wish.of(table.runner, table.model), own=True)


def _of_all(config: Config) -> Wish:
    return (
        Wish(config.runner, config.models)
        if config.models
        else Wish.of(config.runner, config.model)
    )
