"""What a commit tracks: its files by path, kind and size, the texts of some, its last subjects.

Units: bytes. Errors: GitFailed, InternalFailure. Source: git-ls-tree(1), git-log(1).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from qloop.repo.blobs import object_contents
from qloop.repo.git import Git

_LINK = "120000"
_EXECUTABLE = "100755"


@dataclass(frozen=True, slots=True)
class TrackedFile:
    """A file in the tree of a commit; a symbolic link is one too, another repository is not."""

    path: str
    """From the root, as text: bytes that are no UTF-8 are replaced."""
    mode: str
    name: str
    """Its object's name."""
    size: int
    """In bytes."""

    @property
    def is_link(self) -> bool:
        """Whether it only names another file."""
        return self.mode == _LINK

    @property
    def is_executable(self) -> bool:
        """Whether it is meant to be started."""
        return self.mode == _EXECUTABLE


def list_tracked(git: Git, commit: str) -> tuple[TrackedFile, ...]:
    """The files in the tree of *commit*, by path."""
    listed = git.run("ls-tree", "-r", "-l", "-z", "--full-tree", commit).out
    files: list[TrackedFile] = []
    for line in listed.split(b"\0"):
        head, _, path = line.partition(b"\t")
        words = head.split()
        if len(words) == 4 and words[1] == b"blob":
            mode, name = words[0].decode("ascii"), words[2].decode("ascii")
            size = int(words[3]) if words[3].isdigit() else 0
            files.append(TrackedFile(path.decode("utf-8", "replace"), mode, name, size))
    return tuple(files)


def read_tracked(git: Git, files: Iterable[TrackedFile]) -> dict[str, bytes]:
    """The content of files, by path; all of them are in memory at once."""
    wanted = {file.path: file for file in files}
    contents = object_contents(git, {file.name: file.size for file in wanted.values()})
    return {path: contents[file.name] for path, file in wanted.items()}


def last_subjects(git: Git, commit: str, count: int) -> tuple[str, ...]:
    """The subjects of the newest commits up to *commit*, merges left out, newest first."""
    said = git.run(
        *("log", "--no-merges", f"--max-count={count}", "--format=%s", "-z"),
        *("--encoding=UTF-8", commit, "--"),
    ).out
    return tuple(line.decode("utf-8", "replace") for line in said.split(b"\0") if line)
