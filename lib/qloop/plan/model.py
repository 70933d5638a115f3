"""quantum.json as values: camelCase in the file, snake_case here, unknown keys kept.

The models are for reading; what is written is the document itself, so that unknown fields and
the order of keys outlive any number of rewrites. Null means missing. Nothing is coerced.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, Strict, StringConstraints
from pydantic.alias_generators import to_camel

from qloop.plan.memory import collector_paused
from qloop.plan.values import DEFAULT_MAX_ATTEMPTS, DEFAULT_PRIORITY, STORY_ID, UNVERIFIED
from qloop.plan.values import Json as Json
from qloop.plan.values import Phase as Phase
from qloop.plan.values import Status as Status

StoryId = Annotated[str, StringConstraints(pattern=STORY_ID)]
Count = Annotated[int, Field(ge=0)]


class JsonModel(BaseModel):
    """A frozen part of quantum.json."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        extra="allow",
        frozen=True,
        strict=True,
    )

    def __hash__(self) -> int:
        """The same for equal ones. Defaults that can be hashed are shared and not copied."""
        return hash(type(self))


class Task(JsonModel):
    """A step inside a story."""

    id: str | None = None
    """Names the task within its story, such as `T-001`."""
    title: str | None = None
    """The step in a few words."""
    description: str | None = None
    """What is to be done."""
    file_paths: list[str] = []
    """Files and folders it touches, relative to the repository's root."""
    run: list[str] = []
    """Shell commands that do the task."""
    commands: list[str] = []
    """Shell commands that verify it."""
    test_first: bool | None = None
    """Whether its test is to be written before the code."""
    status: str = "pending"
    """How far the task came."""


class ReviewPart(JsonModel):
    """One of a story's two reviews."""

    status: Literal["pending", "passed", "failed"] = "pending"
    """The verdict; back to pending when an attempt starts."""
    issues: list[Any] = []
    """What was found wanting."""
    evidence: Any = None
    """What the verdict rests on."""
    reviewed_at: str | None = None
    """When the verdict was given, RFC 3339."""
    attempt: int | None = None
    """The number of the attempt it is about."""


class Review(JsonModel):
    """Whether a story does what was asked, and how well."""

    spec_compliance: ReviewPart = ReviewPart()
    """Does it do what was asked? Judged by the tasks' commands and the story's verify."""
    code_quality: ReviewPart = ReviewPart()
    """Is it done well? Judged by the plan's qualityCommands."""


class Failure(JsonModel):
    """One entry of a failure log; other writers' phases are kept."""

    attempt: int | None = None
    """The number of the attempt that failed."""
    phase: str | None = None
    """Where it failed."""
    reason: str | None = None
    """Why, for people."""
    timestamp: str | None = None
    """When, RFC 3339."""
    log: str | None = None
    """The file with the output that tells more."""


class Retries(JsonModel):
    """How often a story was tried at its own charge, and how often it may be."""

    attempts: Count = 0
    """Attempts charged to the story so far."""
    max_attempts: Count = DEFAULT_MAX_ATTEMPTS
    """Charged attempts after which a failed story is not tried again."""
    failure_log: list[Failure] = []
    """One entry for each attempt that failed, oldest first."""


class Story(JsonModel):
    """A node of the DAG, one agent's unit of work."""

    id: StoryId
    """Names the story everywhere: in branches, refs, folders and reports."""
    title: str | None = None
    """The story in a few words."""
    description: str | None = None
    """What is wanted, and for whom."""
    acceptance_criteria: list[str] = []
    """What must hold for the story to be done."""
    priority: int = DEFAULT_PRIORITY
    """Lower starts first."""
    status: Annotated[Status, Strict(False)] = Status.PENDING
    """How far the story came."""
    depends_on: list[StoryId] = []
    """Ids of the stories that must have passed before this one starts."""
    tasks: list[Task] = []
    """The steps of the story, in order."""
    verify: list[str] = []
    """Shell commands that must end with 0 for the story to pass."""
    runner: str | None = None
    """The runner for this story; wins over the run's."""
    model: str | None = None
    """The model handed to the runner for this story."""
    timeout: str | Annotated[int, Field(ge=0)] | Annotated[float, Field(ge=0)] | None = None
    """How long one attempt may take: `90s`, `15m`, `1h30m`, or a number of seconds."""
    allow_empty: bool = False
    """Whether an attempt that changes nothing may pass."""
    started_at: str | None = None
    """When the attempt at work now was dispatched, RFC 3339."""
    review: Review = Review()
    """The two reviews of the last attempt."""
    retries: Retries = Retries()
    """Attempts made, allowed, and what went wrong in them."""
    notes: str | None = None
    """Anything else to know about the story."""

    @property
    def file_paths(self) -> list[str]:
        """The paths that the story's tasks name."""
        return [path for task in self.tasks for path in task.file_paths]

    @property
    def attempts(self) -> int:
        """Attempts charged to it so far."""
        return self.retries.attempts

    @property
    def max_attempts(self) -> int:
        """Charged attempts after which it is not tried again."""
        return self.retries.max_attempts

    @property
    def last_reason(self) -> str | None:
        """Why the last attempt in its failure log failed."""
        log = self.retries.failure_log
        return log[-1].reason if log else None

    @property
    def is_unverified(self) -> bool:
        """Whether a review of it rests on no command."""
        evidence = (self.review.spec_compliance.evidence, self.review.code_quality.evidence)
        return any(isinstance(text, str) and text.startswith(UNVERIFIED) for text in evidence)

    @property
    def label(self) -> str:
        """Id and title for people."""
        return f"{self.id}: {self.title}" if self.title else self.id


class FileConflict(JsonModel):
    """Stories that must not be at work together, since they share a file."""

    file: str | None = None
    """The file they share."""
    stories: list[str] = []
    """Their ids; one that the plan does not know is left alone."""


class CompletedWave(JsonModel):
    """A wave that ended."""

    id: Any = None
    """`wave-1`, `wave-2`, …; other writers' ids are kept, whatever they are."""
    stories: list[str] = []
    """Ids of the stories that were in it."""
    signal: str | None = None
    """What its coordinator said at the end."""
    started_at: str | None = None
    """When it started, RFC 3339."""
    completed_at: str | None = None
    """When it ended, RFC 3339."""
    findings: list[Any] = []
    """What the checks at its end found."""


class Execution(JsonModel):
    """How the plan is carried out and how far it came."""

    mode: str | None = None
    """How the last run went about it."""
    max_parallel: Annotated[int, Field(ge=1)] | None = None
    """How many implementers may be at work at once."""
    current_wave: Annotated[int, Field(ge=0)] | None = None
    """The number of the highest wave that was started."""
    force_sequential: bool = False
    """Whether to run one story at a time."""
    active_worktrees: list[Any] = []
    """The worktrees in use now."""
    completed_waves: list[CompletedWave] = []
    """The waves that ended, oldest first."""


class Plan(JsonModel):
    """The whole of quantum.json."""

    project: str | None = None
    """The name of what is built."""
    branch_name: str
    """The feature branch, where passed stories arrive."""
    description: str | None = None
    """What the feature is for."""
    prd_path: str | None = None
    """The requirements document that the plan was made from."""
    prd_hash: str | None = None
    """`sha256:` and the digest of that document's content."""
    design_path: str | None = None
    """The design document that goes with it."""
    created_at: str | None = None
    """When the plan was made, RFC 3339."""
    updated_at: str | None = None
    """When the file was last written, RFC 3339; strictly increasing, it names the generation."""
    test_command: str | None = None
    """The shell command that tests the whole tree before anything lands."""
    quality_commands: list[str] = []
    """Shell commands that judge the code of every story."""
    setup_commands: list[str] = []
    """Shell commands run once in each fresh worktree."""
    copy_files: list[str] = []
    """Untracked files, such as `.env`, brought into each worktree."""
    stories: list[Story]
    """The nodes of the DAG."""
    progress: list[Any] = []
    """What happened, appended to by coordinators."""
    codebase_patterns: list[Any] = []
    """What was learned about the code, told to every implementer."""
    contracts: dict[str, Any] = {}
    """Names and shapes that stories must agree on."""
    file_conflicts: list[FileConflict] = []
    """Stories to be kept apart beyond what their file paths say."""
    execution: Execution = Execution()
    """How the plan is carried out and how far it came."""

    def story(self, story_id: str) -> Story | None:
        """The story of that id, or None."""
        return next((story for story in self.stories if story.id == story_id), None)


def without_nulls(value: Any) -> Any:
    """A copy in which keys whose value is null are missing."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def parse_plan(document: Json) -> Plan:
    """A document that passed validation, as a value. Raises pydantic.ValidationError."""
    with collector_paused():
        return parse_stripped(without_nulls(document))


def parse_stripped(document: Json) -> Plan:
    """The same for one without nulls; only the file's own names count, such as `branchName`."""
    return Plan.model_validate(document, by_alias=True, by_name=False)
