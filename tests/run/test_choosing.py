"""Who works on a story, and who stands in for a runner that pauses."""

from pathlib import Path
from typing import Any

import pytest

from qloop.plan.model import Story
from qloop.run.choosing import Chooser
from qloop.run.config import Config
from qloop.run.prepare import Wanted
from qloop.system.errors import BadInput

TABLES = {name: {"argv": ["sh"]} for name in ("first", "second", "third", "judge")}


def chooser(*paused: str, **settings: Any) -> Chooser:
    """A chooser with four runners, some of them paused."""
    given = {"runner": "first", "model": "m", "runners": TABLES, **settings}
    return Chooser(Wanted(), Config.model_validate(given), Path("/"), frozenset(paused))


@pytest.mark.parametrize(
    ("paused", "expected"),
    [
        ((), ("first", "m")),
        (("second",), ("first", "m")),
        (("first",), ("second", None)),
        (("first", "second"), ("third", None)),
        (("first", "second", "third"), ("first", "m")),
    ],
)
def test_the_first_stand_in_that_does_not_pause_takes_over(
    paused: tuple[str, ...], expected: tuple[str, str | None]
) -> None:
    """With a model of its own: another runner's means nothing to it."""
    chosen = chooser(*paused, fallback=["second", "third"]).choose(Story(id="A-1"))

    assert (chosen.runner.name, chosen.model) == expected


def test_without_fallback_nobody_takes_over() -> None:
    """The story waits for its runner."""
    assert chooser("first").choose(Story(id="A-1")).runners == ("first",)


def test_commands_pause_for_nobody() -> None:
    """The shell runner needs no stand-in."""
    story = Story.model_validate({"id": "A-1", "runner": "shell"})

    assert chooser("shell", fallback="second").choose(story).runners == ("shell",)


def test_reviewers_have_stand_ins_too() -> None:
    """At once where theirs pauses already, else in case that it cannot work."""
    settings: dict[str, Any] = {
        "gates": {"spec_review": True, "quality_review": True},
        "roles": {"spec-reviewer": {"runner": "judge"}},
        "fallback": ["second", "judge"],
    }
    chosen = chooser("first", **settings).choose(Story(id="A-1"))
    spec, quality = chosen.reviewers

    assert chosen.runners == ("second", "judge", "second")
    assert [one.name for one in spec.stand_ins] == ["second"]
    assert [one.name for one in quality.stand_ins] == ["judge"]


def test_a_stand_in_that_there_is_not_is_named() -> None:
    """It is looked for when it is wanted, and before a run starts."""
    with pytest.raises(BadInput, match=r"'nobody' for fallback"):
        chooser("first", fallback="nobody").choose(Story(id="A-1"))


def test_reviewers_are_called_with_the_rights_to_read() -> None:
    """Their runner's own table decides what these are; those who make a change have others."""
    rights = {"read": {"args": ["--look"]}, "least": {"args": ["--edit"]}}
    table = {"argv": ["sh", "{permissions}"], **rights}
    settings: dict[str, Any] = {
        "gates": {"spec_review": True},
        "runners": {"first": table, "second": table},
        "fallback": "second",
    }
    chosen = chooser(**settings).choose(Story(id="A-1"))
    full = chooser(**settings, permissions="full").choose(Story(id="A-1"))
    (reviewer,) = chosen.reviewers

    assert chosen.runner.rights.args == ("--edit",)
    assert reviewer.runner.rights.args == ("--look",)
    assert reviewer.stand_ins[0].rights.args == ("--look",)
    assert full.reviewers[0].runner.rights.args == ("--edit",)
