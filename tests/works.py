"""What stories brought, made from texts: for the checks between stories."""

import difflib
from collections.abc import Mapping

from qloop.repo.landed_changes import LandedFile
from qloop.run.check_values import Work


def work(story: str, files: Mapping[str, str], before: Mapping[str, str] | None = None) -> Work:
    """A story that wrote *files* over what was there *before*; an empty text removes a file."""
    old = before or {}
    return Work(story, tuple(_file(path, text, old.get(path)) for path, text in files.items()))


def _file(path: str, text: str, before: str | None) -> LandedFile:
    lines, added = text.split("\n"), set[int]()
    matcher = difflib.SequenceMatcher(None, (before or "").split("\n"), lines, autojunk=False)
    for kind, _, _, start, end in matcher.get_opcodes():
        if kind in ("insert", "replace"):
            added.update(range(start + 1, end + 1))
    whole = set(range(1, len(lines) + 1)) if before is None else added
    return LandedFile(path, text, before, frozenset(whole))
