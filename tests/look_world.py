"""A repository with a plan and a journal as a run would leave them, made by hand."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qloop.plan.model import Json
from qloop.state.journal import EventKind, Journal
from qloop.system.identity import identify, this_process
from repository import Repo

RUN = "r-20260102T030405Z-4f2a"
BRANCH = "ql/x"


def story(story_id: str, status: str = "pending", *needs: str, **fields: Any) -> Json:
    """A story of that status that depends on *needs*."""
    title = f"The {story_id}"
    return {"id": story_id, "title": title, "status": status, "dependsOn": list(needs), **fields}


def failed(attempts: int, reason: str, **fields: Any) -> Json:
    """Retries of a story whose newest failure is *reason*."""
    entry = {"attempt": attempts, "phase": "verification", "reason": reason, **fields}
    return {"attempts": attempts, "maxAttempts": 3, "failureLog": [entry]}


@dataclass
class World:
    """The repository, and the ways to write what commands look at."""

    repo: Repo

    @property
    def private(self) -> Path:
        """The `.qloop` folder."""
        return self.repo.path / ".qloop"

    @property
    def quantum(self) -> Path:
        """The state file."""
        return self.repo.path / "quantum.json"

    def plan(self, *stories: Json, **fields: Any) -> None:
        """Write the state file."""
        value = {"branchName": BRANCH, "stories": list(stories), **fields}
        self.quantum.write_text(json.dumps(value), encoding="utf-8")

    def tell(self, kind: EventKind, *, run: str = RUN, **data: Any) -> None:
        """Append an event to the journal."""
        self.private.mkdir(exist_ok=True)
        Journal(self.private / "events.jsonl", run).append(kind, **data)

    def attempt(self, name: str, number: int, *, wave: str = "wave-1", **end: Any) -> None:
        """Journal an attempt; *end* is what it settled as, or nothing for one at work."""
        where: Any = {"story": name, "attempt": number, "wave": wave}
        self.tell(EventKind.ATTEMPT_STARTED, **where, runner="shell")
        if end:
            self.tell(EventKind.STORY_SETTLED, **where, **end)

    def log(self, name: str, number: int, files: dict[str, bytes]) -> Path:
        """Write log files of an attempt, and return their folder."""
        folder = self.private / "logs" / name / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        for file, data in files.items():
            (folder / file).write_bytes(data)
        return folder

    def hold(self, *, dead: bool = False) -> int:
        """Let a run hold the repository, this process or one that is gone; returns its pid."""
        process = this_process()
        if dead:
            child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
            found = identify(child.pid)
            child.communicate(b"\n")
            assert found is not None
            process = found
        self.private.mkdir(exist_ok=True)
        value = {**process.to_json(), "mode": "coordinator", "run": RUN}
        value["startedAt"] = "2026-01-02T03:04:05.000Z"
        (self.private / "run.json").write_text(json.dumps(value), encoding="utf-8")
        return process.pid

    def land(self, text: str) -> str:
        """A commit on the line that the branch does not have yet."""
        commit = self.commit(text)
        self.repo.git("update-ref", f"refs/qloop/line/{BRANCH}", commit)
        return commit

    def commit(self, message: str) -> str:
        """A commit that takes up none of the files that lie about."""
        self.repo.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.repo.git("rev-parse", "HEAD")
