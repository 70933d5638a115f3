"""File paths as stories name them: made comparable, judged, and looked up fast. Pure.

A path is relative to the repository's root, its parts joined by `/`, case counting. A folder
covers all that is in it, and `.` everything.
"""

import re
from collections.abc import Iterable

from qloop.plan.names import is_encodable

_DRIVE = re.compile(r"[A-Za-z]:(?:[\\/]|$)")


def normalise(path: str) -> str:
    """A path without doubled slashes, `.` and a final slash; the root is the empty text."""
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def find_danger(path: str) -> str | None:
    """Why a path must not be used, or None where it stays inside the repository."""
    if not path.strip():
        return "is empty"
    if "\0" in path:
        return "holds a NUL"
    if not is_encodable(path):
        return "holds half of a surrogate pair"
    if path.startswith(("/", "\\")) or _DRIVE.match(path):
        return "is absolute"
    if ".." in re.split(r"[/\\]", path):
        return "leads out by '..'"
    return None


class PathIndex:
    """A growing set of paths that tells quickly whether another one overlaps any of them."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._paths: set[str] = set()
        self._folders: set[str] = set()
        self.add(paths)

    def add(self, paths: Iterable[str]) -> None:
        """Take more paths in."""
        for path in paths:
            name = normalise(path)
            if name not in self._paths:
                self._paths.add(name)
                self._folders.update(folders_of(name))

    def overlaps(self, path: str) -> bool:
        """Whether *path* overlaps a path taken in."""
        name = normalise(path)
        if name in self._paths or name in self._folders:
            return True
        return not self._paths.isdisjoint(folders_of(name))


def folders_of(name: str) -> list[str]:
    """The folders that hold a normalised path, the root among them; the root lies in none."""
    if not name:
        return []
    return ["", *(name[: match.start()] for match in re.finditer("/", name))]
