"""What a person asks of delegates: a trace compressed, one file of theirs changed and tested.

Errors: those of `delegates`, `target` and `delegate_room`; CallFailed; WorkRefused for an answer
that cannot be used, or was put back; KeyboardInterrupt.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from qloop.agents.environment import base_environment
from qloop.repo.checkout import Repository
from qloop.run import gates
from qloop.run.config import Config, load_config
from qloop.run.delegate_room import Room, delegate_room
from qloop.run.delegates import QA, WORKER, pick_delegate
from qloop.run.delegation import CallCancelled, Proposal, Record, compress_trace, propose
from qloop.run.desk import shown
from qloop.run.gates import GateCancelled, GateResult
from qloop.run.orders import Delegate
from qloop.run.target import TargetChanged, find_target, put_back, replace_target
from qloop.state.journal import EventKind
from qloop.system.errors import QloopError
from qloop.system.interrupts import Interrupts
from qloop.system.tree import become_subreaper

BY_HAND = "asked by hand"
Say = Callable[[str], None]


class WorkRefused(QloopError):
    """A worker's answer that could not be used, or that the commands refused."""

    def __init__(self, what: str, record: Record, *, where: str = "", fix: str = "") -> None:
        super().__init__(what, where=where, fix=fix)
        self.record = record


@dataclass(frozen=True, slots=True)
class Ask:
    """What a person asks of a delegate."""

    role: str
    prompt: str
    failures: int = 0
    """How often it was tried before."""


@dataclass(frozen=True, slots=True)
class Task:
    """The file that a worker changes, and what tells whether it did well."""

    root: Path
    """The checkout that the file lies in."""
    name: str
    """Its path from there."""
    verify: tuple[str, ...]
    state_files: frozenset[str] = frozenset()
    """Names in *root*, in lower case, that no worker may write."""


@dataclass(frozen=True, slots=True)
class Worked:
    """A change that stands."""

    record: Record
    gates: tuple[GateResult, ...]
    kept: Path | None
    """The file that keeps what the target held; None where it was made."""


def compress_by_hand(repository: Repository, quantum: Path, asked: Ask, say: Say) -> Record:
    """What a trace comes to. *quantum* is the state file, whether it is there or not."""
    config = load_config(repository.root)
    qa = pick_delegate(QA, config, repository.root, asked.failures)
    with _room(repository, config, quantum, qa, say) as room:
        return compress_trace(room.desk, qa, asked.prompt, BY_HAND)


def change_by_hand(
    repository: Repository, quantum: Path, asked: Ask, task: Task, say: Say
) -> Worked:
    """One file changed as a worker answers, which stands only if the commands are green."""
    config = load_config(repository.root)
    target = find_target(task.root, task.name, task.state_files)
    worker = pick_delegate(WORKER, config, repository.root, asked.failures)
    with _room(repository, config, quantum, worker, say) as room:
        proposal = propose(room.desk, worker, target, asked.prompt, BY_HAND)
        if proposal.after is None:
            _refuse(room, proposal)
        return _try_out(room, proposal, task)


@contextmanager
def _room(
    repository: Repository, config: Config, quantum: Path, delegate: Delegate, say: Say
) -> Iterator[Room]:
    become_subreaper()
    interrupts = Interrupts()
    try:
        with delegate_room(repository, config, quantum, delegate, interrupts.cancel) as room:
            for text in room.told:
                say(text)
            yield room
    except (CallCancelled, GateCancelled):
        raise KeyboardInterrupt from None
    finally:
        interrupts.close()


def _try_out(room: Room, proposal: Proposal, task: Task) -> Worked:
    """Write the change, run the commands, and take it back where one is red."""
    target, after = proposal.target, (proposal.after or "").encode()
    room.begin_change(target, after)
    try:
        written = replace_target(target, after)
        results = _run_gates(room, task)
    except TargetChanged as exc:
        room.end_change()
        _refuse(room, proposal, exc.what)
    except BaseException:
        put_back(target, after)
        room.end_change()
        record = proposal.record("cancelled", "stopped while its change was tested; put back")
        room.desk.emit(EventKind.DELEGATE_ENDED, **record.facts())
        raise
    red = next((one for one in results if not one.green), None)
    if red is not None:
        is_back = put_back(target, written)
        room.end_change()
        _refuse(room, proposal, red.evidence(), "put back" if is_back else "left")
    room.end_change()
    how = gates.count_green(results) if results else "unverified: no command judges it"
    record = proposal.record("applied", how)
    room.desk.emit(EventKind.DELEGATE_ENDED, **record.facts())
    return Worked(record, results, room.kept)


def _run_gates(room: Room, task: Task) -> tuple[GateResult, ...]:
    """The commands in the checkout, up to the first red one. Raises GateCancelled, GateLost."""
    desk = room.desk
    place = gates.Room(
        cwd=task.root,
        env={**base_environment(desk.terms.env_pass), **desk.marking},
        logs=desk.logs,
        marks=desk.marks,
        timeout_s=desk.terms.limits.gate_timeout_s,
        log_bytes=desk.terms.limits.log_bytes,
        cancel=desk.cancel,
    )
    return gates.run_gates(place, "verify", task.verify)


def _refuse(room: Room, proposal: Proposal, why: str = "", outcome: str = "") -> NoReturn:
    """Note what became of the call, and raise WorkRefused: the target is as it was."""
    text = why or proposal.why
    record = proposal.record(outcome or proposal.outcome or "rejected", text)
    room.desk.emit(EventKind.DELEGATE_ENDED, **record.facts())
    name = proposal.target.name
    stands = (
        f"{name} was changed by somebody since" if outcome == "left" else f"{name} is as it was"
    )
    raise WorkRefused(
        f"{stands}: {text}",
        record,
        where=shown(proposal.answered.log, room.desk.terms),
        fix="say more in the ticket, or ask again with --failure-count one higher",
    )
