"""A mission's state: what `state.json` in an intent's folder holds. Values; nothing here acts.

Units: seconds (`_s`), United States dollars (`_usd`), timestamps UTC.
"""

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from qloop.state.phase_events import Metrics, Option, Output
from qloop.state.phases import Autonomy, PhaseName, PhaseStatus, TeamSetting, Warmth
from qloop.state.spending import Spent


class MissionStatus(StrEnum):
    """Where a mission stands."""

    INITIALIZED = "initialized"
    ACTIVE = "active"
    CHECKPOINT = "checkpoint"
    INTERRUPTED = "interrupted"
    COMPLETED = "completed"
    ABANDONED = "abandoned"

    @property
    def is_over(self) -> bool:
        """Whether nothing of it will ever run again."""
        return self in (MissionStatus.COMPLETED, MissionStatus.ABANDONED)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PhaseRun(_Part):
    """What became of one phase."""

    phase: PhaseName
    status: PhaseStatus = PhaseStatus.PENDING
    spawns: int = 0
    """How many coordinators it had."""
    rounds: int = 0
    """How often a person had it done again from its beginning."""
    spawn_id: str | None = None
    """The newest of them, such as `phase-execution-002`."""
    process: dict[str, Any] | None = None
    """That one's process, while it lives."""
    run_ids: tuple[str, ...] = ()
    """Under which ids its coordinators' agents stand in the journal."""
    spawned_at: str | None = None
    seconds: float = 0.0
    """What its coordinators took together."""
    note: str = ""
    """Its summary, or why it was skipped or failed."""
    failure_type: str | None = None
    outputs: tuple[Output, ...] = ()
    metrics: Metrics = Metrics()


class Answer(_Part):
    """What a person chose."""

    option: str
    note: str = ""
    by: str
    at: str


class Checkpoint(_Part):
    """A question that waits for a person, or did."""

    id: str
    phase: PhaseName
    type: str
    """Such as `plan_approval`, `phase_end`, `wave_end`, `phase_failure`, `budget`, `stuck`."""
    question: str
    options: tuple[Option, ...]
    context: dict[str, Any] = {}
    opened_at: str
    answer: Answer | None = None
    is_used: bool = False
    """Whether the mission has acted on the answer."""

    @property
    def mission(self) -> str:
        """The number of the mission that asks."""
        return self.id.removeprefix("cp-").partition("-")[0]


class Triage(_Part):
    """How large the mission looks, and why."""

    complexity: str
    """SIMPLE, MEDIUM, COMPLEX or MASSIVE."""
    reasons: tuple[str, ...] = ()
    is_trivial: bool = False


class Mission(_Part):
    """One intent on its way through the phases."""

    id: int
    slug: str
    directive: str
    source: str | None = None
    """The document that the directive was taken from, as it was named."""
    autonomy: Autonomy
    is_quick: bool = False
    is_team: bool = False
    """Whether a gated team takes it from wish to deed."""
    team: TeamSetting | None = None
    """How a person wants its members asked; None for what the settings say."""
    may_destroy: bool = False
    """Whether a person lets destructive actions begin without being asked."""
    triage: Triage
    status: MissionStatus = MissionStatus.INITIALIZED
    started_at: str
    updated_at: str
    constraints: tuple[str, ...] = ()
    limit_usd: float | None = None
    written_off_usd: float = 0.0
    """What had been spent when the budget was last reset."""
    warned: bool = False
    """Whether it was said that three quarters of the budget are spent."""
    confirmed_usd: float | None = None
    """The limit of which a person allowed to spend the last tenth."""
    process: dict[str, Any] | None = None
    """The mission's own process, while it lives."""
    skips: tuple[PhaseName, ...] = ()
    """Phases that a person does not want."""
    phases: tuple[PhaseRun, ...] = Field(default=tuple(PhaseRun(phase=name) for name in PhaseName))
    checkpoints: tuple[Checkpoint, ...] = ()
    warmth: Warmth = Warmth()

    def since_reset(self, spent: Spent) -> Spent:
        """What counts against its limit, of all that its agents have cost."""
        usd = max(0.0, spent.usd - self.written_off_usd)
        return Spent(usd, min(usd, spent.guessed_usd))

    def phase(self, name: PhaseName) -> PhaseRun:
        """One phase."""
        return next(run for run in self.phases if run.phase is name)

    def with_phase(self, run: PhaseRun) -> "Mission":
        """The mission with one of its phases changed."""
        phases = tuple(run if old.phase is run.phase else old for old in self.phases)
        return self.model_copy(update={"phases": phases})

    def with_checkpoint(self, one: Checkpoint) -> "Mission":
        """The mission with one of its checkpoints changed."""
        known = tuple(one if old.id == one.id else old for old in self.checkpoints)
        return self.model_copy(update={"checkpoints": known})

    @property
    def open_checkpoint(self) -> Checkpoint | None:
        """The question that waits; nothing does once the mission is over."""
        if self.status.is_over:
            return None
        return next((one for one in self.checkpoints if one.answer is None), None)

    @property
    def current(self) -> PhaseRun | None:
        """The phase that it stands at; None when all are over."""
        over = (PhaseStatus.COMPLETE, PhaseStatus.SKIPPED)
        return next((run for run in self.phases if run.status not in over), None)

    @property
    def run_ids(self) -> frozenset[str]:
        """Under which ids its agents stand in the journal."""
        return frozenset(name for run in self.phases for name in run.run_ids)
