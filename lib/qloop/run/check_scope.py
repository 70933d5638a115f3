"""Which landed work a check looks at, from what coordinators noted in the plan's progress. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from qloop.plan.likeness import AnyStory
from qloop.plan.values import Json, Status


class Noted(Protocol):
    """A plan, as far as these questions go."""

    @property
    def stories(self) -> Sequence[AnyStory]:
        """All stories."""

    @property
    def progress(self) -> Sequence[Any]:
        """What happened."""


class Notes(NamedTuple):
    """`Noted` as a value."""

    stories: Sequence[AnyStory]
    progress: Sequence[Any]


def wave_mates(plan: Noted, story: str, wave: str) -> dict[str, str]:
    """By story: the commits that landed in *wave*, and in every wave that tried *story* before.

    So a story that failed for what another one of its wave brought is compared with it again.
    """
    noted = list(_entries(plan))
    waves = {wave, *(one.get("iteration") for one in noted if one.get("storyId") == story)}
    landed = _landed(one for one in noted if one.get("iteration") in waves)
    return {name: commit for name, commit in landed.items() if name != story}


def due_for_use(plan: Noted, landed: Mapping[str, str]) -> dict[str, str]:
    """By story: the commits whose new names ought to be in use, now that *landed* has landed.

    These are the wave's stories and those they build on, less the ones that a story yet to
    land may build on.
    """
    done = {story.id for story in plan.stories if story.status is Status.PASSED} | set(landed)
    awaited = _needed_by(plan, (story.id for story in plan.stories if story.id not in done))
    near = set(landed) | _needed_by(plan, landed)
    commits = {**_landed(_entries(plan)), **landed}
    return {name: commit for name, commit in commits.items() if name in near - awaited}


def _needed_by(plan: Noted, names: Iterable[str]) -> set[str]:
    """All that these stories depend on, directly or not."""
    needs = {story.id: story.depends_on for story in plan.stories}
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        for needed in needs.get(waiting.pop(), []):
            if needed not in found:
                found.add(needed)
                waiting.append(needed)
    return found


def _landed(entries: Iterable[Json]) -> dict[str, str]:
    """The newest landed commit of each story that these entries tell of, in their order."""
    return {
        str(one.get("storyId")): one["details"]
        for one in entries
        if one.get("action") == "story_passed" and isinstance(one.get("details"), str)
    }


def _entries(plan: Noted) -> Iterable[Json]:
    return (one for one in plan.progress if isinstance(one, dict))
