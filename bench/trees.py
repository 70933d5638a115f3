"""What git costs for one story in large repositories: qloop's steps, and plain git's worktrees.

`.venv/bin/python bench/trees.py [--files N ...] [--stories N]`. Plain git: `worktree add`, the
work, `add`, `commit`, `merge-tree`, `commit-tree` and `update-ref`, `worktree remove`, `branch -D`.
qloop: all that it does with git around an agent, the looks at the person's repository and the
landing included, with trees that are handed on, and with `sparse = true`. The ways are taken in
turns; medians of the wall clock and of processor time, in milliseconds, and ratios.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

from qloop.repo.checkout import Repository
from qloop.repo.cone import find_cone
from qloop.repo.follow import following
from qloop.repo.guard import check_guard
from qloop.repo.landing import land, landing_lock, propose
from qloop.repo.landing_filter import Rules
from qloop.repo.line import ensure_line, line_tip, write_lease
from qloop.repo.salvage import salvage
from qloop.repo.scratch import note_no_setup
from qloop.repo.settings import read_settings
from qloop.repo.starts import hold_start, release_start
from qloop.repo.workspace import create_workspace, retire_workspace
from qloop.run.looking import Lookout

FILES_IN_FOLDER = 100
LARGEST_FILE_BYTES = 50_000_000
CONTENT = "some line of a file of middling size\n" * 40


@dataclass
class Taken:
    """What the stories of one way took, in seconds each."""

    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)


class Plain:
    """A worktree for each story, by git's own commands."""

    def __init__(self, repo: Path) -> None:
        self.repo = repo
        git(repo, "branch", "plain")

    def story(self, number: int) -> None:
        """One story to its commit on the branch."""
        tree = self.repo.parent / f"plain-{number}"
        branch = f"w-{number}"
        git(self.repo, "worktree", "add", "-q", "--no-track", "-b", branch, str(tree), "plain")
        work(tree, f"plain-{number}")
        git(tree, "add", "--all")
        git(tree, "commit", "-q", "-m", branch)
        old = git(self.repo, "rev-parse", "plain")
        merged = git(self.repo, "merge-tree", "--write-tree", old, branch)
        new = git(self.repo, "commit-tree", "-p", old, "-m", branch, merged)
        git(self.repo, "update-ref", "refs/heads/plain", new, old)
        git(self.repo, "worktree", "remove", "--force", str(tree))
        git(self.repo, "branch", "-q", "-D", branch)


class Qloop:
    """The steps of an attempt, without an agent around them."""

    def __init__(self, repository: Repository, branch: str, lease: str, *, sparse: bool) -> None:
        self.repository = repository
        self.settings = read_settings(self.repository)
        self.branch = branch
        self.sparse = sparse
        self.base = repository.root.parent / f"trees-{branch}"
        ensure_line(self.repository, branch)
        self.lease = lease

    def story(self, number: int) -> None:
        """One story to its commit on the line."""
        story = f"{self.branch}-{number}"
        name = f"{story}.1.{number:08x}"
        with closing(Lookout(self.repository)) as lookout:
            before = lookout.begin()
            start = line_tip(self.repository, self.branch)
            hold_start(self.repository, start, name)
            paths = ["d0/plain.txt"] if self.sparse else []
            cone = find_cone(self.repository, start, paths)
            ws = note_no_setup(
                create_workspace(
                    *(self.repository, self.settings, self.base, name, f"ql-wt/{story}"),
                    *(start, cone),
                )
            )
            before()
            work(ws.tree, story)
            after = lookout.begin()
            kept = salvage(ws, self.repository, story, 1, "implemented")
            after()
        check_guard(ws, self.repository)
        self._land(name, story, start, kept.tip)
        release_start(self.repository, name)
        retire_workspace(ws)

    def _land(self, name: str, story: str, start: str, tip: str) -> None:
        with landing_lock(self.repository):
            candidate = propose(
                *(self.repository, self.branch, start, tip),
                story=story,
                title="",
                attempt=1,
                attempt_id=name,
                rules=Rules((), (), LARGEST_FILE_BYTES),
            )
            along = following(self.repository, self.branch, candidate.commit)
            land(self.repository, self.branch, candidate, name, self.lease, along)


def work(tree: Path, name: str) -> None:
    """What the agent does: one new file, one changed."""
    (tree / "d0" / f"{name}.txt").write_text(name, encoding="utf-8")
    (tree / "d0" / "f0.txt").write_text(name, encoding="utf-8")


def make_repository(repo: Path, files: int) -> None:
    """A repository of many files with one commit."""
    for number in range(files):
        path = repo / f"d{number // FILES_IN_FOLDER}" / f"f{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{number}\n{CONTENT}", encoding="utf-8")
    git(repo, "init", "-q", "-b", "main")
    for name, value in (
        ("user.name", "bench"),
        ("user.email", "bench@localhost"),
        ("gc.auto", "0"),
    ):
        git(repo, "config", name, value)
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "start")
    git(repo, "status")


def git(cwd: Path, *args: str) -> str:
    """Run git, which must end well; its output."""
    done = subprocess.run(["git", *args], cwd=cwd, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def processor_s() -> float:
    """User and system time of this process and of those that it waited for."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


def timed(story: Callable[[int], None], number: int, taken: Taken) -> None:
    """Time one story."""
    began, used = time.monotonic(), processor_s()
    story(number)
    taken.wall.append(time.monotonic() - began)
    taken.processor.append(processor_s() - used)


def compare(files: int, stories: int) -> None:
    """Time the three ways in one repository, in turns."""
    with tempfile.TemporaryDirectory(prefix="qloop-bench-") as folder:
        repo = Path(folder) / "repo"
        repo.mkdir()
        make_repository(repo, files)
        repository = Repository(root=repo, git_dir=repo / ".git")
        lease = write_lease(repository, "bench")
        ways: dict[str, Callable[[int], None]] = {
            "plain git": Plain(repo).story,
            "qloop": Qloop(repository, "handed-on", lease, sparse=False).story,
            "qloop, sparse": Qloop(repository, "sparse", lease, sparse=True).story,
        }
        taken = {name: Taken() for name in ways}
        for name, story in ways.items():
            timed(story, 1, Taken())  # the first tree is new in every way
            timed(story, 2, Taken())
            print(f"{files} files: {name} warmed up", file=sys.stderr)
        for number in range(3, 3 + stories):
            for name, story in ways.items():
                timed(story, number, taken[name])
        show(files, taken)


def show(files: int, taken: dict[str, Taken]) -> None:
    """Print medians and ratios."""
    print(f"\n{files} files, a story:")
    plain = taken["plain git"]
    for name, one in taken.items():
        wall, of_wall = compared(one.wall, plain.wall)
        used, of_used = compared(one.processor, plain.processor)
        figures = f"{wall:7.1f} ms ({of_wall:.2f} x), of processor {used:7.1f} ms ({of_used:.2f} x)"
        print(f"  {name:<14} {figures}", flush=True)


def compared(times: list[float], others: list[float]) -> tuple[float, float]:
    """The median in milliseconds, and its ratio to the others'."""
    median = statistics.median(times)
    return median * 1000, median / statistics.median(others)


def main() -> None:
    """Compare at each size asked for."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--files", type=int, nargs="+", default=[5_000, 50_000])
    words.add_argument("--stories", type=int, default=7)
    asked = words.parse_args()
    for files in asked.files:
        compare(files, asked.stories)


if __name__ == "__main__":
    main()
