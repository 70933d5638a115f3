"""A mission as rows of text: phases, money, the question that waits, what went on lately. Pure.

Units: cells and rows.
"""

import textwrap
from collections.abc import Sequence

from rich.text import Text

from qloop.state.mission import Checkpoint, Mission, PhaseRun
from qloop.state.phases import PhaseStatus
from qloop.state.spending import Spent
from qloop.system.clock import render_duration
from qloop.ui.amounts import render_cost
from qloop.ui.board_columns import clean
from qloop.ui.history import in_one_line

MARKS = {
    PhaseStatus.PENDING: ("·", "dim"),
    PhaseStatus.IN_PROGRESS: ("▸", "bold"),
    PhaseStatus.CHECKPOINT: ("?", "bold yellow"),
    PhaseStatus.FAILED: ("x", "bold red"),
    PhaseStatus.COMPLETE: ("✓", "green"),
    PhaseStatus.SKIPPED: ("-", "dim"),
}
NAME_CELLS = 10
GO_ON = "qloop mission resume"


def draw_head(mission: Mission, spent: Spent) -> list[Text]:
    """Who the mission is, and where each phase stands."""
    row = Text(f"mission {mission.id}--{mission.slug}", "bold")
    row.append(
        f"  {mission.status}  {mission.autonomy}  {render_money(mission, spent)}", "not bold"
    )
    return [row, *(_phase_row(run) for run in mission.phases)]


def draw_question(one: Checkpoint, width: int) -> list[Text]:
    """A question that waits, in lines of *width* cells, and how it is answered."""
    asked, *more = [clean(line) for line in one.question.splitlines() if line.strip()] or [""]
    about = "" if asked.startswith(str(one.phase)) else f" {one.phase}"
    rows = _wrapped(f"STOP {one.id}{about}: {asked}", width, "", "bold yellow")
    rows += [row for line in more for row in _wrapped(line, width, "  - ", "yellow")]
    widest = max(len(option.id) for option in one.options)
    rows += [
        Text(f"  {option.id:<{widest}}  {clean(option.description)}") for option in one.options
    ]
    way = f"  answer: qloop answer {one.id} {one.options[0].id}; then: {GO_ON} {one.mission}"
    return [*rows, Text(way, "dim")]


def draw_panel(
    mission: Mission, spent: Spent, feed: Sequence[str], width: int, height: int | None
) -> list[Text]:
    """All of it in at most *height* rows of *width* cells; the question goes before the feed."""
    rows = draw_head(mission, spent)
    waiting = mission.open_checkpoint
    if waiting is not None and not mission.status.is_over:
        rows += [Text(), *draw_question(waiting, width)]
    room = len(feed) if height is None else max(0, height - len(rows) - 1)
    if feed and room:
        rows += [Text(), *(Text(clean(line), "dim") for line in feed[-room:])]
    for row in rows:
        row.truncate(width, overflow="ellipsis")
    return rows[:height]


def _wrapped(words: str, width: int, indent: str, style: str) -> list[Text]:
    """Lines of *width* cells; paths and names are not taken apart where they need not be."""
    room = max(width, NAME_CELLS)
    after = " " * max(len(indent), 2)
    lines = textwrap.wrap(
        words, room, initial_indent=indent, subsequent_indent=after, break_on_hyphens=False
    )
    return [Text(line, style) for line in lines]


def _phase_row(run: PhaseRun) -> Text:
    mark, style = MARKS[run.status]
    took = render_duration(run.seconds) if run.seconds else ""
    row = Text(f" {mark} {run.phase:<{NAME_CELLS}}", style)
    return row.append(f" {took:>6}  {clean(in_one_line(run.note))}", "not bold dim")


def render_money(mission: Mission, spent: Spent) -> str:
    """What is spent, of how much where there is a limit; `~` where a part of it is a guess."""
    amount = render_cost(spent.usd, spent.guessed_usd)
    return (
        f"{amount} of {render_cost(mission.limit_usd)}" if mission.limit_usd is not None else amount
    )
