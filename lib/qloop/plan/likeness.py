"""What models of quantum.json and outlines have in common, so that a question fits either.

Only types: what is imported from here is imported for checking alone.
"""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from qloop.plan.values import Status


class AnyStory(Protocol):
    """A story, as far as the graph and the summary go."""

    @property
    def id(self) -> str:
        """Names the story everywhere."""

    @property
    def title(self) -> str | None:
        """The story in a few words."""

    @property
    def status(self) -> Status:
        """How far it came."""

    @property
    def priority(self) -> int:
        """Lower starts first."""

    @property
    def depends_on(self) -> Sequence[str]:
        """Ids of the stories that must have passed before this one starts."""

    @property
    def file_paths(self) -> Sequence[str]:
        """The paths that its tasks name."""

    @property
    def attempts(self) -> int:
        """Attempts charged to it so far."""

    @property
    def max_attempts(self) -> int:
        """Charged attempts after which it is not tried again."""

    @property
    def started_at(self) -> str | None:
        """When the attempt at work now was dispatched."""

    @property
    def last_reason(self) -> str | None:
        """Why the last attempt in its failure log failed."""

    @property
    def is_unverified(self) -> bool:
        """Whether a review of it rests on no command."""


class AnyConflict(Protocol):
    """Stories that must not be at work together."""

    @property
    def stories(self) -> Sequence[str]:
        """Their ids."""


class AnyExecution(Protocol):
    """How the plan is carried out."""

    @property
    def max_parallel(self) -> int | None:
        """How many implementers may be at work at once."""

    @property
    def current_wave(self) -> int | None:
        """The number of the highest wave that was started."""

    @property
    def force_sequential(self) -> bool:
        """Whether to run one story at a time."""


S = TypeVar("S", bound=AnyStory)
_S_co = TypeVar("_S_co", bound=AnyStory, covariant=True)


class AnyPlan(Protocol[_S_co]):
    """A plan, as far as the graph and the summary go."""

    @property
    def branch_name(self) -> str:
        """The feature branch."""

    @property
    def created_at(self) -> str | None:
        """When the plan was made."""

    @property
    def stories(self) -> Sequence[_S_co]:
        """The nodes of the graph, in the file's order."""

    @property
    def file_conflicts(self) -> Sequence[AnyConflict]:
        """Stories to be kept apart beyond what their paths say."""

    @property
    def execution(self) -> AnyExecution:
        """How the plan is carried out."""
