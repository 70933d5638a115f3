"""The live board as rows: never wider or taller than the terminal, and what matters in them."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.text import Text

from qloop.ui.board import BoardView, Card, State
from qloop.ui.board_columns import fit
from qloop.ui.board_drawing import draw_board

WIDTHS = (20, 40, 80, 200)
HEIGHTS = (5, 24, 60)


def view(*cards: Card, **fields: Any) -> BoardView:
    """A board with these stories."""
    made: dict[str, Any] = {
        "branch": "ql/x",
        "phase": "running",
        "seconds": 75.0,
        "slots": 4,
        "landing": "",
        "next_up": (),
        "recent": (),
    }
    return BoardView(cards=cards, **{**made, **fields})


def big() -> BoardView:
    """A run of a hundred stories on ten levels, some of each state."""
    states = [State.AT_WORK] * 3 + [State.FAILED] + [State.BLOCKED] * 2 + [State.READY] * 2
    states += [State.WAITING] * 40 + [State.PASSED] * 52
    cards = [
        Card(
            id=f"US-{number:03}",
            title=f"A title 数字 that goes on and on, number {number}",
            state=state,
            level=number % 10 + 1,
            doing="claude at work" if state is State.AT_WORK else str(state),
            wave="wave-12",
            attempt=2 if state is State.AT_WORK else None,
            seconds=12.0,
            line=f"line of {number} " + "long " * 60 if state is State.AT_WORK else "",
        )
        for number, state in enumerate(states)
    ]
    return view(
        *cards,
        landing="US-001 is tested on the merged tree",
        next_up=("US-006", "US-007"),
        recent=tuple(f"    {n}s  something happened" for n in range(6)),
    )


def plain(rows: list[Text]) -> list[str]:
    """The rows' text."""
    return [row.plain for row in rows]


def holds(rows: list[str], *texts: str) -> bool:
    """Whether each text stands in one of the rows."""
    return all(any(text in row for row in rows) for text in texts)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("height", HEIGHTS)
def test_it_fits(width: int, height: int) -> None:
    """Whatever the terminal's size, no row is wider and there are no more rows than it has."""
    rows = draw_board(big(), width, height)

    assert len(rows) <= height
    assert max(row.cell_len for row in rows) <= width


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("height", HEIGHTS)
def test_the_most_urgent_is_always_there(width: int, height: int) -> None:
    """How far it came, and the stories at work, are seen in every terminal."""
    rows = plain(draw_board(big(), width, height))

    assert "52" in rows[0] or "52 passed" in rows[1]
    assert holds(rows, "US-000", "US-001")


def test_a_usual_terminal() -> None:
    """Slots, counts, what is at work with its lines, failures, the landing queue, what is next."""
    rows = plain(draw_board(big(), 80, 23))

    assert rows[0] == "ql/x  running, 1m15s  3 of 4 slots"
    assert "52 passed, 3 at work, 1 failed, 2 blocked, 2 ready, 40 waiting" in rows[1]
    assert rows[1].startswith("████")
    assert holds(rows, "▸ US-000", "│ line of 0 long", "✗ US-003", "! US-004")
    assert holds(rows, "landing: US-001 is tested on the merged tree", "next up: US-006, US-007")


def test_a_large_terminal_shows_the_levels() -> None:
    """Stories stand under their level in the DAG; what has no room is counted there."""
    rows = plain(draw_board(big(), 200, 60))
    at = rows.index("level 1  5 of 10 passed  wave-12")

    assert "US-000" in rows[at + 1]
    assert holds(rows, "level 10  6 of 10 passed", "lately", "5s something happened")


def test_a_small_terminal_shows_the_most_urgent_alone() -> None:
    """No levels, no headings; what is not shown is counted."""
    rows = plain(draw_board(big(), 40, 6))

    assert rows[0].startswith("52/100 passed 1m15s  3 of 4 slots")
    assert [row[:8] for row in rows[1:5]] == ["▸ US-000", "▸ US-001", "▸ US-002", "✗ US-003"]
    assert rows[5].startswith("  and 52 passed, 2 blocked")


def test_passed_stories_give_way_first() -> None:
    """Where room is short, levels that passed as a whole are one row, with their counts."""
    cards = [Card(f"P-{n}", "", State.PASSED, 1 + n // 10, "") for n in range(30)]
    cards += [Card(f"W-{n}", "", State.WAITING, 5, "waits for A") for n in range(4)]
    rows = plain(draw_board(view(Card("A", "", State.AT_WORK, 4, "set-up"), *cards), 80, 16))

    assert holds(rows, "levels 1-2  20 of 20 passed", "▸ A", "- W-0", "- W-3")


def test_all_of_it_without_a_height() -> None:
    """Asked for all of it, a board leaves nothing out."""
    rows = plain(draw_board(big(), 100, None))

    assert holds(rows, *(card.id for card in big().cards))


def test_a_notice_is_always_seen() -> None:
    """What a person at the terminal must know has its row even where there are few."""
    noticed = view(Card("A", "", State.AT_WORK, 1, "set-up"), notice="stopping")

    assert plain(draw_board(noticed, 40, 4))[1] == "stopping"


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (24, "▸ US-1  claude at work"),
        (40, "▸ US-1     12s claude at work"),
        (60, "▸ US-1  A title claude at work                           12s"),
    ],
)
def test_columns_give_way(width: int, shown: str) -> None:
    """The narrower the terminal, the fewer columns: what a story does is the last to go."""
    card = Card("US-1", "A title", State.AT_WORK, 1, "claude at work", "wave-2", 3, 12.4)

    assert shown in plain(draw_board(view(card), width, 10))


def test_wide_enough_for_wave_and_attempt() -> None:
    """From 72 cells on, both have a column."""
    card = Card("US-1", "A title", State.AT_WORK, 1, "claude at work", "wave-2", 3, 12.4)
    rows = plain(draw_board(view(card), 80, 20))
    heading = next(row for row in rows if row.startswith("  story"))
    row = next(row for row in rows if row.startswith("▸"))

    assert heading.split() == ["story", "title", "state", "wave", "attempt", "time"]
    assert row.split()[-3:] == ["2", "3", "12s"]
    assert len(heading) == len(row) == 80


def test_text_of_agents_cannot_steer_the_terminal() -> None:
    """Control characters and line ends in titles, lines, reasons and names leave no trace."""
    evil = "a\x1b[2Jb\r\nc\x07\x9bd\te"
    card = Card("A", evil, State.AT_WORK, 1, evil, evil, 1, 1.0, evil)
    made = view(card, branch=evil, phase=evil, landing=evil, recent=(evil,), notice=evil)
    for width in WIDTHS:
        text = "".join(plain(draw_board(made, width, 40)))

        assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in text)


@settings(deadline=None)
@given(st.text(), st.integers(0, 30))
def test_any_text_fits_its_cells(text: str, width: int) -> None:
    """Cut or filled up, a cell is just as wide as its column."""
    assert Text(fit(text, width)).cell_len == width


CARDS = st.builds(
    Card,
    id=st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,20}", fullmatch=True),
    title=st.text(max_size=30),
    state=st.sampled_from(State),
    level=st.integers(1, 6),
    doing=st.text(max_size=30),
    wave=st.none() | st.text(max_size=10),
    attempt=st.none() | st.integers(1, 10**9),
    seconds=st.none() | st.floats(0, 10**9),
    line=st.text(max_size=30),
)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(CARDS, max_size=30, unique_by=lambda card: card.id),
    st.integers(1, 120),
    st.integers(1, 40),
    st.lists(st.text(max_size=20), max_size=8),
)
def test_any_board_fits(cards: list[Card], width: int, height: int, recent: list[str]) -> None:
    """Any stories, any size."""
    cards.sort(key=lambda card: list(State).index(card.state))
    rows = draw_board(view(*cards, recent=tuple(recent), next_up=("A",)), width, height)

    assert len(rows) <= height
    assert all(row.cell_len <= width for row in rows)


@pytest.mark.parametrize("height", [6, 24, None])
def test_a_pause_stands_on_top(height: int | None) -> None:
    """It is seen however little room there is."""
    told = view(*big().cards, pauses=("claude pauses for 1h12m, until 15:53:00",))
    rows = plain(draw_board(told, 80, height))

    assert any("claude pauses for 1h12m" in row for row in rows[:4])
