"""Whether each of an intent's team is asked by itself, one agent walks for all, or code does it.

Pure: it goes by what a person set, and by what the agents of the members can do.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from qloop.run.readers import Voice
from qloop.state.phases import TeamSetting

SET = "so it is set"


class Shape(StrEnum):
    """How the members that think, specify and plan are asked."""

    EACH = "each"
    """A fresh call for each."""
    ONE = "one"
    """One agent, turn after turn."""
    NONE = "none"
    """Nobody: code does their work."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The shape of a team, and why."""

    shape: Shape
    told: str
    """A sentence for people."""
    is_autonomous: bool = False
    """Whether nobody set it."""
    lead: str = ""
    """The role whose agent walks, where one does."""


def choose_shape(setting: TeamSetting, voices: Mapping[str, Voice | None]) -> Chosen:
    """The shape for members by role, each with who would be asked; None is nobody."""
    asked = {role: one for role, one in voices.items() if one is not None}
    if setting == "none":
        return Chosen(Shape.NONE, f"team: code does each member's work: {SET}")
    if not asked:
        return Chosen(Shape.NONE, "team: code does each member's work: no agent is set", True)
    lead, voice = next(iter(asked.items()))
    walks = f"team: one agent ({voice.runner}) walks from brainstorming to plan"
    if setting == "one":
        return Chosen(Shape.ONE, f"{walks}: {SET}", lead=lead)
    names = ", ".join(dict.fromkeys(one.runner for one in asked.values()))
    each = f"team: each member its own agent call ({names})"
    if setting == "each":
        return Chosen(Shape.EACH, f"{each}: {SET}")
    if len(asked) < len(voices) or len({(one.runner, one.model) for one in asked.values()}) > 1:
        return Chosen(Shape.EACH, f"{each}: their roles are set apart", True)
    if voice.has_helpers:
        return Chosen(Shape.EACH, f"{each}: it has sub-agents", True)
    return Chosen(Shape.ONE, f"{walks}: it has no sub-agents", True, lead)
