"""What may land: state files never do, and some things only make sense on one machine.

Judged are only entries that differ from the line's. A tree is changed in an index of a
`merge_repository`, never in a checkout. Paths are relative to the repository's root, with `/`.
Errors: LandingRefused with every reason at once; GitFailed.
"""

import functools
import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from qloop.repo.blobs import object_contents, object_sizes
from qloop.repo.git import Git, pairs
from qloop.repo.merging import shown_path, with_entries
from qloop.system.errors import QloopError

_ALWAYS_STATE = (".qloop", "qloop.toml")
_NO_ENTRY, _GITLINK, _LINK = "000000", "160000", "120000"
_LONGEST_TARGET_BYTES = 4096  # PATH_MAX: a longer one leads nowhere


class LandingRefused(QloopError):
    """The work holds something that must not land."""

    def __init__(self, reasons: tuple[str, ...]) -> None:
        super().__init__("refused to land: " + "; ".join(reasons))
        self.reasons = reasons
        """One sentence for each thing refused, beginning with its name."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What the caller knows of paths that must not land."""

    state_paths: tuple[str, ...]
    """Besides `.qloop/` and `qloop.toml`: the state file, where it lies in the repository."""
    copy_files: tuple[str, ...]
    """Files and folders that were brought into the worktree untracked."""
    file_bytes: int
    """The size above which a file does not land."""
    generated: tuple[str, ...] = ()
    """Files, and folders of them, that commands make anew where both sides changed them."""

    def is_generated(self, path: str) -> bool:
        """Whether *path* is made by a command, or lies in a folder of such files."""
        return any(_within(path, one) for one in self.generated)

    def is_state(self, path: str) -> bool:
        """Whether *path* is a state file, or lies in a folder of them."""
        return any(_within(path, state) for state in (*_ALWAYS_STATE, *self.state_paths))


@dataclass(frozen=True, slots=True)
class Change:
    """An entry that differs between two trees; mode `000000` stands for none."""

    path: str
    old_mode: str
    old: str
    mode: str
    name: str

    @property
    def was_there(self) -> bool:
        """Whether the older tree has the entry."""
        return self.old_mode != _NO_ENTRY

    @property
    def is_there(self) -> bool:
        """Whether the newer tree has the entry."""
        return self.mode != _NO_ENTRY


def changes_between(git: Git, old: str, new: str) -> list[Change]:
    """The files that differ between two trees or commits; renames are not looked for."""
    return list(_changes_between(git, old, new))


@functools.lru_cache(maxsize=4)
def _changes_between(git: Git, old: str, new: str) -> tuple[Change, ...]:
    """The same; one landing asks for the same two trees several times."""
    fields = git.fields(
        *("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames"),
        *("--ignore-submodules=none", old, new),
    )
    found: list[Change] = []
    for described, path in pairs(fields):
        old_mode, mode, old_name, name, _ = described.removeprefix(":").split(" ")
        found.append(Change(path, old_mode, old_name, mode, name))
    return tuple(found)


def restore_state(git: Git, source: str, tree: str, rules: Rules) -> str:
    """*tree* with the state files of *source*."""
    return take_over(git, source, tree, rules.is_state)


def take_over(git: Git, source: str, tree: str, is_meant: Callable[[str], bool]) -> str:
    """*tree* with those entries of *source* whose paths are meant; absent there is absent here."""
    changed = [change for change in changes_between(git, source, tree) if is_meant(change.path)]
    gone = [f"0 {'0' * len(c.name)}\t{c.path}" for c in changed if c.is_there]
    back = [f"{c.old_mode} {c.old}\t{c.path}" for c in changed if c.was_there]
    return with_entries(git, tree, [*gone, *back])


def filter_tree(git: Git, line: str, tree: str, rules: Rules) -> str:
    """*tree* as it may land on *line*, with the line's state files. Raises LandingRefused."""
    kept = restore_state(git, line, tree, rules)
    added = [change for change in changes_between(git, line, kept) if change.is_there]
    reasons = [
        *_foreign_repositories(git, kept, added),
        *_outward_links(git, kept, added),
        *_private_files(added, rules.copy_files),
        *_large_files(git, added, rules.file_bytes),
    ]
    if reasons:
        raise LandingRefused(tuple(dict.fromkeys(reasons)))
    return kept


def _foreign_repositories(git: Git, tree: str, changes: list[Change]) -> Iterator[str]:
    links = [change.path for change in changes if change.mode == _GITLINK]
    if not links:
        return
    listed = git.attempt(
        *("config", "--blob", f"{tree}:.gitmodules", "-z"),
        *("--get-regexp", r"^submodule\..*\.path$"),
    )
    known: set[str] = set()
    if listed.code == 0:  # anything else: no such file, or one that git cannot read
        fields = listed.out.decode("utf-8", "surrogateescape").split("\0")
        known = {field.partition("\n")[2].rstrip("/") for field in fields if field}
    for path in links:
        if path not in known:
            yield f"{shown_path(path)}: a repository of its own, without an entry in .gitmodules"


def _outward_links(git: Git, tree: str, changes: list[Change]) -> Iterator[str]:
    links = [change for change in changes if change.mode == _LINK]
    if not links:
        return
    sizes = object_sizes(git, (link.name for link in links))
    readable = [link for link in links if sizes[link.name] <= _LONGEST_TARGET_BYTES]
    outward = {link.path for link in links} - {link.path for link in readable}
    targets = object_contents(git, {link.name: sizes[link.name] for link in readable})
    outward.update(link.path for link in readable if _leads_out(link.path, targets[link.name]))
    outward.update(_followed_out(git, tree, [link.path for link in readable]))
    for path in sorted(outward):
        yield f"{shown_path(path)}: a link that leads out of the repository"


def _leads_out(path: str, target: bytes) -> bool:
    """Whether the words of a link lead above the root, whatever lies on the way."""
    words = target.decode("utf-8", "surrogateescape")
    reached = posixpath.normpath(posixpath.join(posixpath.dirname(path), words))
    return reached.startswith(("/", "../")) or reached == ".."


def _followed_out(git: Git, tree: str, paths: list[str]) -> Iterator[str]:
    """Those links that lead out by way of other links in *tree*."""
    asked = "".join(f"{tree}:{path}\0" for path in paths).encode("utf-8", "surrogateescape")
    rest = git.run(
        *("cat-file", "--batch-check=%(objecttype)", "--follow-symlinks", "-z"), stdin=asked
    ).out
    for path in paths:
        answer, _, rest = rest.partition(b"\n")
        kind, _, size = answer.partition(b" ")
        if kind in (b"symlink", b"dangling", b"loop", b"notdir"):
            rest = rest[int(size) + 1 :]
        if kind == b"symlink":  # git's word for: the link leads out of the tree
            yield path


def _private_files(changes: list[Change], copy_files: tuple[str, ...]) -> Iterator[str]:
    for change in changes:
        if change.was_there:
            continue
        name = posixpath.basename(change.path).lower()
        if name.startswith(".env"):
            yield f"{shown_path(change.path)}: an environment file that the line does not track"
        elif any(_within(change.path, brought.strip("/")) for brought in copy_files):
            yield f"{shown_path(change.path)}: brought in by copyFiles, not tracked by the line"


def _large_files(git: Git, changes: list[Change], limit_bytes: int) -> Iterator[str]:
    files = [change for change in changes if change.mode != _GITLINK]
    sizes = object_sizes(git, (change.name for change in files))
    for change in files:
        size = sizes[change.name]
        if size > limit_bytes:
            yield f"{shown_path(change.path)}: {size} bytes, more than the limit of {limit_bytes}"


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")
