"""Bare `qloop`: where things stand in a few lines, and the three commands that come next."""

from dataclasses import dataclass
from datetime import datetime

from qloop.plan.model import Status
from qloop.system.errors import Faults, InputMissing, QloopError
from qloop.ui import console
from qloop.ui.status import StatusView, headlines

Way = tuple[str, str]
"""A command, and what it does."""

DEMO = ("qloop demo", "see a whole run, without any agent")
DOCTOR = ("qloop doctor", "check git, runners and this repository")
STATUS = ("qloop status", "every story, and why it stands where it does")
NEXT_PLAN = ("qloop plan PRD", "make the next plan; this one is kept")


@dataclass(frozen=True, slots=True)
class Advice:
    """Where things stand, and three commands for it."""

    lines: tuple[str, ...]
    ways: tuple[Way, Way, Way]


def show_advice(advice: Advice) -> None:
    """Show it on standard output."""
    width = max(len(command) for command, _ in advice.ways)
    ways = (f"  {command:<{width}}  {text}" for command, text in advice.ways)
    for line in [*advice.lines, "", "next:", *ways]:
        console.result(console.printable(line))


def no_plan() -> Advice:
    """For a repository without a state file."""
    return Advice(
        ("there is no plan in this repository yet",),
        (
            ("qloop --coordinator prd.md", "carry out a requirements document"),
            ('qloop mission new "TEXT"', "no document? plan, do and try what you say"),
            DEMO,
        ),
    )


def no_repository(error: Exception) -> Advice:
    """For a folder in which git finds no repository that could be used."""
    if isinstance(error, InputMissing):
        make = (
            "git init && git add . && git commit --allow-empty -m start",
            "make a repository here",
        )
        return Advice((f"{error.what} ({error.where})",), (make, DEMO, DOCTOR))
    return Advice((str(error),), (DOCTOR, DEMO, ("qloop --help", "all commands")))


def no_use(error: QloopError) -> Advice:
    """For a plan that cannot be run as it is."""
    faults = error.faults if isinstance(error, Faults) else ()
    lines = (str(error), *(f"  {fault}" for fault in faults))
    validate = ("qloop validate", "all faults of the plan, with their places")
    return Advice(lines, (validate, DOCTOR, DEMO))


def with_plan(view: StatusView, now: datetime, *, is_taken: bool = False) -> Advice:
    """For a plan: what is chosen depends on whether a run is on, and on what is left to do.

    *is_taken* tells whether the branch that a person stands on has all that landed.
    """
    if is_taken and view.run is None and view.state == "complete":
        lines = (*headlines(view, now), f"all of {view.branch} is in what is checked out")
        report = ("qloop report", "one page about what became of it")
        log = (f"git log {view.branch}", "what landed, one commit a story")
        return Advice(lines, (NEXT_PLAN, report, log))
    return Advice(tuple(headlines(view, now)), _ways(view))


def _ways(view: StatusView) -> tuple[Way, Way, Way]:
    if view.run is not None:
        return _while_running(view)
    if view.state == "complete":
        return _when_complete(view)
    if view.state == "blocked":
        return _when_blocked(view)
    verb = "take it up where it was" if view.interrupted is not None else "run what is left"
    return (
        ("qloop run", verb),
        ("qloop waves", "which stories would run together, and when"),
        STATUS,
    )


def _while_running(view: StatusView) -> tuple[Way, Way, Way]:
    at_work = _first(view, Status.IN_PROGRESS)
    look = ("qloop show STORY", "all about one story")
    if at_work is not None:
        look = (f"qloop logs {at_work} --follow", "what its agent prints")
    watch = ("qloop watch", "the run as it goes, live")
    return (watch, look, ("qloop stop", "end the run; it can be taken up again"))


def _when_complete(view: StatusView) -> tuple[Way, Way, Way]:
    show = (f"git log {view.branch}", "what landed, one commit a story")
    take = (f"git merge {view.branch}", "take it into the branch that you stand on")
    if view.line is not None and view.line.ahead:
        show = (f"git merge --ff-only refs/qloop/line/{view.branch}", f"bring {view.branch} up")
    return (show, take, NEXT_PLAN)


def _when_blocked(view: StatusView) -> tuple[Way, Way, Way]:
    """The first story that stands in the way, and the way to have it run again."""
    spent = (one.id for one in view.stories if one.status is Status.FAILED and not one.waits_for)
    failed, blocked = next(spent, None), _first(view, Status.BLOCKED, Status.STALE)
    free = (f"qloop story unblock {blocked}", "let it run")
    if failed is not None:
        free = (f"qloop story reset {failed}", "let it run again, with all its attempts")
    show = f"qloop show {failed or blocked}"
    return ((show, "what went wrong, and how to look further"), free, STATUS)


def _first(view: StatusView, *statuses: Status) -> str | None:
    return next((story.id for story in view.stories if story.status in statuses), None)
