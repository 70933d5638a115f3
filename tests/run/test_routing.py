"""Which runner and which model an agent gets, by every place that can say so."""

from typing import Any

import pytest

from qloop.agents.roles import Tier
from qloop.plan.model import Story
from qloop.run.config import Config
from qloop.run.routing import Route, Wish, pick_model, route_implementer, route_role

ROLES = {"implementer": {"runner": "roles"}, "spec-reviewer": {"runner": "roles"}}
PLACES: dict[str, dict[str, Any]] = {
    "story": {"runner": "story", "model": "m-story"},
    "flag": {"runner": "flag", "model": "m-flag"},
    "roles": {"runner": "roles", "model": "m-roles"},
    "all": {"runner": "all", "model": "m-all"},
}

IMPLEMENTERS = [
    ("story flag roles all", "story", "m-story"),
    ("flag roles all", "flag", "m-flag"),
    ("roles all", "roles", "m-roles"),
    ("all", "all", "m-all"),
    ("", "auto", None),
]
OTHERS = [
    ("story flag roles all", "roles", "m-roles"),
    ("story flag all", "flag", "m-flag"),
    ("story all", "all", "m-all"),
    ("story", "auto", None),
]


def said(places: str, name: str) -> dict[str, Any]:
    """What a place says, if it is among *places*."""
    return PLACES[name] if name in places.split() else {}


def config_of(places: str, role: str) -> Config:
    """Settings for all and for a role, where *places* has them."""
    table = said(places, "roles")
    return Config.model_validate({**said(places, "all"), "roles": {role: table} if table else {}})


@pytest.mark.parametrize(("places", "runner", "model"), IMPLEMENTERS)
def test_for_an_implementer_what_is_nearer_to_the_story_wins(
    places: str, runner: str, model: str | None
) -> None:
    """The story, the command line, the role's table, the settings for all."""
    story = Story(id="A-1", **said(places, "story"))
    flags = Wish.of(said(places, "flag").get("runner"), said(places, "flag").get("model"))
    config = config_of(places, "implementer")

    assert route_implementer(story, flags, config, "standard") == Route(runner, model)


@pytest.mark.parametrize(("places", "runner", "model"), OTHERS)
def test_for_other_roles_their_table_wins(places: str, runner: str, model: str | None) -> None:
    """The role's table, the command line, the settings for all; the story says nothing of it."""
    flags = Wish.of(said(places, "flag").get("runner"), said(places, "flag").get("model"))
    config = config_of(places, "spec-reviewer")

    assert route_role("spec-reviewer", flags, config, "large") == Route(runner, model)


@pytest.mark.parametrize(
    ("settings", "flags", "expected"),
    [
        ({"model": "m"}, Wish(runner="flag"), Route("flag", "m")),
        ({"runner": "all", "model": "m"}, Wish(), Route("roles", None)),
        ({"runner": "all"}, Wish(models=("m",)), Route("roles", None)),
        ({"runner": "roles", "model": "m"}, Wish(), Route("roles", "m")),
        ({"model": "m"}, Wish(), Route("roles", "m")),
    ],
)
def test_a_role_with_a_runner_of_its_own_is_not_given_anothers_model(
    settings: dict[str, Any], flags: Wish, expected: Route
) -> None:
    """The model that stands beside another runner's name is for that one."""
    tables = {} if expected.runner == "flag" else ROLES
    config = Config.model_validate({**settings, "roles": tables})

    assert route_role("spec-reviewer", flags, config, "standard") == expected


@pytest.mark.parametrize(
    ("tier", "charged", "model"),
    [
        ("standard", 0, "s"),
        ("standard", 1, "m"),
        ("standard", 2, "l"),
        ("standard", 9, "l"),
        ("small", 9, "s"),
        ("large", 0, "l"),
    ],
)
def test_of_several_models_the_charged_attempts_or_the_tier_choose(
    tier: Tier, charged: int, model: str
) -> None:
    """Each charged attempt takes the next larger one, and the last stays."""
    assert pick_model(("s", "m", "l"), tier, charged) == model


def test_a_storys_retries_ask_for_larger_models() -> None:
    """What was charged counts, not what was dispatched."""
    story = Story.model_validate({"id": "A-1", "retries": {"attempts": 1}})
    config = Config(models=("small", "large"))

    assert route_implementer(story, Wish(), config, "standard").model == "large"
    assert route_role("planner", Wish(), config, "standard").model == "small"
