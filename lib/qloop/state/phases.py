"""The words of a mission that every room shares: phases, what becomes of them, autonomy, warmth."""

from enum import StrEnum
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict

TeamSetting = Literal["auto", "each", "one", "none"]
"""How the members of an intent's team are asked: each by a call of its own, all by one agent, or
none; `auto`: by what their agents can do."""


class PhaseName(StrEnum):
    """The phases of a mission, in their order."""

    RECON = "RECON"
    PLANNING = "PLANNING"
    EXECUTION = "EXECUTION"
    REFINEMENT = "REFINEMENT"


class PhaseStatus(StrEnum):
    """Where a phase stands."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    CHECKPOINT = "checkpoint"
    FAILED = "failed"
    COMPLETE = "complete"
    SKIPPED = "skipped"


class Autonomy(StrEnum):
    """How much a mission asks."""

    AUTOPILOT = "AUTOPILOT"
    """Only where nothing else is right: a failure, a spent budget."""
    GUIDED = "GUIDED"
    """Also for the plan, and at the end of each phase."""
    HANDS_ON = "HANDS-ON"
    """Also at the end of each wave."""

    @classmethod
    def of_word(cls, word: str) -> Self:
        """The autonomy that a flag names: autopilot, guided or hands-on."""
        return cls(word.upper())


class Warmth(BaseModel):
    """What a mission has learned, for all that comes after."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    patterns: tuple[str, ...] = ()
    """How things are done in this repository."""
    gotchas: tuple[str, ...] = ()
    """What went wrong, or would."""
    user_preferences: tuple[str, ...] = ()

    def merged(self, other: "Warmth") -> "Warmth":
        """Both, the older first, each thing once."""
        return Warmth(
            patterns=_once(*self.patterns, *other.patterns),
            gotchas=_once(*self.gotchas, *other.gotchas),
            user_preferences=_once(*self.user_preferences, *other.user_preferences),
        )


def _once(*texts: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))
