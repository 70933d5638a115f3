"""A world for whole runs: a real repository, a plan, a scripted agent, and qloop as a process."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loaded import Loaded
from repository import Repo

AGENT = Path(__file__).with_name("agent_double.py")
QLOOP = (sys.executable, "-P", "-m", "qloop")
PATIENCE_S = 120.0

Steps = list[list[Any]]


@dataclass(frozen=True)
class Ran:
    """A qloop process that ended."""

    code: int
    out: str
    err: str

    @property
    def signal(self) -> str:
        """The last line of standard output, where a run says its signal."""
        lines = self.out.strip().splitlines()
        return lines[-1] if lines else ""


class World:
    """A repository in which qloop runs with a scripted agent as its runner `double`."""

    output = "text"
    """The form of what the agent prints, for `configure`."""

    def __init__(self, path: Path, loaded: Loaded | None = None) -> None:
        self.loaded = loaded
        self.repo = Repo(path / "a repo")
        self.repo.commit("start", {"README.md": "start\n"})
        self.path = self.repo.path
        self.quantum = self.path / "quantum.json"
        self.script = path / "script.json"
        self.flags = path / "flags"
        self.flags.mkdir()
        self.configure()

    def configure(self, extra: str = "", env: Sequence[str] = ()) -> None:
        """Write qloop.toml: the scripted agent as the default runner, then *extra*."""
        argv = json.dumps([sys.executable, str(AGENT), str(self.script)])
        text = f'runner = "double"\n{extra}\n[runners.double]\nargv = {argv}\n'
        text += f"env = {json.dumps(list(env))}\noutput = {json.dumps(self.output)}\n"
        (self.path / "qloop.toml").write_text(text, encoding="utf-8")
        exclude = self.path / ".git" / "info" / "exclude"
        exclude.parent.mkdir(exist_ok=True)
        exclude.write_text("/qloop.toml\n/quantum.json\n/.qloop/\n", encoding="utf-8")

    def plan(self, *stories: dict[str, Any], **top: Any) -> None:
        """Write a plan; stories are given by their fields, `id` at least."""
        document = {"branchName": "ql/feature", **top, "stories": list(stories)}
        self.quantum.write_text(json.dumps(document, indent=2), encoding="utf-8")

    def agent(self, **by_story: list[Steps]) -> None:
        """Say what the agent does: for each story (`_` for `-`) a list of steps per attempt."""
        script = {name.replace("_", "-"): steps for name, steps in by_story.items()}
        self.script.write_text(json.dumps(script), encoding="utf-8")

    def writes_own_file(self, *ids: str) -> None:
        """Every story writes a file named after it and commits it."""
        script = {
            one: [[["write", f"{one}.txt", f"{one}\n"], ["commit", f"add {one}"]]] for one in ids
        }
        self.script.write_text(json.dumps(script), encoding="utf-8")

    def start(self, *words: str, cwd: Path | None = None, **env: str) -> subprocess.Popen[str]:
        """Start qloop in the repository, or in another folder."""
        return subprocess.Popen(
            [*QLOOP, *words],
            cwd=cwd or self.path,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str, cwd: Path | None = None, **env: str) -> Ran:
        """`qloop run` with these words, to its end."""
        return self.qloop("run", *words, cwd=cwd, **env)

    def qloop(self, *words: str, cwd: Path | None = None, **env: str) -> Ran:
        """Any qloop command to its end."""
        whole = {**os.environ, **env}
        if self.loaded is not None and self.loaded.fits(whole):
            return Ran(*self.loaded.run(words, cwd or self.path, whole, PATIENCE_S))
        process = self.start(*words, cwd=cwd, **env)
        out, err = process.communicate(timeout=PATIENCE_S)
        return Ran(process.returncode, out, err)

    @property
    def document(self) -> dict[str, Any]:
        """quantum.json as it stands."""
        value: dict[str, Any] = json.loads(self.quantum.read_text(encoding="utf-8"))
        return value

    def write_document(self, document: dict[str, Any]) -> None:
        """Save quantum.json as a person's editor does: in one rename."""
        draft = self.quantum.with_name("quantum.draft")
        draft.write_text(json.dumps(document, indent=2), encoding="utf-8")
        draft.rename(self.quantum)

    def story(self, story_id: str) -> dict[str, Any]:
        """One story as it stands in quantum.json."""
        found: dict[str, Any] = next(
            one for one in self.document["stories"] if one["id"] == story_id
        )
        return found

    def statuses(self) -> dict[str, str]:
        """Each story's status."""
        return {one["id"]: one.get("status", "pending") for one in self.document["stories"]}

    def failures(self, story_id: str) -> list[str]:
        """The phases in a story's failure log."""
        return [one["phase"] for one in self.story(story_id)["retries"]["failureLog"]]

    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        """The journal's events, or those of one kind."""
        text = (self.path / ".qloop" / "events.jsonl").read_text(encoding="utf-8")
        events = [json.loads(line) for line in text.splitlines()]
        return [event for event in events if kind in (None, event["event"])]

    def files(self, revision: str = "ql/feature") -> dict[str, str]:
        """The files of a commit and their contents."""
        names = self.repo.git("ls-tree", "-r", "--name-only", revision).splitlines()
        return {name: self.repo.git("show", f"{revision}:{name}") for name in names}

    def log(self, revision: str = "ql/feature") -> list[str]:
        """Subjects of a branch's first-parent history, oldest first."""
        return self.repo.git(
            "log", "--reverse", "--first-parent", "--format=%s", revision
        ).splitlines()

    def refs(self, prefix: str) -> dict[str, str]:
        """References below a prefix and the commits they name."""
        listed = self.repo.git("for-each-ref", "--format=%(refname) %(objectname)", prefix)
        return dict(line.split(" ") for line in listed.splitlines())

    def worktrees(self) -> list[Path]:
        """What lies in the folder of attempt repositories."""
        base = Path(os.environ["XDG_STATE_HOME"]) / "qloop"
        return [path for folder in base.glob("*") for path in folder.iterdir()]


def everything(folder: Path) -> dict[str, bytes]:
    """Each file below *folder*, git's own too, and its content."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
    }


def wait_until(what: Callable[[], Any]) -> None:
    """Look again and again until *what* is true; a test's patience ends."""
    end = time.monotonic() + PATIENCE_S
    while not _holds(what):
        assert time.monotonic() < end, "what was waited for did not come"
        time.sleep(0.02)


def _holds(what: Callable[[], Any]) -> bool:
    with contextlib.suppress(OSError, ValueError, KeyError, StopIteration):
        return bool(what())
    return False


def processes_with(text: str) -> Iterator[int]:
    """Processes whose command line or environment holds *text*."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            data = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
            if text.encode() in data and int(folder.name) != os.getpid():
                yield int(folder.name)


def left_behind(*places: str) -> set[int]:
    """Processes of *places* that do not go; what ends with its starter may be on its way."""
    found: set[int] = set()
    for _ in range(50):
        found = {pid for place in places for pid in processes_with(place)}
        if not found:
            break
        time.sleep(0.02)
    return found


def end_all(processes: Sequence[int]) -> None:
    """Kill processes that a failing test left."""
    for pid in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
