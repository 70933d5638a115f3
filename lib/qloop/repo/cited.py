"""Files of a commit that somebody cites: which there are, and how many lines they have.

Units: bytes, lines. Errors: GitFailed, InternalFailure. Source: git-cat-file(1).
"""

import os
from collections.abc import Iterable
from pathlib import PurePosixPath

from qloop.repo.blobs import object_contents
from qloop.repo.checkout import Repository
from qloop.repo.git import GitFailed

LARGEST_CITED_BYTES = 20_000_000


def count_lines(repository: Repository, commit: str, paths: Iterable[str]) -> dict[str, int]:
    """The lines of each of *paths* that is a file in *commit*; an empty file counts as one.

    Folders, what is not there, what is too large to be looked at, and paths that do not lead
    straight down from the root are left out.
    """
    asked = sorted(filter(_leads_down, set(paths)))
    if not asked:
        return {}
    done = repository.git.attempt(
        *("cat-file", "--batch-check=%(objecttype) %(objectname) %(objectsize)"),
        stdin=b"".join(os.fsencode(f"{commit}:{path}") + b"\n" for path in asked),
    )
    answers = done.text.split("\n")
    if done.code != 0 or len(answers) != len(asked):
        raise GitFailed(done)
    blobs: dict[str, tuple[str, int]] = {}
    for path, answer in zip(asked, answers, strict=True):
        match answer.split(" "):
            case ["blob", name, size] if size.isdigit() and int(size) <= LARGEST_CITED_BYTES:
                blobs[path] = (name, int(size))
    sizes = dict(blobs.values())
    contents = object_contents(repository.git, sizes)
    return {path: _lines(contents[name]) for path, (name, _) in blobs.items()}


def _leads_down(path: str) -> bool:
    """Whether git takes it for a path in a tree: others end the whole call."""
    plain = PurePosixPath(path)
    down = not plain.is_absolute() and ".." not in plain.parts and plain.parts
    return bool(down) and str(plain) == path and not set(path) & {"\n", "\0"}


def _lines(data: bytes) -> int:
    return max(1, data.count(b"\n") + (not data.endswith(b"\n")))
