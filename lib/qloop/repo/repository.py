"""A repository as a value: where it is, and the way to what is in it."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qloop.repo.git import Git


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository with a checkout. All paths are absolute and resolved."""

    root: Path
    """The main checkout's folder, whichever worktree qloop was started in."""
    git_dir: Path
    """The common git directory, shared by all worktrees."""

    @property
    def git(self) -> "Git":
        """Git on the repository's refs and objects."""
        from qloop.repo.git import Git

        return Git(self.git_dir, asked=self.git_dir)

    @property
    def objects(self) -> Path:
        """Where the repository keeps its objects."""
        return self.git_dir / "objects"

    @property
    def private(self) -> Path:
        """qloop's own folder within the git directory."""
        return self.git_dir / "qloop"
