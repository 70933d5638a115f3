"""A run as a drawing: a row for each slot, a bar for each attempt, with how it ended.

Pure; deterministic. Units: pixels, seconds.
"""

from collections.abc import Mapping
from statistics import median

from qloop.system.clock import render_duration
from qloop.ui.markup import Markup, element, number
from qloop.ui.svg import MARGIN, Drawing, document, fitted, sign, text, width_of
from qloop.ui.timeline import UNSETTLED, Bar, Timeline

LEFT, TOP, ROW, BAR = 70.0, 84.0, 40.0, 30.0
NARROWEST, WIDEST = 900.0, 9_000.0
READABLE = 130.0
"""Half of the bars are at least as long, if the drawing is not too wide then."""
TICK_ROOM = 90.0
LEAST_BAR = 3.0

_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400)
_DRAWN = {"passed": "passed", "failed": "failed", UNSETTLED: "pending"}
_WORDS = {"passed": "landed", "failed": "failed", UNSETTLED: "without a verdict"}
_HATCH = "qloop-hatch"
_STYLE = (
    ".qloop .bar{fill:var(--tone);fill-opacity:.16;stroke:var(--tone)}"
    ".qloop .pending .bar{stroke-dasharray:4 3;fill:none}"
    ".qloop .hatch{stroke:var(--failed);stroke-width:2;stroke-opacity:.22}"
)


def draw_timeline(timeline: Timeline, titles: Mapping[str, str]) -> Drawing:
    """The drawing as SVG; *titles* of stories are by their ids."""
    inner = _inner_width(timeline)
    scale = inner / max(timeline.seconds, 0.001)
    rows_end = TOP + ROW * len(timeline.slots)
    width, height = LEFT + inner + MARGIN, rows_end + MARGIN / 2
    stripes = element("path", d="M0 0V7", class_="hatch")
    turned = "rotate(45)"
    hatch = element(
        "pattern", stripes, id=_HATCH, width=7, height=7,
        patternUnits="userSpaceOnUse", patternTransform=turned,
    )  # fmt: skip
    name = f"{timeline.run}, {render_duration(timeline.seconds)}, from {timeline.started_at}"
    return document(
        width,
        height,
        f"the attempts of run {timeline.run}, slot by slot",
        element("rect", width=width, height=height, rx=8, class_="paper"),
        element("defs", hatch),
        text(MARGIN, 27, fitted(name, width - 2 * MARGIN, 15), "head"),
        *_legend(timeline),
        *_axis(timeline.seconds, scale, rows_end),
        *(
            text(MARGIN, TOP + ROW * row + BAR / 2 + 4, f"slot {slot + 1}", "soft")
            for row, slot in enumerate(timeline.slots)
        ),
        *(_bar(bar, scale, titles.get(bar.story, "")) for bar in timeline.bars),
        style=_STYLE,
    )


def _inner_width(timeline: Timeline) -> float:
    """Wide enough for most bars to show their story, but no wider than can be scrolled through."""
    usual = median(bar.end_s - bar.start_s for bar in timeline.bars)
    wanted = timeline.seconds / usual * READABLE if usual > 0 else NARROWEST
    return min(max(wanted, NARROWEST), WIDEST)


def _bar(bar: Bar, scale: float, title: str) -> Markup:
    x, y = LEFT + bar.start_s * scale, TOP + ROW * bar.row
    width = max((bar.end_s - bar.start_s) * scale - 1, LEAST_BAR)
    shape = {"x": x, "y": y, "width": width, "height": BAR, "rx": 4}
    status = _DRAWN[bar.status]
    parts = [element("title", _tip(bar, title)), element("rect", **shape, class_="bar")]
    if bar.status == "failed":
        parts.append(element("rect", **shape, fill=f"url(#{_HATCH})"))
    words = _words(bar, title, width - 26)
    if width >= 20:
        parts.append(sign(status, x + 4, y + 8))
    if words:
        parts.append(text(x + 22, y + 19, words))
    return element("g", *parts, class_=status)


def _words(bar: Bar, title: str, room: float) -> str:
    """What stands in a bar: as much as there is room for, but never a part of an id."""
    if width_of(bar.story) > room:
        return ""
    retry = f" #{bar.attempt}" if bar.attempt > 1 else ""
    more = bar.phase.replace("_", " ") if bar.phase is not None else title
    return fitted(f"{bar.story}{retry} {more}", room)


def _tip(bar: Bar, title: str) -> str:
    took = render_duration(bar.end_s - bar.start_s)
    ended = _WORDS[bar.status] + (f": {bar.phase}" if bar.phase is not None else "")
    wave = f", {bar.wave}" if bar.wave is not None else ""
    head = f"{bar.story}: {title}" if title else bar.story
    return f"{head}\nattempt {bar.attempt}{wave}, {ended}\n{took}, from {_clock(bar.start_s)} on"


def _legend(timeline: Timeline) -> list[Markup]:
    parts: list[Markup] = []
    x = MARGIN
    for status, word in _WORDS.items():
        count = sum(bar.status == status for bar in timeline.bars)
        if count:
            words = f"{count} {word}"
            parts += [sign(_DRAWN[status], x, 38), text(x + 20, 49, words, "soft")]
            x += 38 + width_of(words, 11)
    return parts


def _axis(seconds: float, scale: float, bottom: float) -> list[Markup]:
    step = next((one for one in _STEPS if one * scale >= TICK_ROOM), _STEPS[-1])
    parts = []
    for second in range(0, int(seconds) + 1, step):
        x = number(LEFT + second * scale)
        line = f"M{x} {number(TOP - 10)}V{number(bottom)}"
        parts.append(element("path", d=line, class_="rule"))
        parts.append(element("text", _clock(second), x=x, y=TOP - 14, class_="soft"))
    return parts


def _clock(seconds: float) -> str:
    """A moment of the run: `0:05`, `12:30`, `2:07:00`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
