"""The end of a run: what became of each story, what a person should know, one signal line."""

from collections.abc import Sequence

from qloop.agents.signals import render_signal
from qloop.plan.likeness import AnyPlan, AnyStory
from qloop.plan.model import Plan
from qloop.state.journal import Event
from qloop.state.report import StoryReport, build_report
from qloop.system.clock import render_duration
from qloop.ui import console
from qloop.ui.amounts import render_cost
from qloop.ui.findings import count_findings

COLUMNS = ("story", "title", "status", "wave", "attempts", "time", "cost")


def show_summary(
    plan: AnyPlan[AnyStory],
    head: Plan,
    events: Sequence[Event],
    signal: str,
    reasons: Sequence[str],
) -> None:
    """The summary table, the reasons, what no command judged, and the run's signal.

    *head* is the plan without its stories.
    """
    report = build_report(plan, events)
    console.table(COLUMNS, [_row(story) for story in report.stories])
    if report.cost_usd is not None:
        console.say(f"its agents cost {render_cost(report.cost_usd, report.estimated_usd)}")
    for reason in reasons:
        console.say(reason)
    unverified = [story.id for story in report.stories if story.unverified]
    if unverified:
        which = "every story" if len(unverified) == len(report.stories) else ", ".join(unverified)
        judges = "`verify` judges what a story does, qualityCommands how it is made"
        console.say(f"unverified, one of the two is missing: {which} ({judges})")
    found = count_findings(head, events)
    if found:
        console.say(found)
    console.result(render_signal(signal))


def _row(story: StoryReport) -> tuple[str, ...]:
    status = f"{story.status} (unverified)" if story.unverified else str(story.status)
    return (
        story.id,
        story.title or "",
        status,
        ", ".join(story.waves),
        str(story.attempts) if story.attempts else "",
        render_duration(story.seconds) if story.attempts else "",
        render_cost(story.cost_usd, story.estimated_usd),
    )
