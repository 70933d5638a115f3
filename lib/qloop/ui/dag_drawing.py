"""The plan as a drawing: a box for each story behind all that it needs, its status, its title.

Arrows lead from a story to what needs it; one that says nothing new, as a longer way leads there
too, is faint. A box tells all of its story in its tooltip. Pure; deterministic.
"""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from qloop.plan.model import Plan, Status, Story
from qloop.system.counting import counted
from qloop.ui.layout import BOX, Arrow, Layout, Point, lay_out
from qloop.ui.markup import Markup, element, number
from qloop.ui.svg import MARGIN, Drawing, document, fitted, sign, text, width_of, wrapped

HEAD = 64.0
STATUSES = ("passed", "in_progress", "pending", "failed", "blocked")
NARROWEST = 560.0

_CLIP = "qloop-box"
_STYLE = (
    ".qloop .name{font-size:12px}"
    ".qloop .box{fill:var(--paper);stroke:var(--tone);stroke-width:1.2}"
    ".qloop .pending .box{stroke-dasharray:4 3}"
    ".qloop .chosen .box{stroke-width:3;stroke:var(--in_progress);stroke-dasharray:none}"
    ".qloop .arrow{fill:none;stroke:var(--edge);stroke-width:1.3}"
    ".qloop .arrow.faint{stroke:var(--faint);stroke-dasharray:3 3}"
    ".qloop .tip{fill:var(--edge)}.qloop .tip.faint{fill:var(--faint)}"
)


class Box(BaseModel):
    """A story as it is drawn."""

    model_config = ConfigDict(frozen=True)

    id: str
    title: str
    status: str
    """One of STATUSES: the sign and the colour."""
    word: str
    """What stands beside the sign."""
    tip: str
    chosen: bool = False
    """It stands out among the others."""


def boxes_of(
    plan: Plan, words: Mapping[str, str] | None = None, chosen: Sequence[str] = ()
) -> list[Box]:
    """The plan's stories as boxes; *words* says more of a story than its status, by id."""
    more = words or {}
    return [_box(story, more.get(story.id), story.id in chosen) for story in plan.stories]


def drawn_status(status: Status) -> str:
    """The one of STATUSES that a status is drawn as."""
    return str(Status.BLOCKED if status is Status.STALE else status)


def needs_of(plan: Plan) -> dict[str, list[str]]:
    """What each story needs, as far as the plan knows it."""
    known = {story.id for story in plan.stories}
    return {story.id: [one for one in story.depends_on if one in known] for story in plan.stories}


def draw_dag(plan: Plan, boxes: Sequence[Box], *, links: str | None = None) -> Drawing:
    """The drawing as SVG; with *links* a box leads to the address that this and its id make."""
    layout = lay_out(needs_of(plan))
    width = max(layout.width, NARROWEST) + 2 * MARGIN
    height = layout.height + HEAD + MARGIN
    name = plan.project or plan.branch_name
    clip = element("clipPath", element("rect", width=BOX[0], height=BOX[1], rx=6), id=_CLIP)
    arrows = [_arrow(one, layout) for one in sorted(layout.arrows, key=lambda one: not one.faint)]
    placed = [_placed(box, layout.boxes[box.id], links=links) for box in boxes]
    return document(
        width,
        height,
        f"{name}: {counted(len(boxes), 'story')} and what each needs",
        element("rect", width=width, height=height, rx=8, class_="paper"),
        element("defs", clip),
        text(MARGIN, 27, fitted(name, width - 2 * MARGIN, 15), "head"),
        *_legend(boxes, layout),
        element("g", *arrows, *placed, transform=f"translate({number(MARGIN)} {number(HEAD)})"),
        style=_STYLE,
    )


def _box(story: Story, word: str | None, chosen: bool) -> Box:
    status = drawn_status(story.status)
    plain = status.replace("_", " ")
    needs = f"\nneeds {', '.join(story.depends_on)}" if story.depends_on else ""
    return Box(
        id=story.id,
        title=story.title or "",
        status=status,
        word=word or plain,
        tip=f"{story.label}\n{plain if word is None else f'{plain}, {word}'}{needs}",
        chosen=chosen,
    )


def _placed(box: Box, at: Point, *, links: str | None) -> Markup:
    width, height = BOX
    word = fitted(box.word, width * 0.6, 11)
    room = width - 44 - width_of(word, 11)
    lines = wrapped(box.title, width - 24, 2, 12)
    drawn = element(
        "g",
        element("title", box.tip),
        element("rect", width=width, height=height, rx=6, class_="box"),
        element(
            "g",
            element("rect", width=5, height=height, class_="tone"),
            text(32, 18, fitted(box.id, room), "strong"),
            text(width - 8, 18, word, "soft", "end"),
            *(text(14, 36 + 16 * row, line, "name") for row, line in enumerate(lines)),
            clip_path=f"url(#{_CLIP})",
        ),
        sign(box.status, 12, 6),
        class_=f"{box.status} chosen" if box.chosen else box.status,
        transform=f"translate({number(at[0])} {number(at[1])})",
    )
    return element("a", drawn, href=links + box.id) if links else drawn


def _arrow(arrow: Arrow, layout: Layout) -> Markup:
    (x1, y1), (x2, y2) = arrow.start, arrow.end
    faint = " faint" if arrow.faint else ""
    back = 6.0 if arrow.ends else 0.0  # the line ends where its tip begins
    if layout.down:
        middle = (y1 + y2) / 2
        bend = f"{_at(x1, middle)} {_at(x2, middle)} {_at(x2, y2 - back)}"
        tip = f"M{_at(x2, y2)}L{_at(x2 - 3.5, y2 - 7)}H{number(x2 + 3.5)}z"
    else:
        middle = (x1 + x2) / 2
        bend = f"{_at(middle, y1)} {_at(middle, y2)} {_at(x2 - back, y2)}"
        tip = f"M{_at(x2, y2)}L{_at(x2 - 7, y2 - 3.5)}V{number(y2 + 3.5)}z"
    line = element("path", d=f"M{_at(x1, y1)}C{bend}", class_=f"arrow{faint}")
    return element("g", line, element("path", d=tip, class_=f"tip{faint}")) if arrow.ends else line


def _legend(boxes: Sequence[Box], layout: Layout) -> list[Markup]:
    parts: list[Markup] = []
    x = MARGIN
    for status in STATUSES:
        count = sum(box.status == status for box in boxes)
        if count == 0:
            continue
        words = f"{count} {status.replace('_', ' ')}"
        parts += [sign(status, x, 38), text(x + 20, 49, words, "soft")]
        x += 38 + width_of(words, 11)
    if layout.implied:
        parts.append(element("path", d=f"M{_at(x, 45)}h24", class_="arrow faint"))
        parts.append(text(x + 30, 49, "follows from other arrows", "soft"))
    return parts


def _at(x: float, y: float) -> str:
    return f"{number(x)} {number(y)}"
