"""What landed commits changed: files, and lines added and deleted.

Errors: GitFailed. Source: git-diff-tree(1).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from qloop.repo.checkout import Repository

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that a commit changed; the counts of lines are None for what is no text."""

    path: str
    added: int | None
    deleted: int | None


def changes_of(repository: Repository, commits: Iterable[str]) -> dict[str, tuple[FileChange, ...]]:
    """The changes of each commit against its first parent; what git does not know is left out."""
    wanted = [commit for commit in dict.fromkeys(commits) if _COMMIT.fullmatch(commit)]
    if not wanted:
        return {}
    listed = repository.git.fields(
        *("diff-tree", "--stdin", "--always", "--root", "-r", "-z", "--numstat"),
        *("--no-renames", "--no-ext-diff", "--no-textconv"),
        stdin="".join(f"{commit}\n" for commit in wanted).encode(),
    )
    found: dict[str, list[FileChange]] = {}
    files: list[FileChange] = []
    for part in listed:
        if _COMMIT.fullmatch(part):
            files = found[part] = []
        else:
            added, deleted, path = part.split("\t", 2)
            files.append(FileChange(path, _count(added), _count(deleted)))
    return {commit: tuple(files) for commit, files in found.items()}


def _count(text: str) -> int | None:
    return None if text == "-" else int(text)
