"""One attempt at one story, apart from a run: in this process, or in one of its own.

It goes the way of a run of one wave with one story: the lock, recovery, the gates, landing, the
status that the driver writes.
Errors: those of a run; BadInput where the story cannot start.
"""

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from qloop.plan.dag import blockers
from qloop.plan.likeness import AnyPlan, AnyStory
from qloop.plan.values import Status
from qloop.repo.checkout import Repository
from qloop.run import holder
from qloop.run.engine import run_whole
from qloop.run.forks import Forks, new_run_id, own_environment
from qloop.run.prepare import Wanted
from qloop.state.attempts import AttemptResult, newest_attempt
from qloop.state.journal import Event, Journal
from qloop.system import process
from qloop.system.clock import monotonic_s
from qloop.system.errors import BadInput

LOOK_EVERY_S = 0.1
BEGIN_S = 60.0
"""How long a process of its own has to begin its attempt."""


def attempt_story(repository: Repository, quantum: Path, story: str) -> AttemptResult:
    """Make one attempt and return how it was settled."""
    wanted = Wanted(only=story, max_iterations=1, no_wait=True)
    forks = Forks(new_run_id(), None)  # one coordinator is all that there will be
    done = run_whole(repository, quantum, None, wanted, forks, lambda: None, lambda _: None)
    if done.ending.error is not None:
        raise done.ending.error
    found = newest_attempt(done.events, story)
    if found is None:
        raise BadInput(why_not(done.plan, story, done.ending.reasons), where=str(quantum))
    return found


def why_not(plan: AnyPlan[AnyStory], story_id: str, reasons: Sequence[str] = ()) -> str:
    """Why no attempt at a story was made, for people."""
    story = next((one for one in plan.stories if one.id == story_id), None)
    if story is None:
        return f"{story_id} is no longer in the plan"
    if story.status is Status.PASSED:
        return f"{story_id} has passed already"
    passed = {one.id for one in plan.stories if one.status is Status.PASSED}
    waiting = [name for name in story.depends_on if name not in passed]
    if waiting:
        return f"{story_id} waits for {', '.join(waiting)}"
    blocked = blockers(plan).get(story_id)
    return "; ".join([blocked] if blocked else reasons) or f"{story_id} could not start"


@dataclass(frozen=True, slots=True)
class Begun:
    """What became of a process that was to make an attempt on its own."""

    result: AttemptResult | None
    """The attempt that it began; None where it ended without one."""
    code: int = 0
    complaint: str = ""


def start_apart(repository: Repository, quantum: Path, story: str) -> Begun:
    """Have an attempt made by a process that outlives this one; returns once it has begun."""
    journal = journal_of(repository)
    _, offset = journal.read_from(0)
    folder = holder.private_folder(repository) / "attempts"
    folder.mkdir(parents=True, exist_ok=True)
    err = folder / f"{story}.err"
    with Path(os.devnull).open("rb") as nothing, err.open("wb") as complaints:
        pid = process.start(
            [sys.executable, "-P", "-m", "qloop", "attempt", story, "--quantum", str(quantum)],
            cwd=repository.root,
            env=own_environment(),
            stdin=nothing.fileno(),
            output=complaints.fileno(),
        )
    deadline = monotonic_s() + BEGIN_S
    while monotonic_s() < deadline:
        ended = process.await_exit(pid, timeout_s=LOOK_EVERY_S)
        events, _ = journal.read_from(offset)
        found = newest_attempt(events, story)
        if found is not None:
            return Begun(found)
        if ended:
            code = process.wait_status(pid)
            return Begun(None, code or 1, err.read_text(encoding="utf-8", errors="replace"))
    return Begun(None, 1, f"no attempt at {story} began within {BEGIN_S:g} s")


def await_attempt(repository: Repository, story: str, wait_s: float) -> AttemptResult | None:
    """The newest attempt at a story, as soon as it is over, at most *wait_s* from now.

    None where no attempt was ever made.
    """
    deadline = monotonic_s() + wait_s
    journal, offset, own = journal_of(repository), 0, list[Event]()
    while True:
        # In this order: a run that is gone by now writes nothing more.
        run = holder.read_holder(holder.private_folder(repository))
        events, offset = journal.read_from(offset)
        own += [event for event in events if event.story == story]
        found = _checked(newest_attempt(own, story), run)
        if found is None or found.state != "running" or monotonic_s() >= deadline:
            return found
        time.sleep(LOOK_EVERY_S)


def look_at(repository: Repository, story: str) -> AttemptResult | None:
    """The newest attempt at a story as it stands; lost where its run is gone."""
    return await_attempt(repository, story, 0.0)


def _checked(found: AttemptResult | None, run: holder.Holder | None) -> AttemptResult | None:
    if found is None or found.state != "running":
        return found
    is_on = run is not None and run.run_id == found.run and run.alive
    return found if is_on else found.model_copy(update={"state": "lost"})


def journal_of(repository: Repository) -> Journal:
    """The repository's journal, to read or in no run's name."""
    return Journal(holder.private_folder(repository) / "events.jsonl")
