"""What a tool call would do, as values: the places it touches, the commands it runs.

Links and the environment are looked at here and nowhere else in the gate.
Errors: UnclearCall for arguments that do not say what the tool would do.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from qloop.agents.gate.places import resolve_path, resolve_pattern
from qloop.agents.gate.shell_steps import Errand, take_apart
from qloop.agents.gate.table import TABLE, Kind, Shell, kind_of, role_of

_PATHS = ("file_path", "notebook_path", "path", "filePath")


class UnclearCall(Exception):
    """The arguments do not say what the tool would do."""


@dataclass(frozen=True, slots=True)
class Act:
    """One tool call."""

    tool: str
    kind: Kind
    path: str | None = None
    """Where it reads or writes, resolved."""
    errand: Errand | None = None
    """What its shell would do."""
    agent: str = ""
    """The agent that it would start."""


def read_call(
    role: str, tool: str, args: Mapping[str, object], cwd: str, env: Mapping[str, str]
) -> Act:
    """The act that a call of *role* is. Raises UnclearCall."""
    kind = kind_of(tool)
    try:
        match kind:
            case Kind.READ | Kind.WRITE:
                return Act(tool, kind, resolve_path(_path(tool, args, None), cwd))
            case Kind.SEARCH:
                return Act(tool, kind, _searched(tool, args, cwd))
            case Kind.SHELL:
                command = _text(tool, args, "command")
                row = TABLE[role_of(role) or "worker"]
                through = row.shell is Shell.FREE
                return Act(tool, kind, errand=take_apart(command, cwd, env, through=through))
            case Kind.SPAWN:
                return Act(tool, kind, agent=_text(tool, args, "subagent_type"))
            case _:
                return Act(tool, kind)
    except (ValueError, OSError) as exc:
        raise UnclearCall(f"{tool} names a path that no file can have: {exc}") from exc


def _searched(tool: str, args: Mapping[str, object], cwd: str) -> str:
    folder = resolve_path(_path(tool, args, "."), cwd)
    pattern = args.get("pattern")
    if tool != "Glob" or not isinstance(pattern, str):
        return folder
    found = resolve_pattern(pattern, folder)
    if found is None:
        raise UnclearCall(f"{tool} goes up again after a sign that matches names: {pattern}")
    return found


def _path(tool: str, args: Mapping[str, object], default: str | None) -> str:
    given = next((args[name] for name in _PATHS if name in args), default)
    if isinstance(given, str) and given:
        return given
    raise UnclearCall(f"{tool} needs a path: file_path, a text that is not empty")


def _text(tool: str, args: Mapping[str, object], name: str) -> str:
    given = args.get(name)
    if isinstance(given, str) and given.strip():
        return given
    raise UnclearCall(f"{tool} needs {name}, a text that is not empty")
