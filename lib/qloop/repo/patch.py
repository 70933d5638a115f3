"""A change as a patch for somebody to read, cut where it is long.

Units: bytes. Errors: GitFailed. Source: git-diff-tree(1), git-merge-base(1).
"""

from dataclasses import dataclass

from qloop.repo.checkout import Repository
from qloop.repo.line import line_ref


@dataclass(frozen=True, slots=True)
class Patch:
    """What lies between two commits."""

    base: str
    """The commit that the change is made on."""
    text: str
    """A table of the files, then the patch itself; each of its lines begins with a mark."""
    left_out_bytes: int
    """How much was cut off at the end."""


def read_patch(
    repository: Repository, branch: str, start: str, tip: str, limit_bytes: int
) -> Patch:
    """What an attempt changed from *start* to *tip*, without what it took in from the line."""
    base = _base(repository, branch, start, tip)
    git = repository.git
    plain = ("diff-tree", "-r", "--find-renames", "--no-color", "--no-ext-diff", "--no-textconv")
    table = git.run(*plain, "--stat=100", "--stat-count=200", base, tip).out
    patch = git.run(*plain, "--patch", base, tip).out
    kept = patch[:limit_bytes]
    if len(kept) < len(patch):
        kept = kept[: kept.rfind(b"\n") + 1]
    text = (table + b"\n" + kept).decode("utf-8", "replace")
    return Patch(base, text, len(patch) - len(kept))


def _base(repository: Repository, branch: str, start: str, tip: str) -> str:
    """The newest commit of the line that the tip contains; the start where there is none."""
    done = repository.git.attempt("merge-base", line_ref(branch), tip)
    return done.text if done.code == 0 and done.text else start
