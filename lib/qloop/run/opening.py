"""Opening a run: the lock, recovery, the checks, the line, the lease; then its terms are fixed.

Errors: those of `prepare`, and whatever the state file or the repository cannot be used for.
"""

import os
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from qloop.plan.document import load_document
from qloop.plan.model import Plan, parse_plan
from qloop.plan.outline import Outline, outline_of
from qloop.plan.validate import check_plan
from qloop.repo.checkout import Repository, check_git_version, head_commit
from qloop.repo.exclude import ensure_excluded
from qloop.repo.line import ensure_line, write_lease
from qloop.repo.names import workspace_base
from qloop.repo.pool import drain
from qloop.repo.settings import read_settings
from qloop.run import holder, prepare, recover
from qloop.run.choosing import Chooser, check_agents
from qloop.run.config import Config, load_config
from qloop.run.forks import new_run_id
from qloop.run.orders import Limits, Place, Terms
from qloop.run.planning import make_plan
from qloop.run.prepare import Prd, Wanted
from qloop.run.purse import Purse, open_purse
from qloop.run.remarks import find_remarks
from qloop.state.journal import EventKind, Journal
from qloop.state.ownership import DRIVER, PLAN
from qloop.state.store import Store, store_for
from qloop.system.apart import run_apart
from qloop.system.cancel import Cancel
from qloop.system.errors import BadInput, Faults, InputMissing, PersonNeeded

BY_HAND = "coordinator by hand"


@dataclass(slots=True)
class Opened:
    """A run that may dispatch: everything checked, the lock held."""

    repository: Repository
    store: Store
    journal: Journal
    terms: Terms
    config: Config
    wanted: Wanted
    lock: int
    purse: Purse
    notes: list[str] = field(default_factory=list)
    """What was repaired or is worth knowing, for people."""
    paused: frozenset[str] = frozenset()
    """Runners that get no work now."""

    @property
    def chooser(self) -> Chooser:
        """What chooses the agents of each story, as things stand."""
        return Chooser(self.wanted, self.config, self.repository.root, self.paused)

    @property
    def private(self) -> Path:
        """The `.qloop` folder."""
        return Path(self.terms.place.private)

    def outline(self) -> Outline:
        """The graph as it stands now, a person's edits included."""
        found = self.store.outline()
        return outline_of(self.plan()) if found is None else found

    def chosen(self, stories: Collection[str]) -> Plan:
        """The plan with these stories alone, as it stands now."""
        return parse_plan(self.store.part(stories))

    def plan(self) -> Plan:
        """The plan as it stands now, a person's edits included."""
        return check_plan(self.store.current(), self.terms.place.quantum)


def open_run(
    repository: Repository,
    quantum: Path,
    given_prd: Path | None,
    wanted: Wanted,
    cancel: Cancel,
    run_id: str,
) -> Opened:
    """Take the repository and put everything in order. The lock is freed where that fails.

    *cancel* ends the wait for the lock; what comes after it is short.
    """
    check_git_version()
    head_commit(repository)
    config = load_config(repository.root)
    base = workspace_base(config.worktree_root, repository)
    private = holder.private_folder(repository)
    private.mkdir(exist_ok=True)
    journal = Journal(private / "events.jsonl", run_id)
    with ExitStack() as undo:
        lock = recover.take_lock(repository, journal, cancel)
        undo.callback(holder.release, lock)
        former = succeed(private, journal, base, wanted.mode)
        undo.callback(holder.write_holder, private, journal.run_id, wanted.mode, ended=True)
        undo.enter_context(_waiting_noted(journal))
        store, plan, notes = _take_plan(repository, quantum, given_prd, journal)
        prd = prepare.find_prd(plan, repository.root, given_prd, quantum)
        if not wanted.accept_prd_change:
            prepare.check_prd(plan, prd)
        place = _place(repository, private, base, quantum, prd, plan)
        bounds = run_apart(
            lambda: check_agents(check_plan(store.read(), str(quantum)), wanted, config, place)
        )
        opened = _open(repository, store, journal, config, wanted, place, lock)
        remarks = [prd.warning] if prd.warning else []
        opened.notes += [*notes, *remarks, *bounds, *find_remarks(repository, place)]
        _recover(opened, former)
        _write_wishes(opened, prd)
        undo.pop_all()
    return opened


def open_by_hand(repository: Repository, quantum: Path, given_prd: Path | None) -> Opened:
    """Take the repository for one wave by hand: no story is corrected, no worktree cleared."""
    config = load_config(repository.root)
    base = workspace_base(config.worktree_root, repository)
    private = holder.private_folder(repository)
    private.mkdir(exist_ok=True)
    journal = Journal(private / "events.jsonl", new_run_id())
    store = store_for(quantum, repository.root)
    with ExitStack() as undo:
        lock = holder.try_lock(repository)
        if lock is None:
            raise holder.busy(private)
        undo.callback(holder.release, lock)
        succeed(private, journal, base, BY_HAND)
        undo.callback(holder.write_holder, private, journal.run_id, BY_HAND, ended=True)
        notes = store.adopt()
        plan = check_plan(store.read(), str(quantum))
        prd = prepare.find_prd(plan, repository.root, given_prd, quantum)
        place = _place(repository, private, base, quantum, prd, plan)
        opened = _open(repository, store, journal, config, Wanted(), place, lock)
        opened.notes += notes
        undo.pop_all()
    return opened


@contextmanager
def _waiting_noted(journal: Journal) -> Iterator[None]:
    """A run that waits for a person before it began has ended all the same, and says so."""
    try:
        yield
    except PersonNeeded as exc:
        journal.append(EventKind.RUN_ENDED, signal="WAITING", exit_code=3, reasons=[str(exc)])
        raise


def succeed(private: Path, journal: Journal, base: Path, mode: str) -> holder.Holder | None:
    """End what the former holder left alive, name this run as the holder, return the former."""
    former = holder.read_holder(private)
    if former is not None and former.ended_at is None:
        recover.end_processes(journal, former.run_id, (base,))
    drain(base)
    holder.write_holder(private, journal.run_id, mode)
    os.environ["QLOOP_RUN"] = journal.run_id  # a later run ends what outlives this process
    return former


def _take_plan(
    repository: Repository, quantum: Path, given_prd: Path | None, journal: Journal
) -> tuple[Store, Plan, list[str]]:
    """The state file as the run takes it up; made from the document where it is missing.

    The plan comes without its stories, which take much memory.
    """
    ensure_excluded(repository, quantum)
    store = store_for(quantum, repository.root, lambda text: _note(journal, text))
    notes = run_apart(lambda: _adopt(store, quantum, repository.root, given_prd))
    return store, parse_plan(store.part(())), notes


def _adopt(store: Store, quantum: Path, root: Path, given_prd: Path | None) -> list[str]:
    """Make the state file where it is missing, check it, take it over; what there is to say."""
    notes: list[str] = []
    if not quantum.exists() and given_prd is not None:
        made = make_plan(given_prd, root)
        check_plan(made, str(given_prd))
        store.replace(made)
        notes.append(f"made the plan {quantum.name} from {given_prd.name}")
    if not quantum.exists():
        raise InputMissing(
            "there is no state file",
            where=str(quantum),
            fix="give a requirements document (`qloop --coordinator prd.md`), "
            "or begin with `qloop init`",
        )
    _check_first(quantum)
    notes += store.adopt()
    check_plan(store.read(), str(quantum))
    return notes


def _note(journal: Journal, text: str) -> None:
    journal.append(EventKind.STATE_REPAIRED, text=text)


def _check_first(quantum: Path) -> None:
    """Name the faults of a plan before anything rewrites it; what does not parse is the store's."""
    try:
        document = load_document(quantum)
    except Faults:
        raise
    except BadInput:
        return
    check_plan(document, str(quantum))


def _place(
    repository: Repository, private: Path, base: Path, quantum: Path, prd: Prd, plan: Plan
) -> Place:
    return Place(
        root=str(repository.root),
        git_dir=str(repository.git_dir),
        private=str(private),
        base=str(base),
        quantum=str(quantum.resolve()),
        prd=str(prd.path) if prd.path else None,
        branch=plan.branch_name,
    )


def _open(
    repository: Repository,
    store: Store,
    journal: Journal,
    config: Config,
    wanted: Wanted,
    place: Place,
    lock: int,
) -> Opened:
    """The line and the lease, then the terms that hold for the run."""
    for text in recover.remove_dead_locks(repository, place.branch):
        _note(journal, text)
    ensure_line(repository, place.branch)
    gate_timeout_s, stale_after_s = wanted.gate_timeout_s, wanted.stale_after_s
    terms = Terms(
        run_id=journal.run_id,
        lease=write_lease(repository, journal.run_id),
        place=place,
        limits=Limits(
            gate_timeout_s=gate_timeout_s if gate_timeout_s is not None else config.gate_timeout,
            stale_after_s=stale_after_s if stale_after_s is not None else config.stale_after,
            log_bytes=config.limits.log_bytes,
            file_bytes=config.limits.file_bytes,
            run_usd=wanted.budget_usd or config.limits.budget_usd,
            story_usd=config.limits.story_budget_usd,
        ),
        settings=read_settings(repository).to_dict(),
        env_pass=config.env_pass,
        sparse=config.sparse,
        block=config.checks.block,
        on_conflict=config.on_conflict,
        regenerate=config.regenerate,
        delegate=config.delegate,
        preamble=wanted.preamble,
    )
    return Opened(repository, store, journal, terms, config, wanted, lock, open_purse(terms))


def _recover(opened: Opened, former: holder.Holder | None) -> None:
    """Put in order what a dead run left."""
    events = opened.journal.events()
    branch = opened.terms.place.branch
    repairs = recover.correct_stories(opened.repository, opened.store, events, branch)
    why = f"left by {former.label}" if former else "left by a run that is gone"
    repairs += recover.tidy_workspaces(opened.repository, lambda _: True, why)
    recover.release_starts(opened.repository)
    if opened.purse.limits.is_set and (dead := opened.purse.close_dead()):
        agents = "1 agent" if dead == 1 else f"{dead} agents"
        repairs.append(f"{agents} of runs that are gone: paid as was reserved for them")
    for text in repairs:
        _note(opened.journal, text)


def _write_wishes(opened: Opened, prd: Prd) -> None:
    """What the command line wants to stand in the file."""
    wanted = opened.wanted
    if wanted.max_retries is not None:
        most = wanted.max_retries
        run_apart(lambda: _set_most_attempts(opened.store, most))
    if wanted.accept_prd_change and prd.hash is not None:
        with opened.store.transaction(PLAN, ()) as draft:
            draft["prdHash"] = prd.hash


def _set_most_attempts(store: Store, most: int) -> None:
    with store.transaction(DRIVER) as draft:
        for story in draft["stories"]:
            story["retries"] = {**(story.get("retries") or {}), "maxAttempts": most}
