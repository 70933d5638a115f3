"""What crosses processes: a wave's order from driver to coordinator, outcomes back.

All are values that go through JSON, so that an attempt can be made here or on another machine.
Units: seconds, bytes; commits are full object names; paths are absolute.
"""

from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict

from qloop.agents.hindrances import Cause
from qloop.agents.manifest import Manifest
from qloop.plan.model import Phase, Story, without_nulls
from qloop.repo.landing import Solved
from qloop.run.config_tables import DelegateTable
from qloop.run.conflicts import OnConflict, Regenerate


class Value(BaseModel):
    """A frozen value with no room for unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Limits(Value):
    """How long commands may run and how large things may become."""

    gate_timeout_s: float
    stale_after_s: float
    """How long an agent may do nothing at all."""
    log_bytes: int
    """The most that is kept of one command's output."""
    file_bytes: int
    """The largest file that may land."""
    run_usd: float | None = None
    """The most that the agents of a run may cost, in dollars."""
    story_usd: float | None = None
    """The most that one story's agents may cost, over all runs."""


class Place(Value):
    """Where a run happens."""

    root: str
    """The person's main checkout."""
    git_dir: str
    """The person's common git directory."""
    private: str
    """The checkout's `.qloop` folder."""
    base: str
    """The folder that holds attempt repositories and their worktrees."""
    quantum: str
    """The state file."""
    prd: str | None
    """The requirements document, where it exists."""
    branch: str
    """The feature branch's name."""


class Terms(Value):
    """What holds for a whole run."""

    run_id: str
    lease: str
    """The object name that `refs/qloop/lease` must hold for anything to land."""
    place: Place
    limits: Limits
    settings: dict[str, Any]
    """The person's git configuration as attempts carry it over (`repo.settings`)."""
    env_pass: tuple[str, ...] = ()
    sparse: bool = False
    """Whether an attempt's worktree has only the folders that its story's files lie in."""
    block: bool = False
    """Whether what the checks find between two stories of a wave keeps the later one out."""
    on_conflict: OnConflict = "retry"
    regenerate: tuple[Regenerate, ...] = ()
    delegate: DelegateTable = DelegateTable()
    preamble: str = ""
    """What implementers are told before their prompt; ends with a line end, or is empty."""


class Reserved(Value):
    """What is kept back for one call of an agent. Units: United States dollars."""

    role: str
    call: str
    """The call's name in the journal."""
    usd: float


class Reviewer(Value):
    """An agent that is to judge an attempt whose commands are green."""

    role: str
    """Its role file's name."""
    runner: Manifest
    model: str | None
    timeout_s: float
    stand_ins: tuple[Manifest, ...] = ()
    """Who takes over, in this order, where its runner cannot work."""


class Resolver(Value):
    """An agent that is to merge an attempt's work with the line where they conflict."""

    runner: Manifest
    model: str | None
    timeout_s: float


class Delegate(Value):
    """A stateless agent without tools that may be asked for one answer."""

    role: str
    """`worker` or `qa`."""
    runner: Manifest
    model: str | None
    timeout_s: float


class Dispatch(Value):
    """One story handed out once."""

    story: str
    attempt: int
    """The number of the dispatch, never used twice for one story."""
    attempt_id: str
    runner: Manifest
    model: str | None
    timeout_s: float
    slot: int
    reserved: tuple[Reserved, ...] = ()
    """What is reserved for its agents, where there is a budget."""
    reviewers: tuple[Reviewer, ...] = ()
    """Those who judge it after its commands, in this order."""
    resolver: Resolver | None = None
    """Who solves its conflicts with the line; None where nobody is asked to."""
    delegates: tuple[Delegate, ...] = ()
    """Who may be asked about its last failure."""

    def delegate(self, role: str) -> Delegate | None:
        """The delegate of a role, where there is one."""
        return next((one for one in self.delegates if one.role == role), None)


class Leader(Value):
    """An agent that leads a wave."""

    name: str
    """The mark of what it does; of the form of an attempt id."""
    runner: Manifest
    model: str | None
    timeout_s: float


class WaveOrder(Value):
    """All that a coordinator needs to know."""

    wave: str
    terms: Terms
    dispatches: tuple[Dispatch, ...]
    leader: Leader | None = None
    """None where the coordinator itself begins every story at once."""


class Commands(Value):
    """The plan's commands that an attempt runs, and the files it is given."""

    setup: tuple[str, ...] = ()
    quality: tuple[str, ...] = ()
    copy_files: tuple[str, ...] = ()


class AttemptOrder(Value):
    """All that one attempt needs, on whatever machine it is made."""

    wave: str
    terms: Terms
    dispatch: Dispatch
    start: str
    """The line's tip that the attempt starts from."""
    story: dict[str, Any]
    """The story as it stands in the plan: nulls and unknown fields included."""
    commands: Commands
    patterns: tuple[str, ...] = ()

    def read_story(self) -> Story:
        """The story as a value. Raises pydantic.ValidationError."""
        return Story.model_validate(without_nulls(self.story), by_alias=True, by_name=False)


class Hindered(Value):
    """Why an agent could not work, whatever its role: its runner has to pause."""

    runner: str
    cause: Cause
    text: str
    """What the agent said of it, in a line."""
    resets_at_s: float | None = None
    """When it may work again, in seconds since the epoch, where that is known."""


class Failed(Value):
    """Why an attempt did not land, as it will stand in the story's failure log."""

    phase: Phase
    reason: str
    log: str | None = None
    charged: bool = True
    hindered: Hindered | None = None
    """Where an agent could not work at all."""
    at_gate: bool = False
    """Whether its agent was stuck at what the gate denied."""

    @classmethod
    def interrupted(cls, reason: str = "the run was stopped", log: str | None = None) -> Self:
        """An end that is nobody's fault and not charged: the story is ready again."""
        return cls(phase=Phase.INTERRUPTED, reason=reason, log=log, charged=False)

    @classmethod
    def not_started(cls) -> Self:
        """Another story's breach kept it from starting."""
        reason = "not started: the guard tripped in this wave"
        return cls(phase=Phase.WAVE_FAILED, reason=reason, charged=False)

    @classmethod
    def infra(cls, reason: str, log: str | None = None) -> Self:
        """A fault of git, the machine or qloop itself, which the story is not charged for."""
        return cls(phase=Phase.INFRA, reason=reason, log=log, charged=False)


class ReviewNote(Value):
    """What evidence says of one of the two reviews."""

    status: Literal["passed", "failed"]
    evidence: str
    issues: tuple[str, ...] = ()


class Outcome(Value):
    """What an attempt came to, before landing."""

    start: str
    tip: str | None = None
    """The salvaged commit that may land; None where there was nothing to salvage."""
    spec: ReviewNote | None = None
    quality: ReviewNote | None = None
    failed: Failed | None = None
    mark: str | None = None
    """Whose mark its commits may bear besides the attempt's own."""
    breach: bool = False
    """The guard tripped: no further implementer of the wave may start."""
    solved: Solved | None = None
    """What its work and the line came to, where a conflict between them was solved."""
    merges: int = 0
    """How often an agent was asked to solve one."""
    met: tuple[Hindered, ...] = ()
    """What kept agents from working for whom others stood in."""


class Settled(Value):
    """How one dispatch of a story ended."""

    story: str
    attempt: int
    attempt_id: str
    landed: str | None = None
    """The commit on the line, where the attempt landed."""
    failed: Failed | None = None
    waiting: str | None = None
    """What a person must decide before anything can land."""
    met: tuple[Hindered, ...] = ()
    """What kept agents from working for whom others stood in."""
    seconds: float = 0.0


class Report(Value):
    """One line from coordinator to driver; a hint, which the driver checks against git."""

    kind: Literal["event", "settled", "queued", "landing", "ended"]
    """`event`: the journal grew. `queued`, `landing`: a story waits for its turn to land, or
    has it; the wave's clock stands while one waits. `ended`: the wave is over, and the process
    goes on to the next."""
    settled: Settled | None = None
    signal: str | None = None
    """What a wave that is over comes to."""
    gives_up: str = ""
    """Why the process will take no other wave; empty where it will."""
