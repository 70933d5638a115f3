"""The desk of one attempt: its folders, its environments, its marks, its journal.

A desk is what attempt, gates and landing share about one dispatch of one story.
"""

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qloop.agents.environment import base_environment
from qloop.agents.manifest import Manifest
from qloop.agents.words import variables
from qloop.repo.marks import agent_git_environment
from qloop.repo.settings import PersonSettings
from qloop.repo.workspace import Workspace
from qloop.run.orders import Dispatch, Reserved, Terms
from qloop.system.cancel import Cancel
from qloop.system.files import write_atomic
from qloop.system.masking import find_secrets
from qloop.system.tree import Marks

RUNNER_FILES = "runner"
"""The folder of a runner's files, in the attempt's temporary folder."""

Emit = Callable[..., None]
"""Journals an event of the attempt: `emit(EventKind.GATE_ENDED, command=…)`."""


@dataclass(frozen=True, slots=True)
class Desk:
    """One dispatch at work."""

    terms: Terms
    wave: str
    dispatch: Dispatch
    workspace: Workspace
    emit: Emit
    cancel: Cancel
    tickets: dict[str, Reserved] = field(default_factory=dict)
    """What is reserved for the attempt's agents and not used yet, by role."""
    port_base: int | None = None
    """The first of the ports that are the attempt's; None where none were free."""

    @property
    def logs(self) -> Path:
        """Where the attempt's output is kept, in the person's checkout."""
        return logs_folder(self.terms, self.dispatch)

    @property
    def marks(self) -> Marks:
        """How the attempt's processes are known."""
        workspace = self.workspace
        return Marks(
            env=(f"QLOOP_ATTEMPT_ID={self.dispatch.attempt_id}",),
            folders=(workspace.tree, workspace.tmp, self.logs),
        )

    @property
    def story_file(self) -> Path:
        """The story as JSON, outside the worktree; it goes with the workspace."""
        return self.workspace.tmp / "story.json"

    @property
    def trace(self) -> Path:
        """Where the attempt's git commands are recorded."""
        return self.logs / "git-trace.jsonl"

    @property
    def runner_files(self) -> Path:
        """The folder of a runner's files."""
        return self.workspace.tmp / RUNNER_FILES

    def starts_of(self, runner: Manifest) -> Path:
        """Where the last start of a runner is noted, for all that start it in this repository."""
        name = hashlib.sha256(runner.name.encode()).hexdigest()[:16]  # a name may hold anything
        return Path(self.terms.place.private) / "starts" / name

    def gate_environment(self) -> dict[str, str]:
        """What set-up and gate commands see."""
        return {**base_environment(self.terms.env_pass), **self._own()}

    def agent_environment(
        self, runner: Manifest, role: str, tree: Path, checks: tuple[str, ...] = ()
    ) -> dict[str, str]:
        """What an agent sees that works in *tree*: the above and its manifest's variables.

        *checks* are the commands that it may run, where its manifest says so by a variable.
        """
        given = variables(runner, self.runner_files, checks)
        own = {**self._own(), "QLOOP_ROLE": role, "QLOOP_WORKTREE": str(tree)}
        return {**base_environment(self.terms.env_pass), **given, **own}

    def secrets(self) -> tuple[bytes, ...]:
        """What its runner knows, and qloop itself, that must not stand in anything kept."""
        return find_secrets({**os.environ, **self.dispatch.runner.set_env})

    def write_files(self, runner: Manifest) -> None:
        """Put a runner's files where its variables name them."""
        for name, text in runner.files.items():
            write_atomic(self.runner_files / name, text.encode())

    def write_story(self, story: dict[str, Any]) -> None:
        """Put the story where `QLOOP_STORY_FILE` names it."""
        text = json.dumps(story, ensure_ascii=False, indent=2) + "\n"
        self.story_file.write_text(text, encoding="utf-8", errors="backslashreplace")

    def _own(self) -> dict[str, str]:
        """Who the attempt is, to git and to whoever asks."""
        dispatch = self.dispatch
        settings = PersonSettings.from_dict(self.terms.settings)
        return {
            **agent_git_environment(settings.name, settings.email, dispatch.attempt_id, self.trace),
            **port_variables(self.port_base),
            "QLOOP_ATTEMPT": str(dispatch.attempt),
            "QLOOP_ATTEMPT_ID": dispatch.attempt_id,
            "QLOOP_ROLE": "implementer",
            "QLOOP_RUN": self.terms.run_id,
            "QLOOP_SLOT": str(dispatch.slot),
            "QLOOP_STORY": dispatch.story,
            "QLOOP_STORY_FILE": str(self.story_file),
            "QLOOP_WAVE": self.wave,
            "QLOOP_WORKTREE": str(self.workspace.tree),
            "TMPDIR": str(self.workspace.tmp),
        }


def port_variables(base: int | None) -> dict[str, str]:
    """How what is started learns of its ports."""
    return {} if base is None else {"QLOOP_PORT_BASE": str(base)}


def logs_folder(terms: Terms, dispatch: Dispatch) -> Path:
    """Where one dispatch's output is kept."""
    return Path(terms.place.private) / "logs" / dispatch.story / str(dispatch.attempt)


def shown(path: Path, terms: Terms) -> str:
    """A log's path as it stands in the state file: relative to the checkout."""
    root = Path(terms.place.root)
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
