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
    question = clean(one.question)
    about = "" if question.startswith(str(one.phase)) else f" {one.phase}"
    words = f"STOP {one.id}{about}: {question}"
    lines = textwrap.wrap(words, max(width, NAME_CELLS), subsequent_indent="  ")
    rows = [Text(line, "bold yellow") for line in lines]
    widest = max(len(option.id) for option in one.options)
    rows += [
        Text(f"  {option.id:<{widest}}  {clean(option.description)}") for option in one.options
    ]
    return [
        *rows,
        Text(f"  answer: qloop answer {one.id} {one.options[0].id}; then: {GO_ON}", "dim"),
    ]


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


def _phase_row(run: PhaseRun) -> Text:
    mark, style = MARKS[run.status]
    took = render_duration(run.seconds) if run.seconds else ""
    row = Text(f" {mark} {run.phase:<{NAME_CELLS}}", style)
    return row.append(f" {took:>6}  {clean(run.note)}", "not bold dim")


def render_money(mission: Mission, spent: Spent) -> str:
    """What is spent, of how much where there is a limit; `~` where a part of it is a guess."""
    amount = render_cost(spent.usd, spent.guessed_usd)
    return (
        f"{amount} of {render_cost(mission.limit_usd)}" if mission.limit_usd is not None else amount
    )
