"""Parts of qloop by themselves: start-up, memory, a write of the state file, calls of
git, the step from a story that passed to the next one.

`.venv/bin/python bench/parts.py [PART ...]`, by default all. Each part prints what it measured
beside its aim. Processor time is user and system time of a process and all that it waited for, so
that other work on the machine matters less. Needs Linux and git.
"""

import argparse
import contextlib
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from compare import chain, make_repository

PYTHON = (sys.executable, "-I")  # as bin/qloop starts it
QLOOP = (*PYTHON, "-m", "qloop")
PATIENCE_S = 300.0
MANY = 10_000


def main() -> None:
    """Measure the parts asked for."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("parts", nargs="*", help="by default all")
    for name in words.parse_args().parts or PARTS:
        PARTS[name]()


def start_up() -> None:
    """The processor time of `--help` and of `status`, to that of a bare interpreter."""
    with repository() as repo:
        write_plan(repo, plain_stories(1000))
        bare = cpu_s([*PYTHON, "-c", "pass"], repo)
        shown = cpu_s([*QLOOP, "--help"], repo)
        status = cpu_s([*QLOOP, "status"], repo)
    say("bare interpreter", f"{bare * 1000:.0f} ms", "")
    say("qloop --help", f"{shown * 1000:.0f} ms, {shown / bare:.1f} x bare", "5 x")
    say("qloop status, 1,000 stories", f"{status * 1000:.0f} ms, {status / bare:.1f} x bare", "8 x")


def work_of_a_story() -> None:
    """Calls of git and processor time that one more story costs, with agents of no time."""
    short, long = run_chain(2), run_chain(6)
    calls, seconds = ((b - a) / 4 for a, b in zip(short, long, strict=True))
    say("calls of git for a story", f"{calls:.0f}", "")
    say("processor time for a story", f"{seconds * 1000:.0f} ms", "")


def run_chain(length: int) -> tuple[int, float]:
    """Calls of git and processor seconds of a whole run of stories one after the other."""
    with repository() as repo, tempfile.TemporaryDirectory() as folder:
        log, real = Path(folder) / "log", shutil.which("git")
        shim = Path(folder) / "git"
        shim.write_text(f'#!/bin/sh\necho >> "{log}"\nexec "{real}" "$@"\n', encoding="utf-8")
        shim.chmod(0o755)
        write_plan(repo, chain_stories(length, "true"))
        seconds = min(one_run_s(repo, length) for _ in range(3))
        write_plan(repo, chain_stories(length, "true"))
        path = f"{folder}:{os.environ['PATH']}"
        subprocess.run([*QLOOP, "run"], cwd=repo, env={**os.environ, "PATH": path}, **QUIET)
        return len(log.read_bytes()), seconds


def one_run_s(repo: Path, length: int) -> float:
    """The processor time of a run of a new plan."""
    write_plan(repo, chain_stories(length, "true"))
    return cpu_s([*QLOOP, "run"], repo, times=1)


def coordinator() -> None:
    """From a story's dispatch to its coordinator's first reference, where one is ready ahead."""
    with repository() as repo:
        held = f"{repo}/.git/refs/qloop/start/$QLOOP_ATTEMPT_ID"
        look = f'date +%s.%N -r "{held}" > "$QLOOP_STORY.txt"; sleep 1'
        write_plan(repo, chain_stories(6, look))
        subprocess.run([*QLOOP, "run"], cwd=repo, check=True, **QUIET)
        took = []
        for event in events(repo, "attempt.started")[1:]:
            dispatched = datetime.fromisoformat(event["ts"]).timestamp()
            at_work = float(git(repo, "show", f"line:{event['story']}.txt")[0])
            took.append((at_work - dispatched) * 1000)
    say("dispatch to coordinator at work", f"{statistics.median(took):.0f} ms", "60 ms")


def memory() -> None:
    """The most memory that driver and coordinator held, and how often the driver woke up."""
    with repository() as repo:
        write_plan(repo, chain_stories(1, "sleep 12") + plain_stories(MANY, "S0"))
        run = subprocess.Popen([*QLOOP, "run", "--max-iterations", "1"], cwd=repo, **QUIET)
        wait_until(lambda: events(repo, "agent.started"))
        wave = events(repo, "wave.started")[0]["data"]["process"]["pid"]
        time.sleep(2)
        before = status_of(run.pid, "voluntary_ctxt_switches")
        time.sleep(5)
        woken = status_of(run.pid, "voluntary_ctxt_switches") - before
        driver, own = status_of(run.pid, "VmHWM"), status_of(wave, "VmHWM")
        run.terminate()
        run.wait()
    say("driver, 10,000 stories", f"{driver / 1024:.0f} MiB at most", "100 MB")
    say("coordinator, 10,000 stories", f"{own / 1024:.0f} MiB at most", "100 MB")
    say("wake-ups of an idle driver in 5 s", f"{woken}", "0")


def write() -> None:
    """One durable change of one status in a large state file."""
    from qloop.state.ownership import DRIVER
    from qloop.state.store import store_for

    with repository() as repo:
        write_plan(repo, plain_stories(MANY))
        store = store_for(repo / "quantum.json", repo)
        store.adopt()
        took = []
        for number in range(9):
            began = time.monotonic()
            with store.transaction(DRIVER, [f"US-{number:05}"]) as draft:
                draft["stories"][0]["status"] = "in_progress"
            took.append((time.monotonic() - began) * 1000)
    say("a status change, 10,000 stories", f"{statistics.median(took):.0f} ms", "150 ms")


def readiness() -> None:
    """A story passes: which one starts next? In a plan of many stories, each with some needs."""
    from qloop.plan.frontier import Frontier
    from qloop.plan.outline import ExecutionOutline, Outline, StoryOutline
    from qloop.plan.values import Status

    draw = random.Random(7)
    stories = [
        StoryOutline(
            f"S-{number}",
            depends_on=tuple({f"S-{draw.randrange(number)}" for _ in range(min(number, 3))}),
            file_paths=(f"src/{number}.py",),
        )
        for number in range(MANY)
    ]
    frontier = Frontier(Outline("line", None, tuple(stories), (), ExecutionOutline()))
    took = []
    wave = frontier.next_wave(free_slots=4, running=())
    for story in wave:
        frontier.update(story._replace(status=Status.IN_PROGRESS))
    while wave:
        story = wave.pop(0)
        began = time.process_time()
        assert frontier.update(story._replace(status=Status.PASSED))
        following = frontier.next_wave(free_slots=1, running=())
        took.append((time.process_time() - began) * 1_000_000)
        for one in following:
            frontier.update(one._replace(status=Status.IN_PROGRESS))
        wave += following
    assert len(took) == MANY
    say("a readiness step, 10,000 stories", f"{statistics.median(took):.0f} µs", "50 µs")


PARTS: dict[str, Callable[[], None]] = {
    "start-up": start_up,
    "story": work_of_a_story,
    "coordinator": coordinator,
    "memory": memory,
    "write": write,
    "readiness": readiness,
}
QUIET: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


@contextmanager
def repository() -> Iterator[Path]:
    """A small repository, whose state folder goes with it."""
    with tempfile.TemporaryDirectory(prefix="qloop-bench-") as folder:
        os.environ["XDG_STATE_HOME"] = f"{folder}/state"
        make_repository(Path(folder) / "repo")
        yield Path(folder) / "repo"


def plain_stories(count: int, needs: str | None = None) -> list[dict[str, Any]]:
    """Stories with texts, criteria and tasks as a plan has them."""
    return [
        {
            "id": f"US-{number:05}",
            "title": f"Story number {number}",
            "description": "As a person I want this to be done, so that I can go on. " * 3,
            "acceptanceCriteria": ["It works", "It is tested", "It is written down"],
            "dependsOn": [needs] if needs else [],
            "tasks": [
                {"id": f"T-{step}", "title": "do it", "filePaths": [f"src/{number}/{step}.py"]}
                | {"run": ["true"]}
                for step in range(3)
            ],
        }
        for number in range(count)
    ]


def chain_stories(length: int, command: str) -> list[dict[str, Any]]:
    """Stories one after the other, each with one command and a file of its own."""
    return [
        {
            "id": name,
            "dependsOn": list(needs),
            "tasks": [{"id": "T-1", "run": [f"echo {name} > {name}.txt; {command}"]}],
        }
        for name, (needs, _) in chain(length).items()
    ]


def write_plan(repo: Path, stories: list[dict[str, Any]]) -> None:
    """A new plan on a branch of its own."""
    shutil.rmtree(repo / ".qloop", ignore_errors=True)
    for ref in git(repo, "for-each-ref", "--format=%(refname)", "refs/heads/line", "refs/qloop"):
        git(repo, "update-ref", "-d", ref)
    plan = {"branchName": "line", "stories": stories}
    (repo / "quantum.json").write_text(json.dumps(plan), encoding="utf-8")


def cpu_s(argv: list[str], cwd: Path, times: int = 9) -> float:
    """The median processor time of a command."""
    took = []
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(argv, cwd=cwd, check=True, **QUIET)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(took)


def events(repo: Path, kind: str) -> list[dict[str, Any]]:
    """The journal's events of a kind, as far as it is written."""
    found = []
    with contextlib.suppress(FileNotFoundError):
        for line in (repo / ".qloop/events.jsonl").read_text("utf-8").splitlines():
            event = json.loads(line)
            if event["event"] == kind:
                found.append(event)
    return found


def status_of(pid: int, field: str) -> int:
    """A number in /proc/PID/status."""
    for line in Path(f"/proc/{pid}/status").read_text("utf-8").splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0])
    raise LookupError(field)


def wait_until(what: Callable[[], Any]) -> None:
    """Look until *what* is true."""
    end = time.monotonic() + PATIENCE_S
    while not what():
        if time.monotonic() > end:
            sys.exit("bench/parts.py: what was waited for did not come")
        time.sleep(0.05)


def git(repo: Path, *args: str) -> list[str]:
    """Run git; its lines."""
    done = subprocess.run(["git", *args], cwd=repo, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines()


def say(what: str, value: str, aim: str) -> None:
    """One line of the result."""
    print(f"{what:<36} {value:<24} {f'aim: {aim}' if aim else ''}".rstrip(), flush=True)


if __name__ == "__main__":
    main()
