"""Whole runs side by side: qloop, its own strict waves, `make -j4` and doit with plain git steps.

`.venv/bin/python bench/compare.py [--runs N] [CASE ...]`. Every case is run in turns, so that a
machine whose speed drifts treats all alike; medians and the ratio to make are printed. Needs make
and git, and for doit `.venv/bin/python -m pip install doit`. Units: seconds.
"""

import argparse
import importlib.util
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SLOTS = 4
FILES = 50
BIN = Path(__file__).resolve().parents[1] / "bin" / "qloop"
QLOOP = (str(BIN), "run", "--max-parallel", str(SLOTS))
STEPS = r"""
set -e
id=$1; work=$2; tree=../trees/$id
export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=gc.auto GIT_CONFIG_VALUE_0=0 \
  GIT_CONFIG_KEY_1=maintenance.auto GIT_CONFIG_VALUE_1=false
flock ../add.lock git worktree add -q --no-track -b "w-$id" "$tree" line
cd "$tree"
sleep "$work"; echo "$id" > "$id.txt"
git add "$id.txt"; git commit -q -m "$id"
cd ../../repo
flock ../land.lock sh -ec '
  old=$(git rev-parse refs/heads/line)
  new=$(git commit-tree -p "$old" -m "'"$id"'" "$(git merge-tree --write-tree "$old" "w-'"$id"'")")
  git update-ref refs/heads/line "$new" "$old"'
flock ../add.lock git worktree remove --force "$tree"
git branch -q -D "w-$id"
"""


@dataclass(frozen=True)
class Case:
    """A DAG: each story's dependencies and the seconds that its agent works."""

    name: str
    stories: dict[str, tuple[tuple[str, ...], float]]

    @property
    def ideal_s(self) -> float:
        """The shortest makespan that any schedule could reach on the slots."""
        done: dict[str, float] = {}
        for name, (needs, work) in self.stories.items():
            done[name] = work + max((done[one] for one in needs), default=0.0)
        total = sum(work for _, work in self.stories.values())
        return max(max(done.values()), total / SLOTS)


def diamond(work: float) -> dict[str, tuple[tuple[str, ...], float]]:
    """One story, four, four, one."""
    first = tuple(f"B{number}" for number in range(4))
    second = tuple(f"C{number}" for number in range(4))
    made: dict[str, tuple[tuple[str, ...], float]] = {"A0": ((), work)}
    made |= dict.fromkeys(first, (("A0",), work))
    made |= dict.fromkeys(second, (first, work))
    made["D0"] = (second, work)
    return made


def chain(length: int) -> dict[str, tuple[tuple[str, ...], float]]:
    """One story after the other, with agents that take no time."""
    return {f"S{n}": ((f"S{n - 1}",) if n else (), 0.0) for n in range(length)}


def heavy_tail(count: int) -> dict[str, tuple[tuple[str, ...], float]]:
    """Layers of eight whose agents' times are lognormal, 0.2 to 5 seconds."""
    draw = random.Random(7)
    made: dict[str, tuple[tuple[str, ...], float]] = {}
    for number in range(count):
        above = [f"S{other}" for other in range(max(0, number - 12), number - number % 8)]
        needs = tuple(sorted(draw.sample(above, min(2, len(above)))))
        made[f"S{number}"] = (needs, min(5.0, max(0.2, draw.lognormvariate(-0.3, 1.0))))
    return made


CASES = (
    Case("diamond", diamond(2.0)),
    Case("chain", chain(5)),
    Case("heavy-tail", heavy_tail(40)),
)


def main() -> None:
    """Run the cases asked for and print what they took."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--runs", type=int, default=5, help="counted runs of each way")
    words.add_argument("cases", nargs="*", help="by default all")
    asked = words.parse_args()
    for case in CASES:
        if not asked.cases or case.name in asked.cases:
            compare(case, asked.runs)


def compare(case: Case, runs: int) -> None:
    """Time each way of running a case, in turns, and print medians and ratios."""
    ways: dict[str, Callable[[Case, Path], None]] = {"qloop": by_qloop, "make -j4": by_make}
    if importlib.util.find_spec("doit") is not None:
        ways["doit -n 4"] = by_doit
    if case.name == "heavy-tail":
        ways["qloop --strict-waves"] = by_strict_waves
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(runs):
        for name, way in ways.items():
            taken[name].append(timed(case, way))
    print(f"\n{case.name}: {len(case.stories)} stories, ideal {case.ideal_s:.2f} s", flush=True)
    base = statistics.median(taken["make -j4"])
    for name, times in taken.items():
        median = statistics.median(times)
        print(
            f"  {name:<22} median {median:6.2f} s  (min {min(times):.2f}, max {max(times):.2f})"
            f"  {median / base:5.2f} x make"
            f"  efficiency {case.ideal_s / median:.3f}"
            f"  over ideal {(median - case.ideal_s) / len(case.stories) * 1000:.0f} ms/story"
        )


def timed(case: Case, way: Callable[[Case, Path], None]) -> float:
    """Seconds of one whole run in a fresh repository."""
    with tempfile.TemporaryDirectory(prefix="qloop-bench-") as folder:
        place = Path(folder)
        make_repository(place / "repo")
        os.environ["XDG_STATE_HOME"] = str(place / "state")
        prepare = PREPARE[way.__name__]
        prepare(case, place)
        began = time.monotonic()
        way(case, place)
        return time.monotonic() - began


def make_repository(repo: Path) -> None:
    """A repository of some small files."""
    repo.mkdir()
    git(repo, "init", "-q", "-b", "main")
    git(repo, "config", "user.name", "bench")
    git(repo, "config", "user.email", "bench@localhost")
    for number in range(FILES):
        (repo / f"file{number}.txt").write_text(f"{number}\n" * 100, encoding="utf-8")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "start")


def write_plan(case: Case, place: Path) -> None:
    """The case as quantum.json, its agents as shell commands."""
    stories = [
        {
            "id": name,
            "dependsOn": list(needs),
            "tasks": [{"id": "T-1", "run": [f"sleep {work}; echo {name} > {name}.txt"]}],
        }
        for name, (needs, work) in case.stories.items()
    ]
    plan = {"branchName": "line", "stories": stories}
    (place / "repo" / "quantum.json").write_text(json.dumps(plan), encoding="utf-8")


def write_makefile(case: Case, place: Path) -> None:
    """The case as a makefile that does the same git steps."""
    git(place / "repo", "branch", "line")
    (place / "steps.sh").write_text(STEPS, encoding="utf-8")
    rules = [f"all: {' '.join(case.stories)}"]
    for name, (needs, work) in case.stories.items():
        rules.append(f"{name}: {' '.join(needs)}\n\t@sh ../steps.sh {name} {work}")
    (place / "Makefile").write_text("\n".join(rules) + "\n", encoding="utf-8")


def write_dodo(case: Case, place: Path) -> None:
    """The case as tasks of doit that do the same git steps."""
    git(place / "repo", "branch", "line")
    (place / "steps.sh").write_text(STEPS, encoding="utf-8")
    tasks = [
        {
            "name": name,
            "actions": [f"sh ../steps.sh {name} {work}"],
            "task_dep": [f"story:{need}" for need in needs],
        }
        for name, (needs, work) in case.stories.items()
    ]
    (place / "dodo.py").write_text(f"def task_story():\n    yield from {tasks!r}\n", "utf-8")


def by_doit(_case: Case, place: Path) -> None:
    """The same git steps under doit."""
    words = [sys.executable, "-m", "doit", "-n", str(SLOTS), "-f", "../dodo.py", "-d", "."]
    quietly([*words, "--db-file", "../doit.db"], place / "repo")


def by_qloop(_case: Case, place: Path) -> None:
    """Waves that overlap."""
    quietly([*QLOOP], place / "repo")


def by_strict_waves(_case: Case, place: Path) -> None:
    """Waves as barriers."""
    quietly([*QLOOP, "--strict-waves"], place / "repo")


def by_make(_case: Case, place: Path) -> None:
    """The same git steps under make."""
    quietly(["make", f"-j{SLOTS}", "-f", "../Makefile"], place / "repo")


PREPARE = {
    "by_qloop": write_plan,
    "by_strict_waves": write_plan,
    "by_make": write_makefile,
    "by_doit": write_dodo,
}


def quietly(argv: list[str], cwd: Path) -> None:
    """Run a command that must end well."""
    subprocess.run(argv, cwd=cwd, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def git(repo: Path, *args: str) -> None:
    """Run git."""
    subprocess.run(["git", *args], cwd=repo, check=True)


if __name__ == "__main__":
    if shutil.which("make") is None:
        sys.exit("bench/compare.py: make is not installed")
    main()
