"""Between attempts: a long trace is compressed, and a small known fix goes to a worker.

The compressed trace stands in the implementer's prompt. Where it names just one file that the
story owns, and that is long, a worker mends that file on top of what the failed attempt left; if
the story's commands are green then, the attempt needs no implementer.
Errors: those of `agent_call`, `target` and `takeover`; CallCancelled; GateCancelled, GateLost.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from qloop.agents.error_trace import plain_lines
from qloop.agents.readable import readable_log
from qloop.agents.roles import IMPLEMENTER
from qloop.plan.model import Failure, Phase, Story
from qloop.plan.paths import folders_of, normalise
from qloop.repo.checkout import Repository
from qloop.repo.git import GitFailed
from qloop.repo.takeover import changed_between, commit_taken, find_left, give_up, take_up
from qloop.run.briefing import checks_of, last_failure
from qloop.run.delegate_desk import desk_within
from qloop.run.delegates import QA, WORKER
from qloop.run.delegation import compress_trace, propose
from qloop.run.desk import Desk, shown
from qloop.run.gates import GateCancelled, count_green, numbered, run_named
from qloop.run.orders import AttemptOrder, Delegate
from qloop.run.purse import BudgetReached
from qloop.run.setting_up import gate_room
from qloop.run.target import Target, find_target, replace_target
from qloop.state.journal import EventKind, Journal
from qloop.system.counting import counted
from qloop.system.errors import BadInput
from qloop.system.logged import read_tail

LONGEST_LOG_BYTES = 20_000_000


@dataclass(frozen=True, slots=True)
class Handed:
    """What came of asking delegates."""

    finding: str = ""
    """What the last failure's trace comes to; empty where that was not long."""
    lines: int = 0
    """How long that was."""
    by_model: bool = False
    """Whether a model said it, and not an extract."""
    log: str | None = None
    """The worker's log, where its change made the implementer needless."""


def hand_down(desk: Desk, order: AttemptOrder, story: Story) -> Handed:
    """Ask delegates about the last failure, as far as there is need and anybody to ask."""
    last = last_failure(story)
    place = order.terms.place
    trace = read_trace(last, Path(place.root), place.base)
    lines = len(plain_lines(trace))
    if last is None or not desk.terms.delegate.takes_trace(lines):
        return Handed()
    with desk_within(desk) as own:
        reason = f"a trace of {counted(lines, 'line')}, more than {desk.terms.delegate.trace_lines}"
        found = compress_trace(own, desk.dispatch.delegate(QA), trace, reason)
    return _mended(desk, order, story, last, Handed(found.text, lines, found.source == "model"))


def read_trace(failure: Failure | None, root: Path, base: str) -> str:
    """The log of a failure as it is read by people; empty where there is none.

    *root* is the checkout; paths in worktrees below *base* are brought to the repository's root.
    """
    if failure is None or not failure.log or failure.phase == Phase.REVIEW:
        return ""
    text = read_tail(readable_log(root / failure.log), LONGEST_LOG_BYTES)
    return re.sub(rf"{re.escape(base)}/[^/\s:'\"]+/", "", text)


def _mended(desk: Desk, order: AttemptOrder, story: Story, last: Failure, handed: Handed) -> Handed:
    """The same, with the worker's log where that mended what was wrong."""
    worker, checks = desk.dispatch.delegate(WORKER), checks_of(order.commands.quality, story)
    place = order.terms.place
    repository = Repository(root=Path(place.root), git_dir=Path(place.git_dir))
    if worker is None or not checks or last.attempt is None:
        return handed
    start, tip = _left_by(repository, order, last.attempt)
    if start is None or tip is None:
        return handed
    name = find_named(handed.finding, story, changed_between(repository, start, tip))
    if name is None or not _taken_up(desk, repository, start, tip):
        return handed
    log = _mend(desk, worker, name, _ticket(story, last, handed), checks)
    if log is None:
        give_up(desk.workspace)
        return handed
    commit_taken(desk.workspace, name, f"{story.id}: mend {name}")
    return replace(handed, log=log)


def _left_by(repository: Repository, order: AttemptOrder, attempt: int) -> tuple[str | None, ...]:
    """Where an attempt at the story started, as the journal tells, and what it left."""
    story = order.dispatch.story
    journal = Journal(Path(order.terms.place.private) / "events.jsonl")
    starts = [
        str(event.data.get("start") or "")
        for event in journal.events()
        if event.event is EventKind.AGENT_STARTED
        and (event.story, event.attempt) == (story, attempt)
        and event.data.get("role") in (IMPLEMENTER, QA, WORKER)
    ]
    return (starts[-1] or None) if starts else None, find_left(repository, story, attempt)


def _taken_up(desk: Desk, repository: Repository, start: str, tip: str) -> bool:
    """Whether the failed work is in the worktree; git's refusal is no fault of the attempt."""
    try:
        return take_up(desk.workspace, repository, start, tip)
    except GitFailed as exc:
        text = f"{desk.dispatch.story}: no worker asked: {exc}"
        desk.emit(EventKind.STATE_REPAIRED, text=text)
        give_up(desk.workspace)
        return False


def find_named(finding: str, story: Story, changed: Collection[str]) -> str | None:
    """The one file of the story's that a finding names; None where it names none, or several.

    Its own are the files that it names, those *changed* that lie in a folder that it names, and
    all *changed* where it names nothing.
    """
    named = {normalise(path) for task in story.tasks for path in task.file_paths}
    own = {path for path in changed if not named or named.intersection(folders_of(path))}
    folders = {"", *(folder for path in changed for folder in folders_of(path))}
    found = [path for path in own | (named - folders) if _stands_in(path, finding)]
    return found[0] if len(found) == 1 else None


def _stands_in(path: str, text: str) -> bool:
    return re.search(rf"(?<![\w./\\-]){re.escape(path)}(?![\w/\\-]|\.\w)", text) is not None


def _ticket(story: Story, last: Failure, handed: Handed) -> str:
    """What a worker is told to do."""
    red = (last.reason or "").strip().partition("\n")[0]
    lines = [story.label, f"The last try failed: {red}", f"What that comes to: {handed.finding}"]
    return "\n\n".join([*lines, "Mend that, and nothing else."])


def _mend(
    desk: Desk, worker: Delegate, name: str, ticket: str, checks: tuple[str, ...]
) -> str | None:
    """The log of a worker whose change of a file in the worktree makes all commands green."""
    try:
        target = find_target(desk.workspace.tree, name)
        if not desk.terms.delegate.takes_code(target.lines):
            return None
        with desk_within(desk) as own:
            limit = desk.terms.delegate.code_lines
            reason = f"a file of {counted(target.lines, 'line')}, more than {limit}"
            proposal = propose(own, worker, target, ticket, reason)
    except (BadInput, BudgetReached, OSError) as exc:
        desk.emit(EventKind.STATE_REPAIRED, text=f"{desk.dispatch.story}: no worker asked: {exc}")
        return None
    outcome, text = "", ""
    try:
        if proposal.after is not None:
            outcome, text = _try_out(desk, target, proposal.after, checks)
    except GateCancelled:
        record = proposal.record("cancelled", "stopped while its change was tested")
        desk.emit(EventKind.DELEGATE_ENDED, **record.facts())
        raise
    record = proposal.record(outcome, text)
    desk.emit(EventKind.DELEGATE_ENDED, **record.facts())
    return shown(proposal.answered.log, desk.terms) if record.outcome == "applied" else None


def _try_out(desk: Desk, target: Target, after: str, checks: tuple[str, ...]) -> tuple[str, str]:
    """What becomes of a change in the worktree, and why. Raises GateCancelled, GateLost."""
    replace_target(target, after.encode())
    results = run_named(gate_room(desk), numbered(WORKER, checks))
    if not results[-1].green:
        return "put back", results[-1].evidence()
    return "applied", count_green(results)
