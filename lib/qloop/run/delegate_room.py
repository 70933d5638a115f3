"""Where a person's own delegates are called from: `.qloop/delegates/<id>/`, without the run lock.

While one is at work its folder has a locked file; one that is there and free tells of a process
that was killed, and the next delegate puts right what that left.
Errors: BudgetReached, UsageWrong for a call from inside a delegate.
"""

import json
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from qloop.repo.checkout import Repository
from qloop.repo.exclude import ensure_excluded
from qloop.repo.names import attempt_id
from qloop.repo.removal import remove_all
from qloop.repo.settings import read_settings
from qloop.run import holder
from qloop.run.config import Config
from qloop.run.delegate_desk import DelegateDesk, empty_workspace
from qloop.run.delegation import Record
from qloop.run.desk import Emit
from qloop.run.forks import new_run_id
from qloop.run.inside import check_depth
from qloop.run.orders import Delegate, Dispatch
from qloop.run.purse import RAISE_IT, BudgetReached, Call, Purse
from qloop.run.recover import end_processes
from qloop.run.target import Target, put_back
from qloop.run.unlanding import unlanding_terms
from qloop.state.budget import Limits, Refused
from qloop.state.facts import DELEGATION, is_beside
from qloop.state.journal import EventKind, Journal
from qloop.system.cancel import Cancel
from qloop.system.files import Held, open_locked, read_optional, write_atomic
from qloop.system.identity import is_alive, parse_process_id, this_process

LOCK = "lock"
BEFORE = "before"
"""What the target held."""
CHANGE = "change.json"
"""What is being tried out on the target, until that is over."""
AFTER = "after"
TEMPORARY = "qloop-delegate-"
"""How the names of folders begin that delegates stand in."""


@dataclass(frozen=True, slots=True)
class Room:
    """One delegate of a person's."""

    desk: DelegateDesk
    folder: Path
    told: tuple[str, ...] = ()
    """What there is to say of delegates whose process was killed."""

    @property
    def kept(self) -> Path | None:
        """The file that keeps what the target held; None where there was no such file."""
        path = self.folder / BEFORE
        return path if path.exists() else None

    def begin_change(self, target: Target, after: bytes) -> None:
        """Note what is about to be written, so that it can be put back whatever happens."""
        if target.before is not None:
            write_atomic(self.folder / BEFORE, target.before)
        value = {
            "root": str(target.root),
            "name": target.name,
            "new": target.before is None,
            "mode": target.mode,
        }
        write_atomic(self.folder / AFTER, after)
        write_atomic(self.folder / CHANGE, json.dumps(value).encode() + b"\n")

    def end_change(self) -> None:
        """The change stands, or is put back."""
        (self.folder / CHANGE).unlink(missing_ok=True)
        (self.folder / AFTER).unlink(missing_ok=True)


@contextmanager
def delegate_room(
    repository: Repository, config: Config, quantum: Path, delegate: Delegate, cancel: Cancel
) -> Iterator[Room]:
    """A room for one call; its output stays, its folders to work in do not."""
    private = holder.private_folder(repository)
    check_depth("delegate", _askers(private))
    ensure_excluded(repository, quantum)
    run_id = new_run_id(DELEGATION)
    journal, folder = Journal(private / "events.jsonl", run_id), _folder(private, run_id)
    told = clear_dead(private)
    with ExitStack() as undo:
        base = undo.enter_context(_temporary())
        undo.enter_context(_held(folder, base))
        name = attempt_id(delegate.role, 1, secrets.token_hex(4))
        workspace = empty_workspace(base, name, repository.git_dir)
        desk = DelegateDesk(
            unlanding_terms(repository, config, run_id, read_settings(repository), ""),
            "",
            _nobody(delegate, name),
            workspace,
            _emitter(journal),
            cancel,
            folder=folder,
        )
        undo.enter_context(_paid(desk, delegate, journal))
        yield Room(desk, folder, tuple(told))


@contextmanager
def _held(folder: Path, temporary: Path) -> Iterator[None]:
    """Say by a locked file that this process is at work here; it is never there unlocked."""
    value = {**this_process().to_json(), "temporary": str(temporary)}
    draft = folder / f"{LOCK}.draft"
    lock = open_locked(draft, wait=False)
    try:
        os.write(lock, json.dumps(value).encode())
        draft.rename(folder / LOCK)
        try:
            yield
        finally:
            (folder / LOCK).unlink(missing_ok=True)
    finally:
        os.close(lock)


def clear_dead(private: Path) -> list[str]:
    """End the agents of delegates whose process was killed, and put back what was tried out."""
    told: list[str] = []
    for path in sorted((private / "delegates").glob(f"*/{LOCK}")):
        try:
            handle = open_locked(path, wait=False)
        except Held:
            continue
        with suppress(OSError, ValueError, KeyError):
            journal = Journal(private / "events.jsonl", path.parent.name)
            end_processes(journal, journal.run_id)
            _note_killed(journal)
            told += _undo(path.parent)
            temporary = Path(json.loads(path.read_bytes())["temporary"])
            if temporary.name.startswith(TEMPORARY):
                remove_all(temporary)
            path.unlink()
        os.close(handle)
    return told


def _note_killed(journal: Journal) -> None:
    """The record of a call whose process was killed before it could leave one."""
    events = journal.events(journal.run_id)
    started = [one.data for one in events if one.event is EventKind.AGENT_STARTED]
    if started and not any(one.event is EventKind.DELEGATE_ENDED for one in events):
        role = str(started[0].get("role"))
        facts = Record(role, "asked by hand", 0, "killed", "qloop was killed meanwhile", 0).facts()
        journal.append(EventKind.DELEGATE_ENDED, **{**facts, "runner": started[0].get("runner")})


def _undo(folder: Path) -> list[str]:
    """Put back the change that a killed delegate left untried."""
    data, after = read_optional(folder / CHANGE), read_optional(folder / AFTER)
    if data is None or after is None:
        return []
    value = json.loads(data)
    before = None if value["new"] else read_optional(folder / BEFORE)
    target = Target(Path(value["root"]), value["name"], before, value["mode"])
    if put_back(target, after):
        return [f"{target.name}: put back what {folder.name} had written and not yet tested"]
    return []


def _askers(private: Path) -> tuple[int, ...]:
    """The processes that wait for a delegate of theirs."""
    found = []
    for path in (private / "delegates").glob(f"*/{LOCK}"):
        with suppress(OSError, ValueError):
            asker = parse_process_id(json.loads(path.read_bytes()))
            found += [asker.pid] if asker is not None and is_alive(asker) else []
    return tuple(found)


def _folder(private: Path, run_id: str) -> Path:
    folder = private / "delegates" / run_id
    folder.mkdir(parents=True)
    return folder


@contextmanager
def _paid(desk: DelegateDesk, delegate: Delegate, journal: Journal) -> Iterator[None]:
    """Reserve for the call, within the budget of the run that is on, if one is."""
    account, limit = _account(desk, journal)
    purse = Purse(Journal(journal.path, account), Limits(run_usd=limit))
    made = purse.reserve([Call(delegate.role, delegate.runner.name, delegate.model)])
    if isinstance(made, Refused):
        raise BudgetReached(made.text, fix=RAISE_IT)
    desk.tickets.update({one.role: one for one in made})
    try:
        yield
    finally:
        purse.close(desk.dispatch.model_copy(update={"reserved": made}), died=False)


def _account(desk: DelegateDesk, journal: Journal) -> tuple[str, float | None]:
    """The run that pays, else this call itself; and what it may spend in dollars."""
    limit = desk.terms.limits.run_usd
    found = holder.read_holder(Path(desk.terms.place.private))
    if found is None or not found.alive or is_beside(found.run_id):
        return journal.run_id, limit
    begun = (one for one in journal.events(found.run_id) if one.event is EventKind.RUN_STARTED)
    own = next((one.data.get("budget_usd") for one in begun), None)
    return found.run_id, own if isinstance(own, int | float) else limit


@contextmanager
def _temporary() -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(prefix=TEMPORARY)).resolve()
    try:
        yield place
    finally:
        remove_all(place)


def _nobody(delegate: Delegate, name: str) -> Dispatch:
    return Dispatch(
        story="",
        attempt=0,
        attempt_id=name,
        runner=delegate.runner,
        model=delegate.model,
        timeout_s=delegate.timeout_s,
        slot=0,
    )


def _emitter(journal: Journal) -> Emit:
    def emit(kind: EventKind, **data: object) -> None:
        journal.append(kind, **data)  # type: ignore[arg-type]

    return emit
