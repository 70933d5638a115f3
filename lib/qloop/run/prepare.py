"""Before a run: everything that must be in order before anything is spent.

Errors: BadInput, Faults, InputMissing, PersonNeeded, RunnerUnavailable, RepositoryBusy.
"""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from qloop.agents.manifest import AUTO, SHELL, SHELL_MANIFEST, Manifest
from qloop.agents.roles import IMPLEMENTER, load_role
from qloop.agents.shipped import SHIPPED
from qloop.plan.model import Plan, Status, Story
from qloop.plan.prd_names import prd_hash
from qloop.run.config import CONFIG_NAME, DEFAULT_PARALLEL, Config
from qloop.run.routing import Route, Wish, route_implementer
from qloop.system.clock import parse_duration_s
from qloop.system.errors import BadInput, RunnerUnavailable
from qloop.system.files import read_optional

OVER = (Status.PASSED, Status.BLOCKED, Status.STALE)
"""Where stories stand that need no runner any more, unless a person changes that."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line asks for; None where it says nothing."""

    runner: str | None = None
    model: str | None = None
    max_parallel: int | None = None
    max_iterations: int | None = None
    max_retries: int | None = None
    timeout_s: float | None = None
    gate_timeout_s: float | None = None
    wave_timeout_s: float | None = None
    stale_after_s: float | None = None
    strict_waves: bool = False
    sequential: bool = False
    legacy_orchestrator: bool = False
    coordinator_agent: bool = False
    accept_prd_change: bool = False
    budget_usd: float | None = None
    no_wait: bool = False
    only: str | None = None
    """The one story that may start."""
    recognize: bool | None = None
    """Whether all evidence is run again at the end of each wave."""
    accepted_red: tuple[str, ...] = ()
    """Commands that may be red then, since a person has said so."""
    preamble: str = ""
    """What implementers are told before their prompt."""
    asks_at_gate: bool = False
    """Whether a story whose agent was stuck at the gate waits for a person."""

    @property
    def mode(self) -> str:
        """What works on the stories, as `execution.mode` and run.json tell it."""
        if self.legacy_orchestrator:
            return "legacy-orchestrator"
        return "coordinator-agent" if self.coordinator_agent else "coordinator"

    @property
    def wish(self) -> Wish:
        """Runner and model as the command line wants them."""
        return Wish.of(self.runner, self.model)


class PrdChanged(BadInput):
    """The requirements document is no longer what the plan was made from."""


@dataclass(frozen=True, slots=True)
class Prd:
    """The requirements document of a plan: where it is, and its content's hash."""

    path: Path | None
    hash: str | None
    warning: str = ""


def find_prd(plan: Plan, root: Path, given: Path | None, quantum: Path) -> Prd:
    """The document of the plan in *quantum*. Raises BadInput where *given* is another one."""
    path = _prd_path(plan, root)
    if given is not None and path != given.resolve():
        raise BadInput(
            f"the plan was made from {plan.prd_path or 'no document'}, not from {given}",
            where=str(quantum),
            fix=f"run qloop without it, or make a new plan: qloop plan {given}",
        )
    if path is None:
        return Prd(None, None)
    data = read_optional(path)
    if data is None:
        return Prd(None, None, f"{plan.prd_path} is not there; the stories are enough to run")
    return Prd(path, prd_hash(data))


def check_prd(plan: Plan, prd: Prd) -> None:
    """Raise BadInput where the document is no longer what the plan was made from."""
    if prd.hash is not None and plan.prd_hash is not None and prd.hash != plan.prd_hash:
        raise PrdChanged(
            f"{plan.prd_path} has changed since the plan was made",
            where=str(prd.path),
            fix=f"`qloop plan --update {plan.prd_path}` takes the change into the plan, "
            "`--accept-prd-change` keeps the plan and takes the document as it is",
        )


def find_route(story: Story, wanted: Wanted, config: Config) -> Route:
    """The runner's name and the model of the next attempt at a story."""
    return route_implementer(story, wanted.wish, config, load_role(IMPLEMENTER).tier)


def pick_runner(story: Story, wanted: Wanted, config: Config, root: Path) -> Manifest:
    """The runner of one story. Raises RunnerUnavailable, BadInput for an unknown name."""
    name = find_route(story, wanted, config).runner
    if name == AUTO:
        return _automatic(story, config, root)
    if name == SHELL:
        return SHELL_MANIFEST
    return find_manifest(name, story.id, config, root)


def find_manifest(name: str, asked_by: str, config: Config, root: Path) -> Manifest:
    """A runner by its name, fit to start. Raises RunnerUnavailable, BadInput."""
    manifest = find_known(name, asked_by, config, root)
    check_rights(manifest)
    return manifest


def find_known(name: str, asked_by: str, config: Config, root: Path) -> Manifest:
    """A runner by its name, installed; whether it may start is not looked at.

    Raises RunnerUnavailable, BadInput for an unknown name.
    """
    manifest = config.manifest(name)
    if manifest is None:
        known = ", ".join([SHELL, AUTO, *runner_names(config)])
        raise BadInput(
            f"unknown runner {name!r} for {asked_by}",
            where=CONFIG_NAME,
            fix=f"name one of {known}, or add a table [runners.{name}]",
        )
    if not is_installed(manifest, root):
        place = "there" if "/" in manifest.argv[0] else "on PATH"
        raise RunnerUnavailable(
            f"the runner {name!r} needs the command {manifest.argv[0]!r}, which is not {place}",
            where=f"[runners.{name}]",
            fix=f"install it ({manifest.install})"
            if manifest.install
            else f"install it, or change [runners.{name}] in qloop.toml",
        )
    return manifest


def check_rights(manifest: Manifest) -> None:
    """Raise BadInput where the runner does not work under its present permissions."""
    if manifest.needs_full:
        raise BadInput(
            f"the runner {manifest.name!r} lets its model do whatever it likes, "
            "and cannot be held to less",
            where=f"[runners.{manifest.name}]",
            fix='choose another, or allow it with permissions = "full" in qloop.toml, '
            "where that is safe: in a container or a machine of its own",
        )
    needed = manifest.rights.root_needs
    if needed is not None and not os.environ.get(needed) and os.geteuid() == 0:
        raise BadInput(
            f"the runner {manifest.name!r} refuses permissions = {manifest.permissions!r} as root",
            where=CONFIG_NAME,
            fix=f"run qloop as another user, or, where everything it can reach may be lost, "
            f"set {needed}=1; or take permissions out of qloop.toml",
        )


def runner_names(config: Config) -> tuple[str, ...]:
    """The names of all agent command lines: those of qloop.toml first, then the shipped ones."""
    return (*config.runners, *(name for name in SHIPPED if name not in config.runners))


def max_parallel(plan: Plan, wanted: Wanted, config: Config) -> int:
    """How many implementers may be at work at once."""
    if wanted.sequential or plan.execution.force_sequential:
        return 1
    if wanted.max_parallel is not None:
        return wanted.max_parallel
    if os.environ.get("QLOOP_MAX_PARALLEL") and config.max_parallel is not None:
        return config.max_parallel
    return plan.execution.max_parallel or config.max_parallel or DEFAULT_PARALLEL


def story_timeout_s(story: Story, wanted: Wanted, config: Config) -> float:
    """The implementer's time limit for one story, in seconds."""
    if story.timeout is not None:
        return parse_duration_s(str(story.timeout))
    return wanted.timeout_s if wanted.timeout_s is not None else config.timeout


def _prd_path(plan: Plan, root: Path) -> Path | None:
    return (root / plan.prd_path).resolve() if plan.prd_path else None


def _automatic(story: Story, config: Config, root: Path) -> Manifest:
    if story.tasks and all(task.run for task in story.tasks):
        return SHELL_MANIFEST
    found = find_installed(config, root)
    if found is not None:
        return found
    raise RunnerUnavailable(
        f"no runner could work on {story.id}: its tasks carry no `run` commands, "
        "and no agent command line is installed",
        where=CONFIG_NAME,
        fix=f"install one of {', '.join(SHIPPED)} (`qloop runners list` tells how), "
        "or add a table [runners.NAME] with the argv of another",
    )


def find_installed(config: Config, root: Path) -> Manifest | None:
    """The first agent command line that is installed and may start, as `auto` takes it."""
    for name in runner_names(config):
        manifest = config.manifest(name)
        if manifest is not None and is_installed(manifest, root) and not manifest.needs_full:
            check_rights(manifest)
            return manifest
    return None


def find_agent(name: str, asked_by: str, config: Config, root: Path) -> Manifest | None:
    """The agent command line of that name, fit to start; None where `auto` finds none.

    Commands are no agent, so that `shell` counts as `auto`. Raises RunnerUnavailable, BadInput.
    """
    if name not in (AUTO, SHELL):
        return find_manifest(name, asked_by, config, root)
    return find_installed(config, root)


def is_installed(manifest: Manifest, root: Path) -> bool:
    """Whether the command is there; a relative path with a slash is one in the checkout."""
    name = manifest.argv[0]
    return shutil.which(str(root / name) if "/" in name else name) is not None
