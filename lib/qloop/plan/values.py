"""The small values of quantum.json: what can be known of it without its models."""

from enum import StrEnum
from typing import Any

Json = dict[str, Any]

STORY_ID = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"

DEFAULT_PRIORITY = 999
DEFAULT_MAX_ATTEMPTS = 3

UNVERIFIED = "unverified:"
"""How the evidence of a review begins that no command judged."""


class Status(StrEnum):
    """A story's stored state. `stale` comes from other writers and counts as blocked."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    PASSED = "passed"
    FAILED = "failed"
    BLOCKED = "blocked"
    STALE = "stale"


class Phase(StrEnum):
    """Where an attempt failed."""

    AGENT_FAILED = "agent_failed"
    AGENT_BLOCKED = "agent_blocked"
    NO_SIGNAL = "no_signal"
    TIMEOUT = "timeout"
    STUCK = "stuck"
    CRASH = "crash"
    GUARD = "guard"
    SETUP = "setup"
    VERIFICATION = "verification"
    REVIEW = "review"
    MERGE_CONFLICT = "merge_conflict"
    MERGE_REGRESSION = "merge_regression"
    INFRA = "infra"
    WAVE_FAILED = "wave_failed"
    INTERRUPTED = "interrupted"
