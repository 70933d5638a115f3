"""One story of the HTML report: what was asked, what changed, the evidence, every attempt. Pure."""

from collections.abc import Iterator, Sequence

from qloop.plan.model import Status, Story
from qloop.system.clock import render_duration
from qloop.ui.attempts import Attempt, GateRun
from qloop.ui.dag_drawing import drawn_status
from qloop.ui.delegates import delegate_words
from qloop.ui.markup import Markup, element
from qloop.ui.report_parts import (
    attempt_facts,
    attempt_head,
    changed_words,
    gate_word,
    prose,
    review_text,
    review_words,
    story_word,
    ways_of,
    why_not,
)
from qloop.ui.report_view import FileRow, StoryPart
from qloop.ui.story import agent_words
from qloop.ui.svg import sign

ANCHOR = "story-"
"""What stands before a story's id in the page's addresses."""


def mark(status: str) -> Markup:
    """The sign of a status, to stand in a line of text."""
    return element("svg", sign(status, 0, 0), class_="qloop mark", viewBox="0 0 14 14")


def story_section(one: StoryPart) -> Markup:
    """A story that can be folded; open where it came to nothing."""
    story = one.story
    status = drawn_status(story.status)
    tries = f"{len(one.attempts)} attempts" if len(one.attempts) > 1 else ""
    facts = ", ".join(part for part in (story_word(one), tries, changed_words(one)) if part)
    summary = element(
        "summary",
        element("span", mark(status), element("b", story.id)),
        element("span", story.title or "", class_="title"),
        element("span", facts, class_="soft"),
    )
    # The anchor stands inside: a browser that goes there unfolds what is around it.
    inside = element("div", *_inside(one), class_="inside", id=f"{ANCHOR}{story.id}")
    is_open = "" if story.status in (Status.FAILED, Status.BLOCKED) else None
    return element("details", summary, inside, class_=f"story {status}", open=is_open)


def table_of(names: Sequence[str], rows: Sequence[Markup]) -> Markup:
    """A table that may be wider than the screen."""
    head = element("thead", element("tr", *(element("th", name) for name in names)))
    return element("div", element("table", head, element("tbody", *rows)), class_="table")


def _inside(one: StoryPart) -> Iterator[Markup]:
    reason = why_not(one)
    if reason:
        yield element("p", reason, class_="notice text")
    yield from _asked(one.story)
    yield element("h3", "What changed")
    yield from _changed(one)
    yield element("h3", "Evidence")
    review = one.story.review
    for name, part in (("spec", review.spec_compliance), ("quality", review.code_quality)):
        yield element("p", review_words(name, part))
        if text := review_text(part):
            yield element("pre", text)
    if one.attempts:
        yield element("h3", "Attempts")
        yield from (_attempt(attempt, one) for attempt in one.attempts)
        yield element("h3", "Look further")
        yield element("pre", "\n".join(ways_of(one)))


def _asked(story: Story) -> Iterator[Markup]:
    if story.description:
        yield element("p", prose(story.description), class_="text")
    if story.acceptance_criteria:
        yield element("ul", *(element("li", line) for line in story.acceptance_criteria))
    if story.notes:
        yield element("p", story.notes, class_="text soft")
    if story.depends_on:
        parts: list[str] = ["needs "]
        for name in story.depends_on:
            parts += [element("a", name, href=f"#{ANCHOR}{name}"), " "]
        yield element("p", *parts)


def _changed(one: StoryPart) -> Iterator[Markup]:
    if one.standing.landed is None:
        yield element("p", "Nothing of it has landed.")
        return
    commit = element("code", one.standing.landed[:12])
    known = f": {changed_words(one)}" if one.changed is not None else ", which git no longer knows"
    yield element("p", "landed as ", commit, known)
    if one.changed:
        yield table_of(("file", "added", "deleted"), [_file(row) for row in one.changed])


def _file(row: FileRow) -> Markup:
    added = "binary" if row.added is None else f"+{row.added}"
    deleted = "" if row.deleted is None else f"-{row.deleted}"
    return element(
        "tr",
        element("td", element("code", row.path), class_="name"),
        element("td", added, class_="number plus"),
        element("td", deleted, class_="number minus"),
    )


def _attempt(one: Attempt, part: StoryPart) -> Markup:
    status = "passed" if one.status == "passed" else "failed" if one.status else "pending"
    content = [
        element("h4", mark(status), attempt_head(one)),
        element("p", attempt_facts(one), class_="soft"),
    ]
    content += [element("p", delegate_words(call)) for call in one.delegates]
    if one.agent is not None:
        content.append(element("p", f"agent {agent_words(one)}"))
    if one.reason:
        content.append(element("pre", one.reason))
    if one.log:
        content.append(element("p", "log ", element("code", one.log)))
    if one.gates:
        content.append(
            table_of(("check", "", "time", "command"), [_gate(gate) for gate in one.gates])
        )
    if one.salvage_ref and not one.landed:
        content.append(element("p", "kept in ", element("code", one.salvage_ref)))
    output = part.outputs.get(one.number or 0)
    if output:
        title = element("summary", "the end of what its agent printed")
        content.append(element("details", title, element("pre", output)))
    return element("div", *content, class_=f"attempt {status}")


def _gate(gate: GateRun) -> Markup:
    return element(
        "tr",
        element("td", gate.name, class_="word"),
        element("td", mark("passed" if gate.green else "failed"), gate_word(gate), class_="word"),
        element("td", render_duration(gate.seconds), class_="number"),
        element("td", element("code", gate.command.strip()), class_="name"),
    )
