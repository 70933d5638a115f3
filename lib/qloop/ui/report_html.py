"""A report as one HTML file: nothing to load, no script, for screens of any width and for paper.

Pure. All text is escaped and freed of controls; a policy in the page forbids it to load anything.
"""

from collections.abc import Sequence
from datetime import datetime
from importlib.resources import files

from qloop.system.clock import render_duration
from qloop.ui.dag_drawing import boxes_of, draw_dag, drawn_status
from qloop.ui.markup import Markup, element, joined
from qloop.ui.report_parts import (
    attempts_words,
    changed_words,
    cost_words,
    notes_of,
    prose,
    run_words,
    story_word,
    title_of,
)
from qloop.ui.report_story import ANCHOR, mark, story_section, table_of
from qloop.ui.report_view import Finding, Report, StoryPart
from qloop.ui.status import headlines
from qloop.ui.svg import DARK, LIGHT, STYLE, Drawing
from qloop.ui.timeline_drawing import draw_timeline

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
SMALLEST = 0.75
"""How much a drawing may shrink before it is scrolled through instead."""
PARTS = ("Outcome", "Graph", "Timeline", "Findings", "Stories")


def render_html(report: Report, now: datetime) -> str:
    """The page's text."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{title_of(report)}: report"),
        element("style", _style()),
    )
    main = element(
        "main",
        _header(report),
        _outcome(report, now),
        _graph(report),
        _timelines(report),
        _findings(report.findings),
        _section("Stories", *map(story_section, report.stories)),
    )
    body = element("body", element("div", _contents(report), main, class_="page"))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _style() -> Markup:
    """The page's own style, and that of the drawings in it."""
    own = files("qloop.ui").joinpath("report.css").read_text(encoding="utf-8")
    dark = f"@media screen and (prefers-color-scheme:dark){{:root{{{DARK}}}}}"
    return Markup(f":root{{{LIGHT}}}{dark}\n{own}{STYLE}")


def _section(title: str, *content: str) -> Markup:
    return element("section", element("h2", title), *content, id=title.lower())


def _header(report: Report) -> Markup:
    plan = report.plan
    made = f"{plan.branch_name}, report made {report.made_at}"
    about = [element("p", prose(plan.description), class_="text")] if plan.description else []
    return element(
        "header", element("h1", title_of(report)), element("p", made, class_="soft"), *about
    )


def _contents(report: Report) -> Markup:
    """The table of contents, which stays in sight."""
    parts = [element("li", element("a", name, href=f"#{name.lower()}")) for name in PARTS]
    stories = [
        element(
            "li",
            mark(drawn_status(one.story.status)),
            element("a", one.story.label, href=f"#{ANCHOR}{one.story.id}"),
        )
        for one in report.stories
    ]
    return element(
        "nav", element("ul", *parts, class_="parts"), element("ul", *stories, class_="stories")
    )


def _outcome(report: Report, now: datetime) -> Markup:
    counts = [
        element("li", mark(name), element("b", str(count)), name.replace("_", " "), class_=name)
        for name, count in report.status.counts.items()
        if count
    ]
    lines = [element("p", line) for line in headlines(report.status, now)]
    notes = [element("p", note, class_="notice") for note in notes_of(report)]
    runs = [element("p", run_words(run)) for run in report.runs]
    return _section(
        "Outcome", element("ul", *counts, class_="counts"), *lines, *runs, *notes, _table(report)
    )


def _table(report: Report) -> Markup:
    names = ("story", "title", "status", "attempts", "time", "cost", "changed")
    return table_of(names, [_row(one) for one in report.stories])


def _row(one: StoryPart) -> Markup:
    story = one.story
    status = drawn_status(story.status)
    took = render_duration(one.standing.seconds) if one.standing.seconds else ""
    return element(
        "tr",
        element("td", element("a", story.id, href=f"#{ANCHOR}{story.id}"), class_="word"),
        element("td", story.title or "", class_="name"),
        element("td", mark(status), story_word(one), class_="word"),
        element("td", attempts_words(one), class_="word"),
        element("td", took, class_="number"),
        element("td", cost_words(one), class_="number"),
        element("td", changed_words(one), class_="word"),
    )


def _graph(report: Report) -> Markup:
    words = {one.story.id: _box_word(one) for one in report.stories}
    drawing = draw_dag(report.plan, boxes_of(report.plan, words), links=f"#{ANCHOR}")
    return _section("Graph", _wide(drawing))


def _box_word(one: StoryPart) -> str:
    """What stands in a box; there is little room, and its sign says whether it passed."""
    word = "unverified" if one.standing.unverified else story_word(one)
    return f"{word}, {len(one.attempts)} attempts" if len(one.attempts) > 1 else word


def _wide(drawing: Drawing) -> Markup:
    """A drawing in as much room as there is; where that would make it too small, to scroll through.

    It can be made to fit all the same.
    """
    box = element("input", type="checkbox")
    fit = element("label", box, " fit to the width", class_="fit")
    sizes = f"--least:{drawing.width * SMALLEST:.0f}px;--most:{drawing.width:.0f}px"
    held = element("div", drawing.markup, class_="wide", style=sizes, tabindex=0)
    return joined([fit, held])


def _timelines(report: Report) -> Markup:
    """The runs, the newest first."""
    titles = {one.story.id: one.story.title or "" for one in report.stories}
    drawn = [
        _wide(draw_timeline(run.timeline, titles))
        for run in reversed(report.runs)
        if run.timeline is not None
    ]
    return _section("Timeline", *(drawn or [element("p", "No attempt was made.")]))


def _findings(findings: Sequence[Finding]) -> Markup:
    if not findings:
        return _section("Findings", element("p", "Nothing was found."))
    return _section("Findings", *map(_finding, findings))


def _finding(one: Finding) -> Markup:
    head = f"{one.where}, {one.at}" if one.at else one.where
    return element(
        "div",
        element("p", head, class_="soft"),
        element("p", one.text, class_="text"),
        class_="finding",
    )
