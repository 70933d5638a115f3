"""Which folders of a large tree an attempt needs, and how git is told: a sparse checkout's cone.

Files in the root are always there. Paths are relative to the root, with `/`.
Source: git-sparse-checkout(1), INTERNALS: cone mode; gitignore(5).
"""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from qloop.repo.checkout import Repository

CONFIG = (
    ("core.sparsecheckout", "true"),
    ("core.sparsecheckoutcone", "true"),
    ("index.sparse", "true"),
)
"""What an attempt repository's configuration says of it."""


ROOT = "."
_PATTERN = re.compile(r"[*?\[\]\\\n]")


def find_cone(repository: Repository, start: str, paths: Iterable[str]) -> tuple[str, ...]:
    """The folders that hold *paths*, files or folders that may not be there yet.

    What is not there yet in the root may become a folder.
    Empty where nothing can be left out: there is no path, or the root, or one of a folder whose
    name git would take for a pattern.
    """
    wanted = sorted({str(PurePosixPath(path)) for path in paths})
    trees = repository.git.find_all(*(f"{start}:{path}/" for path in wanted)) if wanted else ()
    folders = {
        path if tree is not None else str(PurePosixPath(path).parent)
        for path, tree in zip(wanted, trees, strict=True)
    }
    if ROOT in wanted or any(map(_PATTERN.search, folders)):
        return ()
    new = (path for path in wanted if ROOT in folders and "/" not in path)
    return tuple(sorted(folders.union(path for path in new if not _PATTERN.search(path))))


def render_cone(cone: Iterable[str]) -> bytes:
    """The content of `info/sparse-checkout`."""
    whole = [PurePosixPath(folder) for folder in cone if folder != ROOT]
    above = {parent for folder in whole for parent in folder.parents if parent.parts}
    lines = ["/*", "!/*/"]
    for folder in sorted({*whole, *above}):
        if any(parent in whole for parent in folder.parents):
            continue  # it is in there already
        lines.append(f"/{folder}/")
        if folder not in whole:
            lines.append(f"!/{folder}/*/")
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
