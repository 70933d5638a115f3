"""Merging trees without a checkout, under rules that nobody but the line can bend.

Merges run in a repository of qloop's own without files or refs, made for the purpose and removed
after it: its configuration is what is written here, its attributes are what the line commits of
union, binary and text, and what it makes goes straight into the person's objects. No side is ever
preferred.
Errors: MergeConflict for what only an author can resolve; GitFailed for anything else.
Source: git-merge-tree(1): exit 0 clean, 1 conflicts, anything else an error.
"""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qloop.repo.attributes import line_attributes
from qloop.repo.checkout import Repository
from qloop.repo.git import Git, GitFailed, split_nul
from qloop.repo.settings import read_settings
from qloop.repo.skeleton import render_config
from qloop.system.errors import QloopError
from qloop.system.files import read_optional

_FIXED_DATES = {
    "GIT_AUTHOR_DATE": "@0 +0000",
    "GIT_COMMITTER_DATE": "@0 +0000",
}

_OBJECT_FORMATS = {40: "sha1", 64: "sha256"}
"""By the length of an object's name."""

_PARTIAL_CLONE = ("extensions.partialclone", "remote.origin.")


class MergeConflict(QloopError):
    """Both sides changed the same places."""

    def __init__(self, files: tuple[str, ...]) -> None:
        shown = ", ".join(shown_path(path) for path in files)
        super().__init__(f"merge conflict in {shown}")
        self.files = files
        """The conflicting paths, from the repository's root."""


@contextmanager
def merge_repository(repository: Repository, commit: str) -> Iterator[Git]:
    """A repository for one piece of merging, on the person's objects, one of which is *commit*.

    It has a work tree, which stays empty: in a bare one git cannot apply `text`.
    """
    with tempfile.TemporaryDirectory(prefix="qloop-merge-") as name:
        folder = Path(name)
        for part in ("refs", "info", "empty"):
            (folder / part).mkdir()
        (folder / "HEAD").write_text("ref: refs/heads/none\n", encoding="ascii")
        (folder / "config").write_bytes(_configuration(repository, _OBJECT_FORMATS[len(commit)]))
        shallow = read_optional(repository.git_dir / "shallow")
        if shallow is not None:
            (folder / "shallow").write_bytes(shallow)
        yield Git(
            folder,
            work_tree=folder / "empty",
            objects=repository.objects,
            asked=repository.git_dir,
        )


def _configuration(repository: Repository, object_format: str) -> bytes:
    """Nothing of the person's, but for where a partial clone fetches what it left out."""
    entries = [
        ("core.repositoryformatversion", "1"),
        ("core.bare", "false"),
        ("extensions.objectformat", object_format),
    ]
    if b"promisor" in (read_optional(repository.git_dir / "config") or b""):
        settings = read_settings(repository)
        entries += [entry for entry in settings.config if entry[0].startswith(_PARTIAL_CLONE)]
        entries.append(("remote.origin.url", settings.fetch_url or ""))
    return render_config(entries)


def merge_trees(git: Git, ours: str, theirs: str, line: str) -> str:
    """Merge two commits from what they have in common; return the merged tree.

    *git* is a `merge_repository`; *line* is the commit whose attributes count. Raises
    MergeConflict and GitFailed.
    """
    changed = git.fields("diff-tree", "-r", "-z", "--name-only", "--no-renames", ours, theirs)
    (git.git_dir / "info" / "attributes").write_bytes(line_attributes(git, line, changed))
    done = git.attempt(
        *("-c", "merge.renormalize=true"),
        *("merge-tree", "--write-tree", "-z", "--name-only", ours, theirs),
    )
    if done.code == 0:
        return os.fsdecode(done.out.split(b"\0", 1)[0])
    if done.code != 1:
        raise GitFailed(done)
    listed = done.out[done.out.index(b"\0") :].partition(b"\0\0")[0]
    raise MergeConflict(tuple(sorted(set(split_nul(listed)))))


def commit_on(git: Git, tree: str, parent: str) -> str:
    """A commit that nobody sees: *tree* on *parent*, to give a merge its base."""
    return git.text("commit-tree", tree, "-p", parent, "-m", "base", env=_FIXED_DATES)


def tree_of(git: Git, commit: str) -> str:
    """The tree of a commit."""
    return git.text("rev-parse", "--verify", f"{commit}^{{tree}}")


def shown_path(path: str) -> str:
    """A path for a message: as it is, or escaped where it would not show."""
    return path if path.isprintable() else json.dumps(path)
