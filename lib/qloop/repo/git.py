"""The one door to git: plumbing calls that nothing in a repository or around it can bend.

Every call names its git directory, obeys no `GIT_*` of the caller, runs no hook, reads no replace
refs, grafts, system or global configuration, takes no optional lock and cannot prompt. Commits
are full object names. Errors: GitFailed when git itself failed. Source: git(1), git-config(1).
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from qloop.repo import ancestry, lookup
from qloop.system import process
from qloop.system.dialogue import Dialogue
from qloop.system.errors import InternalFailure, ProgramMissing

QLOOP_NAME = "qloop"
QLOOP_EMAIL = "qloop@localhost"

_OWN_CONFIG = (
    "advice.graftFileDeprecated=false",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.quotePath=false",
    "color.ui=false",
    "commit.gpgSign=false",
    "diff.noprefix=false",
    "gc.auto=0",
    "log.showSignature=false",
    "maintenance.auto=false",
    "merge.directoryRenames=false",
    "safe.directory=*",
)
_OWN_ENVIRONMENT = {
    "GIT_ASKPASS": "true",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_AUTHOR_EMAIL": QLOOP_EMAIL,
    "GIT_AUTHOR_NAME": QLOOP_NAME,
    "GIT_COMMITTER_EMAIL": QLOOP_EMAIL,
    "GIT_COMMITTER_NAME": QLOOP_NAME,
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_EDITOR": "true",
    "GIT_GRAFT_FILE": "/dev/null",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


class GitFailed(InternalFailure):
    """A git command failed where it should have worked."""

    def __init__(self, done: process.Completed) -> None:
        words = [
            word for word in done.argv[1:] if not word.startswith(("--git-dir", "--work-tree"))
        ]
        super().__init__(
            f"git ended with {done.code}: {done.complaint or 'no message'}",
            where="git " + " ".join(_without_config(words)[:8]),
        )
        self.done = done


@dataclass(frozen=True, slots=True)
class Git:
    """Git bound to one git directory, and where given to a work tree, index or object store."""

    git_dir: Path
    work_tree: Path | None = None
    index: Path | None = None
    objects: Path | None = None
    asked: Path | None = None
    """The git directory whose objects it reads, if that one lasts: a git may stay to answer."""

    def using(self, *, work_tree: Path | None = None, index: Path | None = None) -> "Git":
        """The same repository with another work tree or index file."""
        return replace(self, work_tree=work_tree or self.work_tree, index=index or self.index)

    def attempt(
        self,
        *args: str,
        stdin: bytes | Path = b"",
        env: Mapping[str, str] | None = None,
        timeout_s: float = process.SHORT_COMMAND_LIMIT_S,
    ) -> process.Completed:
        """Run git and return what came of it, whatever its exit code."""
        return process.run(
            [*self._words(), *args],
            cwd=self.work_tree or self.git_dir,
            env={**self._environment(), **(env or {})},
            stdin=stdin,
            timeout_s=timeout_s,
        )

    def run(
        self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> process.Completed:
        """Run git; raises GitFailed on any exit code but 0."""
        done = self.attempt(*args, stdin=stdin, env=env)
        if done.code != 0:
            raise GitFailed(done)
        return done

    def text(self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> str:
        """Standard output as text, without the final line end."""
        return self.run(*args, stdin=stdin, env=env).text

    def fields(self, *args: str, stdin: bytes = b"") -> list[str]:
        """Standard output of a `-z` command, split at its NUL bytes."""
        return split_nul(self.run(*args, stdin=stdin).out)

    def holds(self, *args: str) -> bool:
        """True for exit code 0, False for 1; raises GitFailed for anything else."""
        done = self.attempt(*args)
        if done.code not in (0, 1):
            raise GitFailed(done)
        return done.code == 0

    def find(self, revision: str) -> str | None:
        """The object name of a revision, or None where there is none such."""
        found = self._look_up(revision)
        if found is not None:
            return found[0].name if found[0] is not None else None
        done = self.attempt("rev-parse", "--verify", "--quiet", "--end-of-options", revision)
        return done.text if done.code == 0 else None

    def find_all(self, *revisions: str) -> tuple[str | None, ...]:
        """The object name of each revision, from one call; None where there is no such object."""
        found = self._look_up(*revisions)
        if found is not None:
            return tuple(one.name if one is not None else None for one in found)
        asked = "".join(f"{revision}\n" for revision in revisions)
        done = self.attempt(
            *("cat-file", "--batch-check=%(objectname)"),
            stdin=asked.encode("utf-8", "surrogateescape"),
        )
        answers = done.text.split("\n")
        if done.code != 0 or len(answers) != len(revisions):
            # A broken object ends the whole call: each is asked for by itself.
            return tuple(self.find(revision) for revision in revisions)
        return tuple(None if " " in answer else answer for answer in answers)

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Whether *older* is *newer* or stands in its history."""
        near = ancestry.contains(self.read_object, newer, older)
        if near is not None:
            return near
        return self.holds("merge-base", "--is-ancestor", older, newer)

    def read_object(self, name: str) -> bytes | None:
        """An object's content by its full name, if a git that stays can tell; None if not."""
        if self.asked is None:
            return None
        return lookup.read_object(self.asked, self._converse, name)

    def sizes(self, *names: str) -> tuple[int | None, ...] | None:
        """The size of each object in bytes, if a git that stays can tell; None if not."""
        if self.asked is None:
            return None
        found = lookup.look_up(self.asked, self._converse, names)
        return None if found is None else tuple(one.size if one else None for one in found)

    def _look_up(self, *revisions: str) -> tuple[lookup.Found | None, ...] | None:
        if self.asked != self.git_dir:  # refs are those of one repository
            return None
        return lookup.look_up(self.git_dir, self._converse, revisions)

    def _converse(self) -> Dialogue:
        assert self.asked is not None
        git = Git(self.asked)
        words = [*git._words(), "cat-file", "--batch-command"]
        limit_s = process.SHORT_COMMAND_LIMIT_S
        return Dialogue.start(words, cwd=git.git_dir, env=git._environment(), timeout_s=limit_s)

    def _words(self) -> list[str]:
        """The command line up to git's own command."""
        words = ["git", f"--git-dir={self.git_dir}"]
        if self.work_tree is not None:
            words.append(f"--work-tree={self.work_tree}")
        for setting in _OWN_CONFIG:
            words += ("-c", setting)
        return words

    def _environment(self) -> dict[str, str]:
        env = {**outer_environment(), **_OWN_ENVIRONMENT}
        if self.index is not None:
            env["GIT_INDEX_FILE"] = str(self.index)
        if self.objects is not None:
            env["GIT_OBJECT_DIRECTORY"] = str(self.objects)
        return env


def outer_environment() -> dict[str, str]:
    """qloop's own environment without what would steer git."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}


def persons_git(cwd: Path, *args: str) -> process.Completed:
    """Run git as the person would in *cwd*, with their configuration but none of `GIT_*`."""
    env = {**outer_environment(), "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
    env["GIT_TERMINAL_PROMPT"] = "0"
    env.pop("QLOOP_RUN", None)  # by it a later run ends what outlives a killed one, but not this
    try:
        return process.run(["git", *args], cwd=cwd, env=env)
    except FileNotFoundError as exc:
        if exc.filename != "git":
            raise
        raise ProgramMissing("git is not installed", fix="install git 2.38 or newer") from exc


def split_nul(data: bytes) -> list[str]:
    """NUL-separated output as a list of file system strings."""
    return [os.fsdecode(part) for part in data.split(b"\0") if part]


def pairs(items: list[str]) -> Iterator[tuple[str, str]]:
    """Consecutive items, two at a time."""
    return zip(items[::2], items[1::2], strict=True)


def _without_config(words: list[str]) -> list[str]:
    kept: list[str] = []
    skip = False
    for word in words:
        if skip or word == "-c":
            skip = not skip
            continue
        kept.append(word)
    return kept
