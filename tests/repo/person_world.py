"""A person's repository that agents go to by absolute path, and what qloop makes of it."""

import os
from pathlib import Path

from qloop.repo.breach import find_changes, keep_and_undo
from qloop.repo.changes import Change, Changes
from qloop.repo.checkout import Repository, find_repository
from qloop.repo.marks import agent_git_environment
from qloop.repo.person import Snapshot, take_snapshot
from qloop.repo.trace import read_trace
from qloop.system import process
from repository import Repo


class Agent:
    """Runs real git as an attempt's agent would, marked and traced, from a folder of its own."""

    def __init__(self, repo: Repo, number: int = 1) -> None:
        self.repo = repo
        self.attempt_id = f"US-1.{number}.{number:08x}"
        self.place = repo.path.parent / f"agent {number}"
        self.place.mkdir()
        self.trace = self.place / "trace.jsonl"
        self.before: Snapshot = take_snapshot(self.repository)

    @property
    def repository(self) -> Repository:
        """The person's repository."""
        return find_repository(self.repo.path)

    @property
    def environment(self) -> dict[str, str]:
        """The agent's environment."""
        marks = agent_git_environment(
            "Pat Person", "pat@example.invalid", self.attempt_id, self.trace
        )
        return {**os.environ, **marks}

    def git(self, *args: str, cwd: Path | None = None, code: int = 0) -> str:
        """Run git in the person's checkout, or in *cwd*."""
        return self.run("git", *args, cwd=cwd or self.repo.path, code=code)

    def run(self, *argv: str, cwd: Path | None = None, code: int = 0) -> str:
        """Run any command with the marks."""
        done = process.run(argv, cwd=cwd or self.place, env=self.environment)
        assert done.code == code, f"{argv}: {done.code} {done.complaint}"
        return done.text

    def changes(self) -> Changes:
        """What changed since this agent began."""
        return find_changes(
            self.repository,
            self.before,
            take_snapshot(self.repository),
            self.attempt_id,
            read_trace(self.trace),
        )

    def settle(self) -> tuple[Changes, tuple[str, ...]]:
        """What changed, and what was said after it was kept and taken back."""
        changes = self.changes()
        return changes, keep_and_undo(self.repository, changes, self.attempt_id)


def named(changes: tuple[Change, ...], kind: str) -> list[str]:
    """The names of the changes of a kind."""
    return [change.name for change in changes if change.kind == kind]


def value(repo: Repo, ref: str) -> str:
    """What a ref points at, or nothing where there is none."""
    return repo.git("rev-parse", "--verify", "--quiet", ref, check=False)
