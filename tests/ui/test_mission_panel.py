"""A mission as people see it: it fits every terminal, and the question is never lost."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qloop.state.mission import Checkpoint, Mission, PhaseRun, Triage
from qloop.state.mission_feed import FeedTail, append_feed, read_feed
from qloop.state.phase_events import Option
from qloop.state.phases import Autonomy, PhaseName, PhaseStatus, Warmth
from qloop.state.spending import Spent
from qloop.ui.mission_pages import count_blocks, render_budget, render_checkpoints, render_state
from qloop.ui.mission_panel import draw_panel, draw_question

NOW = "2026-01-02T03:04:05.000Z"
QUESTION = Checkpoint(
    id="cp-3-1",
    phase=PhaseName.PLANNING,
    type="plan_approval",
    question="5 stories | widest wave 3.\nCarry them out?",
    options=(Option(id="approve", description="do it"), Option(id="abandon", description="no")),
    opened_at=NOW,
)


def mission(*checkpoints: Checkpoint) -> Mission:
    """A mission in PLANNING."""
    planning = PhaseRun(
        phase=PhaseName.PLANNING, status=PhaseStatus.CHECKPOINT, seconds=130.0, note="a | b\nc"
    )
    recon = PhaseRun(phase=PhaseName.RECON, status=PhaseStatus.SKIPPED, note="greenfield")
    begun = Mission(
        id=3,
        slug="tea",
        directive='make "tea"',
        autonomy=Autonomy.GUIDED,
        triage=Triage(complexity="SIMPLE"),
        started_at=NOW,
        updated_at=NOW,
        limit_usd=10.0,
        warmth=Warmth(patterns=('says: "x"',)),
        checkpoints=checkpoints,
    )
    return begun.with_phase(planning).with_phase(recon)


@given(st.integers(1, 160), st.integers(1, 40), st.lists(st.text(max_size=200), max_size=50))
def test_the_panel_fits_every_terminal(width: int, height: int, feed: list[str]) -> None:
    """Never wider, never taller."""
    rows = draw_panel(mission(QUESTION), Spent(1.5), feed, width, height)

    assert len(rows) <= height
    assert all(row.cell_len <= width for row in rows)


def test_a_question_stands_before_the_feed() -> None:
    """Where there is little room the feed goes, not what waits for a person."""
    rows = [row.plain for row in draw_panel(mission(QUESTION), Spent(1.5), ["old"] * 90, 90, 14)]

    assert rows[0] == "mission 3--tea  initialized  GUIDED  $1.50 of $10.00"
    assert any(row.startswith("STOP cp-3-1 PLANNING: 5 stories | widest wave 3.") for row in rows)
    assert any("qloop answer cp-3-1 approve; then: qloop mission resume 3" in row for row in rows)


def test_the_state_page_has_the_documents_sections_in_their_order() -> None:
    """Front matter, then six sections; a cell cannot break its table."""
    plan = {"stories": [{"id": "A", "status": "passed"}, {"id": "B"}]}
    page = render_state(mission(QUESTION), Spent(2.5, 0.5), count_blocks(plan))

    assert page.startswith(
        '---\nmission: "make \\"tea\\""\nstatus: initialized\nautonomy: GUIDED\n'
    )
    assert [line for line in page.splitlines() if line.startswith("## ")] == [
        "## Phase Progress",
        "## Current Position",
        "## Active Phase Coordinator",
        "## Budget",
        "## Checkpoints",
        "## Warmth (Accumulated)",
    ]
    assert "| PLANNING | checkpoint | 2m10s | a \\| b; c |" in page
    assert "**Block:** 1 of 2 passed" in page
    assert "| Remaining | $7.50 |" in page
    assert '  - "says: \\"x\\""' in page


def test_the_checkpoint_page_shows_what_waits_and_what_was_answered() -> None:
    """A person sees the question with its commands; without one the page says so."""
    assert "qloop answer cp-3-1 approve" in render_checkpoints(mission(QUESTION))
    assert "Nothing waits" in render_checkpoints(mission())


@pytest.mark.parametrize(("spent", "left"), [(2.5, 7.5), (12.0, 0.0)])
def test_the_budget_file_tells_what_is_left(spent: float, left: float) -> None:
    """Never less than nothing."""
    told = render_budget(mission(), spent)

    assert (told["limit"], told["spent"], told["remaining"]) == (10.0, spent, left)
    assert told["enforcement"] == "hard"


def test_the_feed_is_read_as_it_grows(tmp_path: Path) -> None:
    """Whole lines, each once; a text of several lines is one."""
    tail = FeedTail(tmp_path)
    assert tail.read() == []
    append_feed(tmp_path, "one\ntwo")
    with (tmp_path / "activity.log").open("a", encoding="utf-8") as feed:
        feed.write("2026-01-02T03:04:05.000Z half")

    assert [line.split(" ", 1)[1] for line in tail.read()] == ["one two"]
    assert tail.read() == []
    assert len(read_feed(tmp_path, 1)) == 1


def test_money_that_holds_a_guess_is_marked() -> None:
    """In the head of the panel as on the page, with the limit as it was set."""
    guessed, told = Spent(2.5, 0.5), Spent(2.5)
    heads = [draw_panel(mission(), one, (), 90, None)[0].plain for one in (guessed, told)]

    assert heads[0].endswith("~$2.50 of $10.00")
    assert heads[1].endswith("  $2.50 of $10.00")
    assert "| Spent | ~$2.50 |" in render_state(mission(), guessed)


def test_a_question_of_several_lines_is_laid_out_in_lines() -> None:
    """The first is the question; the others stand below it, and no path is taken apart."""
    path = "a/path/of-a/plan-with/many-hyphens.json"
    asked = QUESTION.model_copy(update={"question": f"How to go on?\nwhy: in vain\n{path}"})
    rows = [row.plain for row in draw_question(asked, 44)]

    assert rows[:3] == ["STOP cp-3-1 PLANNING: How to go on?", "  - why: in vain", f"  - {path}"]
    assert "How to go on?\n\n- why: in vain\n" in render_checkpoints(mission(asked))
