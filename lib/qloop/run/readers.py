"""Who reads and judges, and what it means for a person that a call came to no answer.

Errors: RunnerUnavailable, BadInput.
"""

import signal
from dataclasses import dataclass
from pathlib import Path

from qloop.agents.hindrances import Cause
from qloop.agents.manifest import AUTO, SHELL, Manifest
from qloop.agents.roles import load_role
from qloop.run.agent_call import Answered
from qloop.run.call_end import WORDS
from qloop.run.choosing import FALLBACK
from qloop.run.config import Config
from qloop.run.orders import Hindered
from qloop.run.prepare import find_agent, find_installed, find_manifest
from qloop.run.routing import Wish, route_role
from qloop.state.pauses import Pause
from qloop.system.clock import render_duration
from qloop.system.errors import BadInput, PersonNeeded, QloopError, RunnerUnavailable


class ReaderFailed(QloopError):
    """An agent that reads crashed, was stuck, or ran out of time."""


class StuckAtGate(ReaderFailed):
    """An agent that reads was denied the same thing until it ended."""


class LimitReached(PersonNeeded):
    """Nobody who could be asked has any of their allowance left."""

    def __init__(self, what: str, hindered: Hindered, *, where: str, fix: str) -> None:
        super().__init__(what, where=where, fix=fix)
        self.hindered = hindered


class ServiceAway(RunnerUnavailable):
    """The service of whoever was asked is overloaded, or out of reach."""

    def __init__(self, what: str, hindered: Hindered, *, where: str, fix: str) -> None:
        super().__init__(what, where=where, fix=fix)
        self.hindered = hindered


@dataclass(frozen=True, slots=True)
class Reader:
    """Who is asked."""

    runner: Manifest
    model: str | None

    @property
    def label(self) -> str:
        """The runner, and its model where one is asked for."""
        return f"{self.runner.name} ({self.model})" if self.model else self.runner.name


@dataclass(frozen=True, slots=True)
class Voice:
    """Who would be asked in a role, as the settings have it, installed or not."""

    runner: str
    model: str | None
    has_helpers: bool
    """Whether it has sub-agents of its own."""


def find_voice(role: str, config: Config, root: Path) -> Voice | None:
    """Who would be asked in a role; None where commands do its work, or nobody is there.

    Raises BadInput.
    """
    route = route_role(role, Wish(), config, load_role(role).tier)
    if route.runner == SHELL:
        return None
    if route.runner == AUTO:
        found = find_installed(config, root)
        return None if found is None else Voice(found.name, route.model, found.subagents)
    manifest = config.manifest(route.runner)
    return Voice(route.runner, route.model, manifest is not None and manifest.subagents)


def find_readers(role: str, config: Config, root: Path) -> tuple[Reader, ...]:
    """Who may be asked in a role, then who stands in; none where commands do all the work.

    That is `[roles.NAME]`, else the runner for all, if it is an agent's.
    """
    route = route_role(role, Wish(), config, load_role(role).tier)
    return () if route.runner == SHELL else pick_readers(role, config, root)


def pick_readers(role: str, config: Config, root: Path) -> tuple[Reader, ...]:
    """The same for a role that needs an agent, whatever carries out the stories."""
    route = route_role(role, Wish(), config, load_role(role).tier)
    runner = find_agent(route.runner, f"the {role}", config, root)
    if runner is None:
        return ()
    names = [name for name in config.fallback if name != runner.name]
    others = [find_manifest(name, FALLBACK, config, root) for name in names]
    first = Reader(runner.for_reading(), route.model)
    return (first, *(Reader(one.for_reading(), None) for one in others))


def hindered_error(role: str, hindered: Hindered, log: str) -> QloopError:
    """What keeps a reader from working, as the error that tells who can do something about it."""
    cause, instead = hindered.cause, _instead(role)
    what = f"{hindered.runner} {WORDS[cause]}: {hindered.text}"
    if cause is Cause.USAGE_LIMIT:
        pause = Pause(hindered.runner, str(cause), hindered.text, hindered.resets_at_s)
        wait = f"wait until {pause.until}" if hindered.resets_at_s else "wait for its reset"
        return LimitReached(what, hindered, where=log, fix=f"{wait}, {instead}")
    if cause is Cause.AUTHENTICATION:
        login = "log in with it, or put its key into the environment"
        return PersonNeeded(what, where=log, fix=f"{login}, {instead}")
    if cause is Cause.CONFIGURATION:
        return BadInput(what, where=log, fix="correct its model or its table in qloop.toml")
    return ServiceAway(what, hindered, where=log, fix=f"try again later, {instead}")


def ended_badly(
    role: str, reader: Reader, answered: Answered, timeout_s: float, log: str
) -> QloopError:
    """A call that broke off by itself."""
    ended = answered.ended
    if ended.timed_out:
        how = f"ran longer than its limit of {render_duration(timeout_s)}"
        fix = "give it longer: timeout in qloop.toml, or QLOOP_TIMEOUT"
    elif ended.stuck:
        how, fix = "was stuck: it did nothing at all for too long", "see its log"
    elif ended.lost:
        how, fix = "ended with an exit status that was lost", "try again"
    elif ended.code is not None and ended.code < 0:
        how, fix = f"was killed by {_name(-ended.code)}", "see its log, and try again"
    elif ended.code != 0:
        how, fix = f"ended with exit code {ended.code}", "see its log"
    else:
        how, fix = "says itself that its call failed", "see its log"
    what = f"the {role} ({reader.label}) {how}"
    if answered.denied is not None:
        what = f"the {role} ({reader.label}) was stuck at the gate: {answered.denied.text}"
        return StuckAtGate(what, where=log, fix=f"see its log, {_instead(role)}")
    return ReaderFailed(what, where=log, fix=f"{fix}, {_instead(role)}")


def is_whole(answered: Answered) -> bool:
    """Whether a call came to its own end, and well."""
    ended = answered.ended
    is_cut = ended.timed_out or ended.stuck or ended.lost
    return ended.code == 0 and not (is_cut or answered.reading.failed)


def _instead(role: str) -> str:
    return f"or name another runner in [roles.{role}]"


def _name(signum: int) -> str:
    return signal.Signals(signum).name if signum in set(signal.Signals) else str(signum)
