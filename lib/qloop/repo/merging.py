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
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Version:
    """One side's version of a conflicting path, as an index holds it."""

    mode: str
    name: str
    """The object's name."""
    stage: int
    """1 for what both sides come from, 2 for ours, 3 for theirs."""
    path: str


@dataclass(frozen=True, slots=True)
class Merge:
    """What two commits come to together."""

    ours: str
    theirs: str
    tree: str
    """The merged tree; where both sides changed the same places, with marks around them."""
    versions: tuple[Version, ...] = ()
    """Of every conflicting path; none where the merge is clean."""

    @property
    def files(self) -> tuple[str, ...]:
        """The conflicting paths, from the repository's root."""
        return tuple(sorted({one.path for one in self.versions}))


class MergeConflict(QloopError):
    """Both sides changed the same places."""

    def __init__(self, merge: Merge, stale: tuple[str, ...] = ()) -> None:
        shown = ", ".join(shown_path(path) for path in merge.files)
        super().__init__(f"merge conflict in {shown}")
        self.merge = merge
        self.stale = stale
        """Paths that stand in the merge as ours, and are to be made anew by commands."""

    @property
    def files(self) -> tuple[str, ...]:
        """The conflicting paths, from the repository's root."""
        return self.merge.files


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
    merge = try_merge(git, ours, theirs, line)
    if merge.versions:
        raise MergeConflict(merge)
    return merge.tree


def try_merge(git: Git, ours: str, theirs: str, line: str) -> Merge:
    """The same, whether it comes out clean or not."""
    changed = git.fields("diff-tree", "-r", "-z", "--name-only", "--no-renames", ours, theirs)
    (git.git_dir / "info" / "attributes").write_bytes(line_attributes(git, line, changed))
    done = git.attempt(
        *("-c", "merge.renormalize=true"),
        *("merge-tree", "--write-tree", "-z", ours, theirs),
    )
    tree, _, rest = done.out.partition(b"\0")
    listed = rest.partition(b"\0\0")[0] if done.code == 1 else b""
    versions = tuple(_version(entry) for entry in split_nul(listed))
    if done.code != (1 if versions else 0):
        raise GitFailed(done)
    return Merge(ours, theirs, os.fsdecode(tree), versions)


def _version(entry: str) -> Version:
    described, _, path = entry.partition("\t")
    mode, name, stage = described.split(" ")
    return Version(mode, name, int(stage), path)


def commit_on(git: Git, tree: str, parent: str) -> str:
    """A commit that never lands: *tree* on *parent*, to give a merge its base."""
    return git.text("commit-tree", tree, "-p", parent, "-m", "base", env=_FIXED_DATES)


def with_entries(git: Git, tree: str, lines: list[str]) -> str:
    """*tree* with entries put in or out, in the words of `git update-index --index-info`."""
    if not lines:
        return tree
    text = "".join(f"{line}\0" for line in lines).encode("utf-8", "surrogateescape")
    with tempfile.TemporaryDirectory(dir=git.git_dir) as folder:
        index = git.using(index=Path(folder) / "index")
        index.run("read-tree", tree)
        index.run("update-index", "-z", "--index-info", stdin=text)
        return index.text("write-tree")


def tree_of(git: Git, commit: str) -> str:
    """The tree of a commit."""
    return git.text("rev-parse", "--verify", f"{commit}^{{tree}}")


def shown_path(path: str) -> str:
    """A path for a message: as it is, or escaped where it would not show."""
    return path if path.isprintable() else json.dumps(path)
