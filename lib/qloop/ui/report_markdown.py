"""A report as Markdown, its graph as Mermaid: for pages and readers that know only text. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from qloop.plan.model import Story
from qloop.system.clock import render_duration
from qloop.ui.attempts import Attempt
from qloop.ui.dag_drawing import boxes_of
from qloop.ui.delegates import delegate_words
from qloop.ui.markup import clean
from qloop.ui.mermaid import is_drawable, render_mermaid
from qloop.ui.report_parts import (
    attempt_facts,
    attempt_head,
    attempts_words,
    changed_words,
    cost_words,
    gate_word,
    notes_of,
    review_text,
    review_words,
    run_words,
    story_word,
    title_of,
    ways_of,
    why_not,
)
from qloop.ui.report_view import FileRow, Report, RunPart, StoryPart
from qloop.ui.status import headlines
from qloop.ui.story import agent_words

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&-])")
_FENCE = re.compile(r"`{3,}")


def render_markdown(report: Report, now: datetime) -> str:
    """The report's text."""
    return "\n".join([*_outcome(report, now), *_graph(report), *_rest(report)]) + "\n"


def plain(text: str) -> str:
    """Text on one line that Markdown and HTML take as it is."""
    return _SPECIAL.sub(r"\\\1", " ".join(clean(text).split()))


def fenced(text: str, kind: str = "text") -> list[str]:
    """Lines between fences that nothing in them can close."""
    kept = clean(text).rstrip("\n")
    longest = max((len(found) for found in _FENCE.findall(kept)), default=2)
    fence = "`" * (longest + 1)
    return ["", f"{fence}{kind}", kept, fence, ""]


def code(text: str) -> str:
    """Text in a line that is shown as it is."""
    line = " ".join(clean(text).split()).replace("|", "\\|")
    ticks = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    edge = " " if "`" in line else ""
    return f"{ticks}{edge}{line}{edge}{ticks}" if line else ""


def _rest(report: Report) -> Iterator[str]:
    yield from ("", "## Timeline", "")
    for run in reversed(report.runs):
        yield from _timeline(run)
    yield from ("## Findings", "")
    for one in report.findings:
        at = f", {one.at}" if one.at else ""
        yield f"- {plain(one.where)}{plain(at)}: {plain(one.text)}"
    if not report.findings:
        yield "Nothing was found."
    yield from ("", "## Stories")
    for story in report.stories:
        yield from _story(story)


def _outcome(report: Report, now: datetime) -> Iterator[str]:
    plan = report.plan
    yield f"# {plain(title_of(report))}"
    yield from ("", f"{code(plan.branch_name)}, report made {report.made_at}", "")
    if plan.description:
        yield from (plain(plan.description), "")
    yield from ("## Outcome", "")
    yield from (f"- {plain(line)}" for line in headlines(report.status, now))
    yield from (f"- {plain(run_words(run))}" for run in report.runs)
    yield from (f"- **{plain(note)}**" for note in notes_of(report))
    yield ""
    yield from _table(
        ("story", "title", "status", "attempts", "time", "cost", "changed"),
        map(_row, report.stories),
    )


def _row(one: StoryPart) -> tuple[str, ...]:
    took = render_duration(one.standing.seconds) if one.standing.seconds else ""
    words = (story_word(one), attempts_words(one), took, cost_words(one), changed_words(one))
    return (plain(one.story.id), plain(one.story.title or ""), *map(plain, words))


def _graph(report: Report) -> list[str]:
    words = {one.story.id: story_word(one) for one in report.stories}
    drawn = render_mermaid(report.plan, boxes_of(report.plan, words))
    if not is_drawable(drawn):
        return ["", "## Graph", "", "Too large for Mermaid; `qloop waves --format svg` draws it."]
    return ["", "## Graph", *fenced(drawn, "mermaid")]


def _timeline(run: RunPart) -> Iterator[str]:
    if run.timeline is None:
        return
    yield from (plain(run_words(run)), "")
    rows = [
        (
            str(run.timeline.slots[bar.row] + 1),
            f"+{bar.start_s:.1f}s",
            render_duration(bar.end_s - bar.start_s),
            plain(bar.story),
            str(bar.attempt),
            plain(bar.status if bar.phase is None else f"{bar.status}: {bar.phase}"),
        )
        for bar in sorted(run.timeline.bars, key=lambda bar: (bar.row, bar.start_s))
    ]
    yield from _table(("slot", "from", "took", "story", "attempt", "ended"), rows)
    yield ""


def _story(one: StoryPart) -> Iterator[str]:
    story = one.story
    yield from ("", f"### {plain(story.label)}", "", f"**{plain(story_word(one))}**")
    reason = why_not(one)
    if reason:
        yield from fenced(reason)
    yield from _asked(story)
    yield from _changed(one)
    review = story.review
    for name, part in (("spec", review.spec_compliance), ("quality", review.code_quality)):
        yield from ("", f"Evidence, {plain(review_words(name, part))}")
        if text := review_text(part):
            yield from fenced(text)
    for attempt in one.attempts:
        yield from _attempt(attempt, one)
    if one.attempts:
        yield from fenced("\n".join(ways_of(one)), "console")


def _asked(story: Story) -> Iterator[str]:
    if story.description:
        yield from ("", plain(story.description))
    if story.acceptance_criteria:
        yield ""
        yield from (f"- {plain(line)}" for line in story.acceptance_criteria)
    if story.depends_on:
        yield from ("", f"needs {', '.join(map(plain, story.depends_on))}")


def _changed(one: StoryPart) -> Iterator[str]:
    if one.standing.landed is None:
        yield from ("", "Nothing of it has landed.")
        return
    known = f": {plain(changed_words(one))}" if one.changed is not None else ""
    yield from ("", f"landed as {code(one.standing.landed[:12])}{known}", "")
    if one.changed:
        yield from _table(("file", "added", "deleted"), map(_file, one.changed))


def _file(row: FileRow) -> tuple[str, ...]:
    if row.added is None:
        return (code(row.path), "binary", "")
    return (code(row.path), f"+{row.added}", f"-{row.deleted}")


def _attempt(one: Attempt, part: StoryPart) -> Iterator[str]:
    yield from ("", f"#### {plain(attempt_head(one))}", "", plain(attempt_facts(one)), "")
    for call in one.delegates:
        yield from (plain(delegate_words(call)), "")
    if one.agent is not None:
        yield from (f"agent {plain(agent_words(one))}", "")
    if one.reason:
        yield from fenced(one.reason)
    if one.gates:
        rows = [
            (
                plain(gate.name),
                plain(gate_word(gate)),
                render_duration(gate.seconds),
                code(gate.command),
            )
            for gate in one.gates
        ]
        yield from _table(("check", "", "time", "command"), rows)
    for head, place in (("log", one.log), ("kept in", None if one.landed else one.salvage_ref)):
        if place:
            yield from ("", f"{head} {code(place)}")
    output = part.outputs.get(one.number or 0)
    if output:
        yield from ("", "the end of what its agent printed:", *fenced(output))


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"|{' --- |' * len(columns)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)
