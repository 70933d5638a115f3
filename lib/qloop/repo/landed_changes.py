"""What a commit of the line brought, file by file, as text; and words looked up in a tree.

Only regular files that read as text are told of, up to a size. Paths are from the repository's
root; lines count from 1.
Errors: GitFailed, InternalFailure. Source: git-diff-tree(1), git-grep(1), git-cat-file(1).
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass

from qloop.repo.blobs import object_contents, object_sizes
from qloop.repo.checkout import Repository
from qloop.repo.git import Git, GitFailed
from qloop.repo.landing_filter import Change, changes_between

LARGEST_TEXT_BYTES = 500_000
MOST_FILES = 1_000
LONGEST_LOOK_S = 120.0

_HUNK = re.compile(rb"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_SPECIAL = re.compile(r"[^\w-]")
_REGULAR = "100"
_PLAIN_DIFF = (
    *("diff-tree", "-r", "--patch", "--unified=0", "--inter-hunk-context=0", "--no-renames"),
    *("--no-color", "--no-ext-diff", "--no-textconv", "--text"),
)


@dataclass(frozen=True, slots=True)
class LandedFile:
    """One file that a commit changed."""

    path: str
    text: str
    """As the commit has it; empty where the commit removed it."""
    before: str | None
    """As its parent has it; None where it was not there."""
    added_lines: frozenset[int]
    """The lines of *text* that the commit wrote."""

    @property
    def is_new(self) -> bool:
        """Whether the commit added the file."""
        return self.before is None


def read_changes(repository: Repository, commit: str) -> tuple[LandedFile, ...]:
    """The text files that differ between a commit and its one parent, by path."""
    git = repository.git
    parent = f"{commit}^"
    changes = [change for change in changes_between(git, parent, commit) if _is_file(change)]
    changes = changes[:MOST_FILES]
    texts = _texts(git, (name for change in changes for name in _names(change)))
    found: list[LandedFile] = []
    for change in changes:
        if not texts.keys() >= set(_names(change)):
            continue  # too large, or no text
        text = texts[change.name] if change.is_there else ""
        before = texts[change.old] if change.was_there else None
        added = _added(git, parent, commit, change, text)
        found.append(LandedFile(change.path, text, before, added))
    return tuple(found)


def read_texts(repository: Repository, commit: str, paths: Iterable[str]) -> dict[str, str]:
    """The content of those *paths* that are text files in the tree of *commit*."""
    asked = [path for path in dict.fromkeys(paths) if "\n" not in path]
    if not asked:
        return {}
    words = "".join(f"{commit}:{path}\0" for path in asked).encode("utf-8", "surrogateescape")
    answers = repository.git.run(
        "cat-file", "--batch-check=%(objecttype) %(objectname)", "-z", stdin=words
    ).out.split(b"\n")
    names: dict[str, str] = {}
    for path, answer in zip(asked, answers, strict=False):
        kind, _, name = answer.partition(b" ")
        if kind == b"blob":
            names[path] = name.decode("ascii")
    texts = _texts(repository.git, names.values())
    return {path: texts[name] for path, name in names.items() if name in texts}


def find_words(repository: Repository, commit: str, words: Iterable[str]) -> dict[str, set[str]]:
    """For each of *words* the text files in the tree of *commit* that hold it as a whole word."""
    found: dict[str, set[str]] = {word: set() for word in words}
    if not found:
        return found
    # One pattern for all of them: git looks for each of several in turn, a hundred times slower.
    pattern = "|".join(_SPECIAL.sub(r"\\\g<0>", word) for word in found)
    done = repository.git.attempt(
        *("grep", "-I", "--only-matching", "--word-regexp", "--extended-regexp", "-z", "-f", "-"),
        *("--no-color", "--no-line-number", "--no-column", "--no-recurse-submodules"),
        *("--full-name", commit),
        stdin=f"({pattern})\n".encode(),
        timeout_s=LONGEST_LOOK_S,
    )
    if done.code not in (0, 1):
        raise GitFailed(done)
    head = re.escape(commit.encode("ascii"))
    for path, word in re.findall(head + rb":([^\0]*)\0([^\n]*)\n", done.out):
        found[word.decode()].add(os.fsdecode(path))
    return found


def stands_on(repository: Repository, commit: str, tip: str) -> bool:
    """Whether *commit* is there and *tip* contains it."""
    found = repository.git.find(f"{commit}^{{commit}}")
    return found is not None and repository.git.is_ancestor(found, tip)


def _is_file(change: Change) -> bool:
    """Whether both sides, where they are there, are regular files."""
    there = [change.old_mode] * change.was_there + [change.mode] * change.is_there
    return all(mode.startswith(_REGULAR) for mode in there)


def _names(change: Change) -> list[str]:
    return [change.old] * change.was_there + [change.name] * change.is_there


def _texts(git: Git, names: Iterable[str]) -> dict[str, str]:
    """Objects that are text, and not too long, by name."""
    sizes = object_sizes(git, names)
    small = {name: size for name, size in sizes.items() if size <= LARGEST_TEXT_BYTES}
    contents = object_contents(git, small)
    return {
        name: content.decode("utf-8", "replace")
        for name, content in contents.items()
        if b"\0" not in content
    }


def _added(git: Git, parent: str, commit: str, change: Change, text: str) -> frozenset[int]:
    if not change.was_there:
        return frozenset(range(1, text.count("\n") + 2))
    if not change.is_there:
        return frozenset()
    patch = git.run("--literal-pathspecs", *_PLAIN_DIFF, parent, commit, "--", change.path).out
    lines: set[int] = set()
    for first, count in _HUNK.findall(patch):
        lines.update(range(int(first), int(first) + int(count or 1)))
    return frozenset(lines)
