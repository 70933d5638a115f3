"""A whole run from the lock to the last line of the journal."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from qloop.plan.frontier import Frontier
from qloop.plan.model import Plan
from qloop.plan.outline import Outline
from qloop.repo.checkout import Repository
from qloop.run import dispatch, pausing, prepare, recognizing
from qloop.run.closing import close_run
from qloop.run.driver import Driver
from qloop.run.ending import Ending
from qloop.run.forks import Forks
from qloop.run.given_up import GivenUp
from qloop.run.holder import release
from qloop.run.launch import Ahead, Source
from qloop.run.opening import Opened, open_run
from qloop.run.orchestrated import Orchestrated
from qloop.run.prepare import Wanted
from qloop.state.journal import Event, EventKind
from qloop.system.interrupts import Interrupts
from qloop.system.tree import become_subreaper


@dataclass(frozen=True, slots=True)
class Done:
    """A run that ended: what it came to, the plan at its end, and its events."""

    ending: Ending
    plan: Outline
    head: Plan
    """The plan without its stories."""
    events: tuple[Event, ...]


def run_whole(
    repository: Repository,
    quantum: Path,
    given_prd: Path | None,
    wanted: Wanted,
    forks: Forks,
    on_progress: Callable[[], None],
    on_interrupt: Callable[[int], None],
) -> Done:
    """Run until nothing can run any more. Raises what opening a run raises."""
    become_subreaper()
    with ExitStack() as undo:
        interrupts = Interrupts()
        undo.callback(interrupts.close)
        undo.callback(on_progress)
        opened = open_run(repository, quantum, given_prd, wanted, interrupts.cancel, forks.run_id)
        undo.callback(release, opened.lock)
        return _run(opened, forks, interrupts, on_progress, on_interrupt)


def _run(
    opened: Opened,
    forks: Forks,
    interrupts: Interrupts,
    on_progress: Callable[[], None],
    on_interrupt: Callable[[int], None],
) -> Done:
    plan, outline = opened.chosen(()), opened.outline()
    parallel = prepare.max_parallel(plan, opened.wanted, opened.config)
    opened.journal.append(
        EventKind.RUN_STARTED,
        branch=opened.terms.place.branch,
        stories=len(outline.stories),
        max_parallel=parallel,
        base=opened.terms.place.base,
        budget_usd=opened.terms.limits.run_usd,
        notes=opened.notes,
    )
    on_progress()
    driver = Driver(
        opened=opened,
        interrupts=interrupts,
        on_progress=on_progress,
        on_interrupt=on_interrupt,
        slots=dispatch.Slots(parallel),
        counter=dispatch.read_counter(opened),
        source=_source(opened, forks),
        pausing=pausing.take_up(opened),
        recognizing=recognizing.take_up(opened, forks, outline),
        frontier=Frontier(outline),
        given_up=_given_up(outline, opened.wanted),
    )
    ending = close_run(opened, _narrowed(driver.run(), opened.wanted.only))
    return Done(
        ending=ending,
        plan=opened.outline(),
        head=opened.chosen(()),
        events=tuple(opened.journal.events(opened.terms.run_id)),
    )


def _given_up(plan: Outline, wanted: Wanted) -> GivenUp:
    """At the start: the stories that may not start where one alone may."""
    only = wanted.only
    others = (story.id for story in plan.stories if only is not None and story.id != only)
    return GivenUp(dict.fromkeys(others, "was not asked for"), asks_at_gate=wanted.asks_at_gate)


def _narrowed(ending: Ending, only: str | None) -> Ending:
    """The end of a run that was about one story alone: no other is blocked by that."""
    if only is None or ending.signal not in ("BLOCKED", "MAX_ITERATIONS"):
        return ending
    own = tuple(reason for reason in ending.reasons if reason.startswith(f"{only}: "))
    return Ending("MAX_ITERATIONS", 2, own or (f"one attempt at {only} was asked for",))


def _source(opened: Opened, forks: Forks) -> Source:
    ahead = Ahead(opened.terms.place, forks, (opened.lock,))
    wanted = opened.wanted
    return Orchestrated(ahead, wanted.mode) if wanted.legacy_orchestrator else ahead
