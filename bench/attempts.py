"""Many attempts' worktrees made and removed at once: how long, and how many fail.

`.venv/bin/python bench/attempts.py [--attempts N] [--at-once N]`. Beside qloop, the same number of
`git worktree add` and `git worktree remove` in one repository by as many threads, as a script
would do it. Needs git.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

from compare import FILES, make_repository

from qloop.repo.checkout import Repository
from qloop.repo.settings import PersonSettings, read_settings
from qloop.repo.starts import hold_start, release_start
from qloop.repo.workspace import create_workspace, remove_workspace


def main() -> None:
    """Run both ways and print what came of them."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--attempts", type=int, default=1_000)
    words.add_argument("--at-once", type=int, default=16)
    asked = words.parse_args()
    with tempfile.TemporaryDirectory(prefix="qloop-bench-") as folder:
        repo = Path(folder) / "repo"
        make_repository(repo)
        repository = Repository(root=repo, git_dir=repo / ".git")
        settings = read_settings(repository)
        start = git(repo, "rev-parse", "HEAD")
        base = Path(folder) / "trees"
        ways: dict[str, Callable[[int], bool]] = {
            "qloop": lambda number: by_qloop(repository, settings, base, start, number),
            "git worktree": lambda number: by_git(repo, number),
        }
        for name, live in ways.items():
            began = time.monotonic()
            with ThreadPoolExecutor(asked.at_once) as threads:
                good = list(threads.map(live, range(1, asked.attempts + 1)))
            took = time.monotonic() - began
            left = (
                len(list(base.glob("*"))) if name == "qloop" else len(list(repo.parent.glob("w*")))
            )
            print(
                f"{name:<14} {asked.attempts} attempts, {asked.at_once} at once: "
                f"{good.count(False)} failures, {left} left, {took:.1f} s",
                flush=True,
            )


def by_qloop(
    repository: Repository, settings: PersonSettings, base: Path, start: str, number: int
) -> bool:
    """One attempt's repository and worktree, made and removed; whether that went well."""
    name = f"S-{number}.1.{number:08x}"
    try:
        hold_start(repository, start, name)
        ws = create_workspace(repository, settings, base, name, f"ql-wt/S-{number}", start)
        whole = (ws.tree / f"file{FILES - 1}.txt").exists()
        return remove_workspace(ws) and release_start(repository, name) and whole
    except Exception as exc:  # noqa: BLE001 -- any failure counts
        print(f"attempt {number}: {exc}", file=sys.stderr)
        return False


def by_git(repo: Path, number: int) -> bool:
    """The same by git's own commands; whether that went well."""
    tree = repo.parent / f"w{number}"
    steps = (
        ("worktree", "add", "-q", "--no-track", "-b", f"w{number}", str(tree)),
        ("worktree", "remove", "--force", str(tree)),
        ("branch", "-q", "-D", f"w{number}"),
    )
    done = [
        subprocess.run(["git", *step], cwd=repo, check=False, stderr=subprocess.DEVNULL)
        for step in steps
    ]
    return all(one.returncode == 0 for one in done)


def git(repo: Path, *args: str) -> str:
    """Run git, which must end well; its output."""
    done = subprocess.run(["git", *args], cwd=repo, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    main()
