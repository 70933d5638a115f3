"""History as landing needs it: commits with all that is asked of them, from one call each.

Errors: GitFailed. Source: git-rev-list(1).
"""

import os
from dataclasses import dataclass

from qloop.repo.ancestry import Commit, first_parents, straight_work
from qloop.repo.git import Git


@dataclass(frozen=True, slots=True)
class LineCommit:
    """A commit of the line, and the story that landed with it; None for a person's."""

    name: str
    story: str | None
    subject: str


def line_since(git: Git, tip: str, since: str | None, most: int) -> tuple[LineCommit, ...]:
    """What the first-parent chain of *tip* has beyond *since*, newest first, *most* at most."""
    below = () if since is None else ("--not", since)
    listed = git.run(
        *("rev-list", "--no-commit-header", "--first-parent", f"--max-count={most}"),
        *("--encoding=UTF-8", f"--format=%H%x00%(trailers:{_STORY})%x00%s"),
        *(tip, *below),
    ).out.decode("utf-8", "replace")
    parts = (line.split("\0") for line in listed.splitlines())
    return tuple(LineCommit(name, story or None, subject) for name, story, subject in parts)


_STORY = "key=Qloop-Story,valueonly,separator=%x2C"
"""See git-log(1), pretty formats."""


def trees_since(git: Git, tip: str, since: str) -> dict[str, str]:
    """The first-parent chain from *tip* down to *since*, both included, newest first: the trees.

    Empty where *since* does not stand on that chain.
    """
    near = first_parents(git.read_object, tip, since)
    if near is not None:
        return near
    listed = git.text(
        *("rev-list", "--no-commit-header", "--first-parent", "--format=%H %T"),
        *(tip, "--not", f"{since}^@"),
    )
    chain = dict(line.split(" ") for line in listed.splitlines())
    return chain if since in chain else {}


def own_commits(git: Git, tip: str, start: str, chain: dict[str, str]) -> tuple[Commit, ...]:
    """What an attempt added: in *tip*, and not in *start* nor in the line, oldest first.

    *chain* is the line from its tip down to *start*. The last one is *tip*, if there are any. It
    may go by dates, which an agent's clock gives, and list a commit that the line contains.
    """
    near = straight_work(git.read_object, tip, chain)
    if near is not None:
        return near
    listed = git.run(
        *("rev-list", "--no-commit-header", "--topo-order", "--reverse", "--encoding=UTF-8"),
        *("--date=raw", "--format=%H%x00%T%x00%P%x00%cn%x00%an%x00%ae%x00%ad%x00%s"),
        *(tip, "--not", start, next(iter(chain))),
    ).out
    return tuple(map(_parse_commit, listed.split(b"\n")[:-1]))


def _parse_commit(line: bytes) -> Commit:
    name, tree, parents, committer, *author, subject = line.split(b"\0")
    author_name, email, date = map(os.fsdecode, author)
    return Commit(
        name=name.decode(),
        tree=tree.decode(),
        parents=tuple(parents.decode().split()),
        committer=committer.decode("utf-8", "replace"),
        author=(author_name, email, date),
        subject=subject.decode("utf-8", "replace"),
    )
