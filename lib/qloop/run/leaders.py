"""Which agent leads a wave, where an agent is to. Errors: RunnerUnavailable, BadInput."""

from pathlib import Path

from qloop.agents.manifest import Manifest
from qloop.agents.roles import load_role
from qloop.run.config import Config
from qloop.run.orders import Leader
from qloop.run.prepare import Wanted, find_agent
from qloop.run.routing import route_role
from qloop.system.errors import RunnerUnavailable

COORDINATOR = "coordinator"
"""The role of an agent that leads a wave."""


def pick_leader(wanted: Wanted, config: Config, root: Path, name: str, timeout_s: float) -> Leader:
    """The agent that leads a wave for at most *timeout_s*; its work is known by *name*."""
    route = route_role(COORDINATOR, wanted.wish, config, load_role(COORDINATOR).tier)
    runner = _runner(route.runner, config, root)
    # It changes no file: what it may run besides reading is the toolkit.
    reader = runner.for_reading()
    return Leader(name=name, runner=reader, model=route.model, timeout_s=timeout_s)


def _runner(name: str, config: Config, root: Path) -> Manifest:
    found = find_agent(name, f"the {COORDINATOR}", config, root)
    if found is None:
        raise RunnerUnavailable(
            "--coordinator-agent needs an agent command line, and none is set up",
            where="qloop.toml",
            fix=f"name one in [roles.{COORDINATOR}], or leave the option out",
        )
    return found
