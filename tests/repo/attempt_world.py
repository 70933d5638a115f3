"""A person's repository and attempts at work in it, for tests."""

import os
from dataclasses import dataclass
from pathlib import Path

from qloop.repo.checkout import Repository
from qloop.repo.git import outer_environment
from qloop.repo.salvage import salvage
from qloop.repo.settings import read_settings
from qloop.repo.workspace import Workspace, create_workspace
from qloop.system import process
from repository import Repo

NAME = "US-001.1.0123abcd"
BRANCH = "ql-wt/US-001"


@dataclass(frozen=True)
class Kept:
    """What a salvage kept, with what can be seen of it in the person's repository."""

    head: str
    tip: str
    dirty: bool
    changed_paths: tuple[str, ...]
    unsaved: tuple[str, ...]


@dataclass(frozen=True)
class World:
    """The person's repository, and the folder for worktrees beside it."""

    repo: Repo
    base: Path

    @property
    def repository(self) -> Repository:
        """The repository as qloop sees it."""
        return Repository(self.repo.path, self.repo.path / ".git")

    @property
    def tip(self) -> str:
        """The person's HEAD."""
        return self.repo.git("rev-parse", "HEAD")

    def make(
        self, name: str = NAME, branch: str | None = BRANCH, start: str | None = None
    ) -> Workspace:
        """A workspace at a commit, by default the person's HEAD."""
        settings = read_settings(self.repository)
        return create_workspace(
            self.repository, settings, self.base, name, branch, start or self.tip
        )

    def salvage(self, ws: Workspace, why: str = "implemented") -> Kept:
        """Salvage attempt 1 of US-001."""
        made = salvage(ws, self.repository, "US-001", 1, why)
        changed = self.repository.git.fields(
            "diff-tree", "-r", "-z", "--name-only", "--no-renames", ws.start, made.tip
        )
        return Kept(
            made.head, made.tip, made.tip != made.head, tuple(sorted(changed)), made.unsaved
        )

    def files(self, commit: str) -> list[str]:
        """The paths of a commit in the person's repository."""
        return self.repo.git("ls-tree", "-r", "-z", "--name-only", commit).split("\0")[:-1]

    def content(self, commit: str, path: str) -> str:
        """A file's content in the person's repository."""
        return self.repository.git.run("cat-file", "blob", f"{commit}:{path}").out.decode()


def agent(ws: Workspace, *args: str, check: bool = True) -> str:
    """Run git as an agent does: in the worktree, found through `.git`."""
    done = process.run(["git", *args], cwd=ws.tree, env=outer_environment())
    assert not check or done.code == 0, f"git {args}: {done.complaint}"
    return done.text


def agent_commits(ws: Workspace, message: str, files: dict[str, str]) -> str:
    """Write files in the worktree and commit all there is; returns the commit."""
    write(ws.tree, files)
    agent(ws, "add", "--all")
    agent(ws, "commit", "--quiet", "-m", message)
    return agent(ws, "rev-parse", "HEAD")


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files by their relative paths."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def picture(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its content, links with their targets."""
    found = {}
    for here, _, names in os.walk(folder):
        for name in names:
            path = Path(here) / name
            link = path.is_symlink()
            found[str(path.relative_to(folder))] = (
                bytes(path.readlink()) if link else path.read_bytes()
            )
    return found
