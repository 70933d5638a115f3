"""A person's repository with a line, and agents that work beside it, for tests of landing."""

import hashlib
import os
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from qloop.repo.checkout import Repository
from qloop.repo.landing import Candidate, LineMoved, land, propose
from qloop.repo.landing_filter import Rules
from qloop.repo.line import ensure_line, line_ref, write_lease
from qloop.repo.marks import committer_mark
from qloop.system import process
from repository import Repo

BRANCH = "ql/x"
LIMIT_BYTES = 50_000_000
TEN_LINES = "".join(f"line {number}\n" for number in range(10))


class Agent(Repo):
    """A worktree on the person's objects, whose commits bear an attempt's mark."""

    def __init__(self, path: Path, attempt_id: str, start: str) -> None:
        self.path = path
        self.attempt_id = attempt_id
        self.start = start

    def git(self, *args: str, cwd: Path | None = None, check: bool = True) -> str:
        """Run git as the agent."""
        identity = {
            "author.name": "Ann Agent",
            "author.email": "ann@example.invalid",
            "committer.name": committer_mark(self.attempt_id),
            "committer.email": "ann@example.invalid",
        }
        settings = [word for pair in identity.items() for word in ("-c", "=".join(pair))]
        done = process.run(["git", *settings, *args], cwd=cwd or self.path)
        assert not check or done.code == 0, f"git {args}: {done.complaint}"
        return done.text

    def git_object(self, content: bytes, kind: str = "blob") -> str:
        """Store *content* as an object and return its name."""
        argv = ["git", "hash-object", "-w", "--literally", "-t", kind, "--stdin"]
        return process.run(argv, cwd=self.path, stdin=content).text

    def git_tree(self, files: dict[str, str]) -> str:
        """Stage *files* and return the name of the staged tree."""
        self.write(files)
        self.git("add", "--all")
        return self.git("write-tree")

    @property
    def tip(self) -> str:
        """The commit that the agent's worktree stands on."""
        return self.git("rev-parse", "HEAD")


class World:
    """The person's repository on branch `main`, and the line of `ql/x`."""

    def __init__(
        self,
        folder: Path,
        files: dict[str, str] | None = None,
        *,
        object_format: str = "sha1",
        clone_of: Path | None = None,
        clone_filter: str | None = None,
    ) -> None:
        self.folder = folder
        path = folder / "a repo"
        if clone_of is not None:
            size = f"--filter={clone_filter}" if clone_filter else "--depth=1"
            options = ("--quiet", size, "--no-checkout", "--template=", clone_of.as_uri())
            assert process.run(["git", "clone", *options, str(path)]).code == 0
        elif object_format != "sha1":
            made = process.run(["git", "init", f"--object-format={object_format}", str(path)])
            assert made.code == 0
        self.person = Repo(path)
        if clone_of is None:
            self.person.commit("start", files or {"shared.txt": TEN_LINES})
        root = path.resolve()
        self.repository = Repository(root=root, git_dir=root / ".git")
        self.start = ensure_line(self.repository, BRANCH)
        self.lease = write_lease(self.repository, "r-1")
        self._agents = 0

    @property
    def line(self) -> str:
        """The line's tip."""
        return self.person.git("rev-parse", line_ref(BRANCH))

    def ref(self, name: str) -> str:
        """What a ref points to, or nothing."""
        return self.person.git("rev-parse", "--verify", "--quiet", name, check=False)

    def agent(self, story: str = "US-1", start: str | None = None) -> Agent:
        """A new attempt at *story* in a worktree of its own, at the line's tip."""
        self._agents += 1
        attempt_id = f"{story}.{self._agents}.{self._agents:08x}"
        path = self.folder / f"agent {self._agents}"
        at = start or self.line
        self.person.git("worktree", "add", "--quiet", "--detach", str(path), at)
        return Agent(path, attempt_id, at)

    def agent_without_files(self, story: str) -> Agent:
        """A new attempt whose worktree has an index but no file of the start is read."""
        self._agents += 1
        attempt_id = f"{story}.{self._agents}.{self._agents:08x}"
        path, at = self.folder / f"agent {self._agents}", self.line
        options = ("--quiet", "--detach", "--no-checkout", str(path), at)
        self.person.git("worktree", "add", *options)
        made = Agent(path, attempt_id, at)
        made.git("read-tree", "HEAD")
        return made

    def propose(self, agent: Agent, **others: Any) -> Candidate:
        """Propose what the agent has committed."""
        story, number, _ = agent.attempt_id.split(".")
        known: dict[str, Any] = {
            "story": story,
            "title": f"Do {story}",
            "attempt": int(number),
            "attempt_id": agent.attempt_id,
        }
        rules = Rules(
            others.pop("state_paths", ("quantum.json",)),
            others.pop("copy_files", ()),
            others.pop("file_bytes", LIMIT_BYTES),
            others.pop("generated", ()),
        )
        start, tip = others.pop("start", agent.start), others.pop("tip", None) or agent.tip
        return propose(self.repository, BRANCH, start, tip, rules=rules, **{**known, **others})

    def land(self, agent: Agent) -> Candidate:
        """Propose and land what the agent has committed."""
        candidate = self.propose(agent)
        land(self.repository, BRANCH, candidate, agent.attempt_id, self.lease)
        return candidate

    def land_files(self, story: str, files: dict[str, str], start: str | None = None) -> Candidate:
        """Let an agent write *files*, commit and land them."""
        agent = self.agent(story, start)
        agent.commit(f"{story} done", files)
        return self.land(agent)

    def files(self, commit: str) -> list[str]:
        """The paths in a commit."""
        listed = self.person.git("ls-tree", "-r", "-z", "--name-only", commit)
        return sorted(listed.rstrip("\0").split("\0"))

    def show(self, commit: str, path: str) -> str:
        """A file's content in a commit, without the final line end."""
        return self.person.git("show", f"{commit}:{path}")


def fingerprint(root: Path) -> dict[str, str]:
    """Every file below *root* but git's own, and the index: path to hash of its bytes."""
    paths = [path for path in root.rglob("*") if path.is_file() or path.is_symlink()]
    kept = [path for path in paths if ".git" not in path.relative_to(root).parts]
    index = root / ".git" / "index"
    return {
        str(path.relative_to(root)): hashlib.sha256(_content(path)).hexdigest()
        for path in [*kept, *([index] if index.exists() else [])]
    }


def _content(path: Path) -> bytes:
    return os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()


def race(
    repository: Repository, start: str, tip: str, story: str, lease: str, turns: Barrier, log: Path
) -> None:
    """Land one attempt after another, each at the same moment as a rival; for a process."""
    for number in range(1, 16):
        attempt_id = f"{story}.{number}.{number:08x}"
        candidate = propose(
            repository,
            BRANCH,
            start,
            tip,
            story=story,
            title="race",
            attempt=number,
            attempt_id=attempt_id,
            rules=Rules((), (), LIMIT_BYTES),
        )
        turns.wait(60)
        try:
            land(repository, BRANCH, candidate, attempt_id, lease)
            result = candidate.commit
        except LineMoved:
            result = "moved"
        with log.open("a", encoding="ascii") as out:
            out.write(f"{result}\n")
        turns.wait(60)
