"""What wave-end checks are told, and what they find: values only.

Paths are from the repository's root; lines count from 1.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from qloop.plan.model import Json
from qloop.repo.landed_changes import LandedFile

MOST_PLACES = 3


@dataclass(frozen=True, slots=True)
class Work:
    """What one story brought."""

    story: str
    files: tuple[LandedFile, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a story wrote what a finding is about."""

    story: str
    path: str
    line: int
    needle: str = ""
    """What must still stand in the file for the finding to hold."""

    @property
    def label(self) -> str:
        """File and line for people."""
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check found."""

    check: str
    subject: str
    """The name, constant or file that it is about."""
    stories: tuple[str, ...]
    """Those that it concerns, in the order in which they landed."""
    places: tuple[Place, ...]
    text: str
    """What was found, where, and what speaks against it, in one sentence."""
    failed: str | None = None
    """The story that did not land for it."""

    def to_json(self) -> Json:
        """The finding as it stands among a wave's findings."""
        places = [{"story": one.story, "path": one.path, "line": one.line} for one in self.places]
        told: Json = {"check": self.check, "stories": list(self.stories), "places": places}
        failed = {"failed": self.failed} if self.failed is not None else {}
        return {**told, "text": self.text, **failed}

    def stands_in(self, texts: Mapping[str, str]) -> bool:
        """Whether every place still holds what was found there; *texts* is a tree's files."""
        return all(one.path in texts and one.needle in texts[one.path] for one in self.places)


def tell_places(places: Iterable[Place]) -> str:
    """Who wrote it where, for people: `US-001 (a.py:3, b.py:7) and US-002 (c.py:1)`."""
    by_story: dict[str, list[str]] = {}
    for place in places:
        by_story.setdefault(place.story, []).append(place.label)
    return " and ".join(f"{story} ({', '.join(labels)})" for story, labels in by_story.items())
