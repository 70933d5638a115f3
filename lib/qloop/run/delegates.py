"""Who is asked as a delegate: a stateless agent, called without any tool, one level deep.

Errors: RunnerUnavailable for a runner that is not there or cannot be called without tools;
BadInput for an unknown name.
"""

from pathlib import Path

from qloop.agents.manifest import AUTO, SHELL, Manifest
from qloop.agents.roles import load_role
from qloop.agents.shipped import SHIPPED
from qloop.plan.model import Story
from qloop.run.config import CONFIG_NAME, Config
from qloop.run.orders import Delegate
from qloop.run.prepare import Wanted, find_known, is_installed, runner_names
from qloop.run.routing import Wish, route_role
from qloop.system.errors import RunnerUnavailable

WORKER = "worker"
QA = "qa"
DELEGATES = (WORKER, QA)
LONGEST_S = 300.0
"""The most that a delegate gets; it has one thing to say."""


def pick_delegate(role: str, config: Config, root: Path, failures: int) -> Delegate:
    """The delegate that a person asks for; the more *failures* before, the larger its model."""
    route = route_role(role, Wish(), config, load_role(role).tier, failures)
    if route.runner in (AUTO, SHELL):
        runner = _find_first(role, config, root)
    else:
        runner = _find(route.runner, role, config, root)
    return _delegate(role, runner, route.model, config)


def find_delegates(
    story: Story, implementer: Manifest, wanted: Wanted, config: Config, root: Path
) -> tuple[Delegate, ...]:
    """Those who may be asked about a story's last failure: none where nobody was set to be.

    Where nothing names a runner for them it is the implementer's, if it can answer without tools.
    """
    if not story.retries.failure_log or implementer.name == SHELL:
        return ()
    found = (_of_role(role, story, implementer, wanted, config, root) for role in DELEGATES)
    return tuple(one for one in found if one is not None)


def check_delegates(config: Config, root: Path) -> None:
    """Raise where a delegate that `[roles]` names could not be called."""
    for role in DELEGATES:
        table = config.roles.get(role)
        if table is not None and table.runner not in (None, AUTO, SHELL):
            _find(str(table.runner), role, config, root)


def _of_role(
    role: str, story: Story, implementer: Manifest, wanted: Wanted, config: Config, root: Path
) -> Delegate | None:
    failures = story.retries.attempts
    route = route_role(role, wanted.wish, config, load_role(role).tier, failures)
    if route.runner in (AUTO, SHELL):
        runner: Manifest | None = implementer
    else:
        runner = config.manifest(route.runner)
    if runner is None or runner.toolless is None or not is_installed(runner, root):
        return None
    return _delegate(role, runner, route.model, config)


def _delegate(role: str, runner: Manifest, model: str | None, config: Config) -> Delegate:
    timeout_s = min(config.timeout, LONGEST_S)
    return Delegate(role=role, runner=runner.for_answering(), model=model, timeout_s=timeout_s)


def _find(name: str, role: str, config: Config, root: Path) -> Manifest:
    manifest = find_known(name, f"the {role}", config, root)
    if manifest.toolless is None:
        raise RunnerUnavailable(
            f"the runner {name!r} cannot be called without tools, and a {role} has none",
            where=f"[runners.{name}]",
            fix=f"name another in [roles.{role}]{_able(config)}, "
            f"or say in [runners.{name}.toolless] how it is called without",
        )
    return manifest


def _find_first(role: str, config: Config, root: Path) -> Manifest:
    for name in runner_names(config):
        manifest = config.manifest(name)
        if manifest is not None and manifest.toolless is not None and is_installed(manifest, root):
            return manifest
    raise RunnerUnavailable(
        f"no agent command line is installed that could be a {role}, called without tools",
        where=CONFIG_NAME,
        fix=f"name one in [roles.{role}]{_able(config)}, and install it "
        "(`qloop runners list` tells how)",
    )


def _able(config: Config) -> str:
    """The shipped runners that can be delegates, in brackets."""
    known = ((name, config.manifest(name)) for name in SHIPPED)
    names = [name for name, one in known if one is not None and one.toolless is not None]
    return f" ({', '.join(names)} can)"
