"""History as landing needs it: commits with all that is asked of them, from one call each.

Errors: GitFailed. Source: git-rev-list(1).
"""

import os
from dataclasses import dataclass

from qloop.repo.git import Git


@dataclass(frozen=True, slots=True)
class OwnCommit:
    """A commit that an attempt added. Names are full object names."""

    name: str
    tree: str
    parents: tuple[str, ...]
    committer: str
    """The committer's name."""
    author: tuple[str, str, str]
    """Name, address, and date as `seconds zone`; bytes that are not UTF-8 as surrogates."""
    subject: str


def trees_since(git: Git, tip: str, since: str) -> dict[str, str]:
    """The first-parent chain from *tip* down to *since*, both included, newest first: the trees.

    Empty where *since* does not stand on that chain.
    """
    listed = git.text(
        *("rev-list", "--no-commit-header", "--first-parent", "--format=%H %T"),
        *(tip, "--not", f"{since}^@"),
    )
    chain = dict(line.split(" ") for line in listed.splitlines())
    return chain if since in chain else {}


def own_commits(git: Git, tip: str, *known: str) -> tuple[OwnCommit, ...]:
    """What *tip* contains and *known* do not, oldest first; the last is *tip*, if there are any.

    It goes by dates, which an agent's clock gives, and may list a commit that *known* contain.
    """
    listed = git.run(
        *("rev-list", "--no-commit-header", "--topo-order", "--reverse", "--encoding=UTF-8"),
        *("--date=raw", "--format=%H%x00%T%x00%P%x00%cn%x00%an%x00%ae%x00%ad%x00%s"),
        *(tip, "--not", *known),
    ).out
    return tuple(map(_parse_commit, listed.split(b"\n")[:-1]))


def _parse_commit(line: bytes) -> OwnCommit:
    name, tree, parents, committer, *author, subject = line.split(b"\0")
    author_name, email, date = map(os.fsdecode, author)
    return OwnCommit(
        name=name.decode(),
        tree=tree.decode(),
        parents=tuple(parents.decode().split()),
        committer=committer.decode("utf-8", "replace"),
        author=(author_name, email, date),
        subject=subject.decode("utf-8", "replace"),
    )
