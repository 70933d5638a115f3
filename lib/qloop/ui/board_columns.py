"""The live board's columns: what a story shows at a given width. Pure. Units: cells."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from qloop.system.clock import render_duration
from qloop.ui import console
from qloop.ui.board import Card, State

ALL_FROM = 72
"""From this width on there are columns for wave and attempt."""
TITLE_FROM = 48
"""From this width on there is a column for the title."""
TIME_FROM = 30
"""From this width on there is a column for the time."""
AIRY_FROM = 100
"""From this width on two cells lie between columns."""

WAVE_CELLS = 4
ATTEMPT_CELLS = 7
TIME_CELLS = 6
LONGEST_ID = 20
LONGEST_STATE = 80

STYLES = {
    State.AT_WORK: "yellow",
    State.FAILED: "red",
    State.BLOCKED: "magenta",
    State.READY: "cyan",
    State.WAITING: "dim",
    State.PASSED: "green",
}
SYMBOLS = {
    State.AT_WORK: "▸",
    State.FAILED: "✗",
    State.BLOCKED: "!",
    State.READY: "+",
    State.WAITING: "-",
    State.PASSED: "✓",
}


@dataclass(frozen=True, slots=True)
class Columns:
    """How wide each column is; 0 for one that has no room."""

    story: int
    title: int
    state: int
    wave: int
    attempt: int
    time: int
    gap: str


def choose_columns(cards: Sequence[Card], width: int) -> Columns:
    """The columns for these stories in *width* cells."""
    gap = 2 if width >= AIRY_FROM else 1
    longest = max((cell_len(card.id) for card in cards), default=0)
    story = min(max(longest, len("story")), LONGEST_ID, max(width // 3, 1))
    wave, attempt = (WAVE_CELLS, ATTEMPT_CELLS) if width >= ALL_FROM else (0, 0)
    took = TIME_CELLS if width >= TIME_FROM else 0
    fixed = [2 + story, *(cells for cells in (wave, attempt, took) if cells)]
    free = max(width - sum(fixed) - gap * len(fixed), 0)
    title = 0
    if width >= TITLE_FROM:
        longest = max((cell_len(clean(card.title)) for card in cards), default=0)
        title = min(longest, (free - gap) * 2 // 5)
    state = min(max(free - (title + gap if title else 0), 0), LONGEST_STATE)
    return Columns(story, title, state, wave, attempt, took, " " * gap)


def draw_headings(columns: Columns) -> Text:
    """The names of the columns."""
    return Text("  " + _join(columns, "story", "title", "state", "wave", "attempt", "time"), "dim")


def draw_card(card: Card, columns: Columns) -> Text:
    """A story's row."""
    wave = clean(card.wave or "").removeprefix("wave-")
    number = "" if card.attempt is None else str(card.attempt)
    took = "" if card.seconds is None else clock(card.seconds)
    row = Text(f"{SYMBOLS[card.state]} ", STYLES[card.state])
    cells = _join(columns, card.id, card.title, words_of(card), wave, number, took)
    return row.append(cells, "dim" if card.state is State.WAITING else "")


def draw_line(card: Card) -> Text:
    """The last line of what a story's agent or gate printed."""
    return Text("  │ ", STYLES[card.state]).append(clean(card.line), "dim")


def words_of(card: Card) -> str:
    """A story's state in words; what it is at, where that tells more."""
    if card.state in (State.AT_WORK, State.WAITING):
        return card.doing
    told = card.doing if card.doing != card.state else ""
    return f"{card.state}: {told}" if told else str(card.state)


def clock(seconds: float) -> str:
    """A length of time in whole seconds: what moves on a board should not flicker."""
    return f"{int(seconds)}s" if seconds < 10 else render_duration(seconds)


def clean(text: str) -> str:
    """A text on one line, without what would steer a terminal."""
    return " ".join(console.printable(text.replace("\t", " ")).split())


def fit(text: str, width: int) -> str:
    """A text in just *width* cells, cut with a mark or filled up."""
    text = clean(text)
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(text, width - 1) + "…" if width > 0 else ""


def _join(
    columns: Columns, story: str, title: str, state: str, wave: str, attempt: str, took: str
) -> str:
    wide = (
        fit(story, columns.story),
        fit(title, columns.title),
        fit(state, columns.state),
        wave.rjust(columns.wave)[: columns.wave],
        attempt.rjust(columns.attempt)[: columns.attempt],
        took.rjust(columns.time)[: columns.time],
    )
    narrow = (wide[0], wide[5], wide[2])
    shown = wide if columns.title else narrow
    return columns.gap.join(cell for cell in shown if cell).rstrip()
