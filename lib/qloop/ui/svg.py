"""What qloop's drawings are made of: the document, text that fits, and the signs of statuses.

A drawing stands alone: system fonts, no script, nothing to load, light and dark. A status is told
by colour, by the shape of its sign, and by its word. Units: pixels.
"""

import unicodedata
from typing import NamedTuple

from qloop.ui.markup import Markup, clean, element, number

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
MARGIN = 20.0

LIGHT = (
    "--paper:#fff;--ink:#1f2328;--soft:#59636e;--rule:#d1d9e0;--edge:#818b98;--faint:#d1d9e0;"
    "--passed:#1a7f37;--failed:#c21f2a;--in_progress:#0969da;--pending:#6e7781;--blocked:#9a6700"
)
DARK = (
    "--paper:#0d1117;--ink:#e6edf3;--soft:#9198a1;--rule:#3d444d;--edge:#767f89;--faint:#30363d;"
    "--passed:#3fb950;--failed:#f85149;--in_progress:#58a6ff;--pending:#8b949e;--blocked:#d29922"
)
STYLE = (
    f"svg.qloop{{{LIGHT};font:13px {FONT};background:var(--paper)}}"
    f"@media screen and (prefers-color-scheme:dark){{svg.qloop{{{DARK}}}}}"
    ".qloop text{fill:var(--ink)}.qloop .soft{fill:var(--soft);font-size:11px}"
    ".qloop .strong{font-weight:600}.qloop .head{font-size:15px;font-weight:600}"
    ".qloop .paper{fill:var(--paper)}.qloop .rule{stroke:var(--rule);fill:none}"
    + "".join(
        f".qloop .{name}{{--tone:var(--{name})}}"
        for name in ("passed", "failed", "in_progress", "pending", "blocked")
    )
    + ".qloop .tone{fill:var(--tone)}.qloop .line{stroke:var(--tone);fill:none}"
    ".qloop .sign{stroke:var(--paper);stroke-width:1.8;fill:none;stroke-linecap:round}"
)

_SIGNS = {
    "passed": ("M1 7a6 6 0 1 0 12 0a6 6 0 1 0-12 0z", "M4.2 7.2l2 2l3.6-4"),
    "failed": ("M4.5 1h5l3.5 3.5v5l-3.5 3.5h-5l-3.5-3.5v-5z", "M4.8 4.8l4.4 4.4m0-4.4l-4.4 4.4"),
    "in_progress": ("M2.5 1l10.5 6l-10.5 6z", ""),
    "pending": ("M1 7a6 6 0 1 0 12 0a6 6 0 1 0-12 0zm2 0a4 4 0 1 1 8 0a4 4 0 1 1-8 0z", ""),
    "blocked": ("M1 1h12v12h-12z", "M4 7h6"),
}
"""For each status the shape of its sign, 14 by 14, and the stroke on it."""

_NARROW = frozenset("fijlrtI.,:;'|!()[]{}/\\- \"`")
_BROAD = frozenset("mwMW@%")


class Drawing(NamedTuple):
    """A whole drawing, and how wide it is."""

    markup: Markup
    width: float


def document(width: float, height: float, title: str, *body: str, style: str = "") -> Drawing:
    """A whole drawing; *title* names it for readers of screens. *style* is added to the common."""
    drawn = element(
        "svg",
        element("title", title),
        element("style", Markup(STYLE + style)),
        *body,
        xmlns="http://www.w3.org/2000/svg",
        class_="qloop",
        role="img",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=width,
        height=height,
    )
    return Drawing(drawn, width)


def text(
    x: float, y: float, words: str, kind: str | None = None, anchor: str | None = None
) -> Markup:
    """A line of text; *y* is its base line."""
    return element("text", words, x=x, y=y, class_=kind, text_anchor=anchor)


def sign(status: str, x: float, y: float) -> Markup:
    """The sign of a status, 14 by 14, its upper left corner at (x, y)."""
    shape, stroke = _SIGNS[status]
    parts = [element("path", d=shape, class_="tone")]
    if stroke:
        parts.append(element("path", d=stroke, class_="sign"))
    place = f"translate({number(x)} {number(y)})"
    return element("g", *parts, class_=status, transform=place)


def width_of(words: str, size: float = 13.0) -> float:
    """About how much room a text needs in a system's font, rather more than less."""
    return sum(map(_ems, words)) * size


def fitted(words: str, room: float, size: float = 13.0) -> str:
    """As much of a text as fits into *room*, on one line, `…` where it was cut."""
    line = " ".join(clean(words).split())
    if width_of(line, size) <= room:
        return line
    left = room - width_of("…", size)
    kept = 0
    for letter in line:
        left -= _ems(letter) * size
        if left < 0:
            break
        kept += 1
    return line[:kept].rstrip() + "…"


def wrapped(words: str, room: float, lines: int, size: float = 13.0) -> list[str]:
    """A text on at most so many lines; the last one is cut where more would be needed."""
    found: list[str] = []
    left = " ".join(clean(words).split())
    while left and len(found) < lines - 1:
        line = _first_words(left, room, size)
        found.append(line)
        left = left[len(line) :].lstrip()
    return [*found, fitted(left, room, size)] if left else found


def _first_words(line: str, room: float, size: float) -> str:
    """The words that fit; of a word that alone is too long, the letters that do."""
    used, kept, gap = 0.0, len(line), 0
    for at, letter in enumerate(line):
        if letter == " ":
            gap = at
        used += _ems(letter) * size
        if used > room:
            kept = gap or max(1, at)
            break
    return line[:kept].rstrip()


def _ems(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    if letter in _NARROW:
        return 0.38
    if letter in _BROAD:
        return 0.95
    return 0.7 if letter.isupper() else 0.6
