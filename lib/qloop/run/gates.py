"""Gates: commands that qloop runs itself, and believes alone.

Each is `bash -c` in a tree, in the agent's environment less its secrets, with a time limit that
makes it red. An exit status that could not be read is a fault of the machine, never green.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qloop.system.cancel import Cancel
from qloop.system.clock import render_duration
from qloop.system.counting import counted
from qloop.system.errors import InternalFailure
from qloop.system.logged import Ended, read_tail, run_logged
from qloop.system.tree import Marks

TAIL_BYTES = 2_000
GATE_GRACE_S = 2.0
SHORT_COMMAND = 80


class GateLost(InternalFailure):
    """A gate's exit status could not be read."""


class GateCancelled(Exception):
    """The run was told to stop while a gate ran."""


@dataclass(frozen=True, slots=True)
class Room:
    """Where gates run and what bounds them."""

    cwd: Path
    env: Mapping[str, str]
    logs: Path
    marks: Marks
    timeout_s: float
    log_bytes: int
    cancel: Cancel


@dataclass(frozen=True, slots=True)
class GateResult:
    """One command that ran: its exit code, how long it took, what it printed."""

    name: str
    command: str
    code: int | None
    timed_out: bool
    seconds: float
    log: Path

    @property
    def green(self) -> bool:
        """Whether the command ended by itself with 0."""
        return self.code == 0 and not self.timed_out

    @property
    def line(self) -> str:
        """One line for people and for evidence."""
        if self.timed_out:
            verdict = f"ran longer than its limit ({render_duration(self.seconds)})"
        elif self.code is not None and self.code < 0:
            verdict = f"was killed by signal {-self.code}"
        else:
            verdict = f"exit {self.code}"
        return f"{self.name} `{short_command(self.command)}`: {verdict}"

    def evidence(self) -> str:
        """The line, and the end of the output where the gate is red."""
        if self.green:
            return self.line
        tail = read_tail(self.log, TAIL_BYTES).strip()
        return f"{self.line}\n{tail}" if tail else self.line

    def facts(self, log: str) -> dict[str, Any]:
        """What the journal notes of it; *log* is its log's path as it is shown."""
        return {
            "command": self.command,
            "code": self.code,
            "green": self.green,
            "seconds": round(self.seconds, 3),
            "log": log,
        }


def short_command(command: str) -> str:
    """A command in one line: its first line that does something, cut where it is long."""
    lines = [line.strip() for line in command.splitlines()]
    doing = [line for line in lines if line and not line.startswith("#")] or [command.strip()]
    text = doing[0]
    cut = len(text) > SHORT_COMMAND or len(doing) > 1
    return f"{text[:SHORT_COMMAND].rstrip()} …" if cut else text


def run_gate(room: Room, name: str, command: str) -> GateResult:
    """Run one command to its end. Raises GateLost, GateCancelled."""
    log = room.logs / f"{name}.log"
    ended = run_logged(
        ["bash", "-c", command],
        cwd=room.cwd,
        env=room.env,
        stdin=b"",
        log=log,
        log_bytes=room.log_bytes,
        timeout_s=room.timeout_s,
        marks=room.marks,
        cancel=room.cancel,
        grace_s=GATE_GRACE_S,
    )
    _check_status(ended, name)
    return GateResult(name, command, ended.code, ended.timed_out, ended.seconds, log)


def run_gates(room: Room, kind: str, commands: tuple[str, ...]) -> tuple[GateResult, ...]:
    """Run commands in order up to the first red one; their logs are `<kind>-1.log`, …"""
    return run_named(room, numbered(kind, commands))


def count_green(results: tuple[GateResult, ...]) -> str:
    """How many commands were green, for people; all of *results* are."""
    return f"{counted(len(results), 'command')} green"


def numbered(kind: str, commands: tuple[str, ...]) -> dict[str, str]:
    """Commands by the names of their gates: `<kind>-1`, …"""
    return {f"{kind}-{number}": command for number, command in enumerate(commands, start=1)}


def run_named(room: Room, commands: Mapping[str, str]) -> tuple[GateResult, ...]:
    """Run commands, by the names of their gates, in order up to the first red one."""
    results: list[GateResult] = []
    for name, command in commands.items():
        results.append(run_gate(room, name, command))
        if not results[-1].green:
            break
    return tuple(results)


def _check_status(ended: Ended, name: str) -> None:
    if ended.cancelled:
        raise GateCancelled
    if ended.lost:
        raise GateLost(f"the exit status of {name} was lost", fix="run again")
