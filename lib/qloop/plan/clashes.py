"""Which stories must not be at work together, for sharing files or a fileConflicts entry. Pure.

What a story occupies are tokens: a file path (text), or the position of a fileConflicts entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qloop.plan.paths import PathIndex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qloop.plan.likeness import AnyConflict, AnyStory

Token = str | int


class Ground:
    """What the stories taken so far occupy."""

    def __init__(self, conflicts: Iterable[AnyConflict]) -> None:
        self._entries: dict[str, list[int]] = {}
        for position, conflict in enumerate(conflicts):
            for story_id in conflict.stories:
                self._entries.setdefault(story_id, []).append(position)
        self._paths = PathIndex()
        self._taken_entries: set[int] = set()

    def clear(self) -> None:
        """Forget the stories taken."""
        self._paths = PathIndex()
        self._taken_entries = set()

    def take(self, story: AnyStory) -> None:
        """Let a story occupy its files and entries."""
        self._paths.add(story.file_paths)
        self._taken_entries.update(self._entries.get(story.id, ()))

    def holds(self, token: Token) -> bool:
        """Whether the path overlaps an occupied one, or the entry is occupied."""
        if isinstance(token, int):
            return token in self._taken_entries
        return self._paths.overlaps(token)

    def find_clash(self, story: AnyStory) -> Token | None:
        """The first of a story's own tokens that is occupied, or None where it may be taken."""
        tokens: list[Token] = [*self._entries.get(story.id, ()), *story.file_paths]
        return next((token for token in tokens if self.holds(token)), None)
