"""Whether an agent command line works: a tiny story, carried out for real in a scratch repository.

Errors: RunnerUnavailable where it is not installed; BadInput where its settings forbid the start.
"""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qloop.agents.manifest import Manifest
from qloop.agents.toml import render_value
from qloop.repo.checkout import Repository, find_repository
from qloop.repo.fresh import make_repository
from qloop.repo.git import persons_git
from qloop.repo.marks import marked_attempt
from qloop.run.config import CONFIG_NAME, Config
from qloop.run.engine import Done, run_whole
from qloop.run.finding import Finding
from qloop.run.forks import begin_run
from qloop.run.prepare import Wanted, is_installed
from qloop.run.runner_survey import find_version, program_of
from qloop.state.journal import Event, EventKind
from qloop.system.errors import QloopError

STORY = "CHECK-1"
BRANCH = "ql/check"
FILE = "hello.txt"
WORD = "hello"
TASK = (
    f"Make the file {FILE} in this folder. It holds one line: the word {WORD}, nothing else. "
    "Commit it. Nothing else is to be done."
)


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check came to."""

    findings: tuple[Finding, ...]
    folder: Path | None
    """The scratch repository, kept where something did not work."""

    @property
    def works(self) -> bool:
        """Whether the runner can do a story's work."""
        return all(one.state != "bad" for one in self.findings)


def check_runner(
    manifest: Manifest,
    config: Config,
    root: Path,
    model: str | None,
    timeout_s: float,
    say: Callable[[str], None],
) -> Checked:
    """Let the runner, which may start, do the task. Its program is one of the checkout *root*."""
    found = tuple(_check_program(manifest, root))
    place = Path(tempfile.mkdtemp(prefix="qloop-check-"))
    folder = place / "repository"
    say(f"{manifest.name} works on a small task in {folder}, at most {timeout_s:g} seconds")
    repository = _prepare(folder, manifest, config, root, model or config.model)
    wanted = Wanted(
        runner=manifest.name, timeout_s=timeout_s, max_retries=1, max_iterations=1, no_wait=True
    )
    try:
        with begin_run() as forks:
            quantum = folder / "quantum.json"
            done = run_whole(repository, quantum, None, wanted, forks, _say_nothing, _say_nothing)
    except QloopError as exc:
        refused = Finding("start", "bad", exc.what, exc.fix)
        return Checked((*found, refused), folder)
    findings = (*found, *judge(done, repository))
    if all(one.state != "bad" for one in findings):
        shutil.rmtree(place, ignore_errors=True)
        return Checked(findings, None)
    return Checked(findings, folder)


def judge(done: Done, repository: Repository) -> Iterator[Finding]:
    """What the run of the task says of the runner."""
    ended = _last(done.events, EventKind.AGENT_ENDED)
    settled = _last(done.events, EventKind.STORY_SETTLED)
    reason = str(settled.get("reason") or "; ".join(done.ending.reasons))
    if not ended:
        yield Finding("start", "bad", reason or "it did not start", "see the log")
        return
    started = _started(ended, reason)
    yield started
    if started.state == "bad":
        return
    yield from _worked(repository)
    yield _said(ended, reason)
    yield _told_usage(ended)
    if settled.get("status") == "passed":
        yield Finding("landed", "ok", "its work stands the check, and landed")
    else:
        yield Finding("landed", "bad", reason or "nothing landed", _advice(reason))


def _say_nothing(*_: object) -> None:
    """The run is told of by its findings alone."""


def _check_program(manifest: Manifest, root: Path) -> Iterator[Finding]:
    assert is_installed(manifest, root)
    program = program_of(manifest, root)
    yield Finding("found", "ok", shutil.which(program) or program)
    version = find_version(manifest, root)
    if version is not None:
        yield Finding("version", "ok", version)
    elif manifest.version:
        yield Finding("version", "warn", f"it does not answer {' '.join(manifest.version)}")


def _prepare(
    folder: Path, manifest: Manifest, config: Config, root: Path, model: str | None
) -> Repository:
    """A repository with the task as its plan, and with the settings that concern the runner."""
    make_repository(folder, {"README.md": "A scratch repository.\n"}, "The start")
    table = manifest.model_dump(exclude_defaults=True, exclude={"name", "permissions"})
    table["argv"] = [program_of(manifest, root), *manifest.argv[1:]]
    settings: dict[str, Any] = {
        "permissions": manifest.permissions,
        "worktree_root": str(folder.parent / "worktrees"),
        "env_pass": list(config.env_pass),
        "runners": {manifest.name: table},
    }
    if model is not None:
        settings["model"] = model
    lines = [f"{key} = {render_value(value)}" for key, value in settings.items()]
    (folder / CONFIG_NAME).write_text("\n".join(lines) + "\n", encoding="utf-8")
    verify = [f"grep -qx {WORD} {FILE}"]
    story = {"id": STORY, "title": "A small check", "description": TASK, "verify": verify}
    plan = {"branchName": BRANCH, "stories": [story]}
    (folder / "quantum.json").write_text(json.dumps(plan, indent=2), encoding="utf-8")
    return find_repository(folder)


def _started(ended: dict[str, Any], reason: str) -> Finding:
    seconds = f"after {ended.get('seconds')} s"
    if ended.get("timed_out") or ended.get("stuck"):
        text = f"it had not ended {seconds}; it may have waited for a person"
        return Finding("start", "bad", text, "see its log, or give it longer: --timeout")
    if ended.get("code") != 0:
        text = f"it ended with exit code {ended.get('code')} {seconds}: {reason}"
        return Finding("start", "bad", text, _advice(reason))
    return Finding("start", "ok", f"it asked nobody, and ended {seconds}")


def _worked(repository: Repository) -> Iterator[Finding]:
    """Whether the attempt's kept work holds the file, and who committed it."""
    kept = f"refs/qloop/attempts/{STORY}/1"
    has_file = persons_git(repository.root, "cat-file", "-e", f"{kept}:{FILE}").code == 0
    if not has_file:
        yield Finding("edits", "bad", f"it made no {FILE}", "see its log for what it was refused")
        return
    yield Finding("edits", "ok", f"it made {FILE}")
    committers = persons_git(repository.root, "log", "--format=%cn", f"main..{kept}").text
    if any(marked_attempt(name) for name in committers.splitlines()):
        yield Finding("commits", "ok", "it committed")
    else:
        yield Finding("commits", "ok", "it left its work uncommitted; qloop commits it")


def _said(ended: dict[str, Any], reason: str) -> Finding:
    signal = ended.get("signal")
    if signal == "STORY_PASSED":
        return Finding("signal", "ok", "it said STORY_PASSED")
    return Finding("signal", "bad", f"it said {signal or 'no signal'}: {reason}", _advice(reason))


def _told_usage(ended: dict[str, Any]) -> Finding:
    read = int(ended.get("input_tokens") or 0)
    written = int(ended.get("output_tokens") or 0)
    cost = ended.get("cost_usd")
    if not (read or written or cost is not None):
        return Finding("usage", "warn", "it does not tell what it used, so costs are estimated")
    price = "" if cost is None else f", ${cost:.4f}"
    return Finding("usage", "ok", f"{read} tokens read, {written} written{price}")


def _advice(reason: str) -> str:
    """What a person may do about a reason that qloop gave itself."""
    if "not let in" in reason:
        return "log in with it, or put its key into the environment"
    if "usage limit" in reason:
        return "wait until its limit ends"
    if "service" in reason:
        return "see that its service can be reached from here (network, proxy, base URL)"
    if "refused its model" in reason:
        return "name a model that it knows: --model"
    return "see its log"


def _last(events: Sequence[Event], kind: EventKind) -> dict[str, Any]:
    """The data of the last event of a kind; nothing where there is none."""
    return next((event.data for event in reversed(events) if event.event is kind), {})
