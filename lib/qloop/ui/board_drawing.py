"""The live board as rows of text that fit a terminal: never wider, never taller. Pure.

What does not fit is left out, the least urgent first, and counted. Units: cells and rows.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from rich.text import Text

from qloop.ui.board import BoardView, Card, State
from qloop.ui.board_columns import (
    ALL_FROM,
    STYLES,
    Columns,
    choose_columns,
    clean,
    clock,
    draw_card,
    draw_headings,
    draw_line,
)

ROOMY_ROWS = 16
"""From this height on there are headings, and rows that only part others."""
FOOT_ROWS = 8
"""From this height on the landing queue and what comes next have rows of their own."""
FIRST_RECENT = 3
"""So many lines of what happened lately come before stories that only wait or have passed."""

URGENT = (State.AT_WORK, State.FAILED)
"""What must be seen: where it does not fit under its levels, the levels are given up."""
BARS = {State.PASSED: "█", State.AT_WORK: "▓", State.FAILED: "x", State.BLOCKED: "x"}
EMPTY_BAR = "░"
BAR_CELLS = 24


Thing = tuple[str, str]
"""What a body may show: "card" or "line" and the story's id, or "recent" and a text."""
LayOut = Callable[[BoardView, Columns, Sequence[Thing]], list[Text]]


def draw_board(view: BoardView, width: int, height: int | None) -> list[Text]:
    """The board in at most *height* rows of at most *width* cells; without a height all of it."""
    roomy = height is None or height >= ROOMY_ROWS
    head = _head(view, width, roomy=roomy)
    if view.notice:
        head.append(Text(clean(view.notice), "bold red"))
    head += [Text(clean(pause), "yellow") for pause in view.pauses]
    foot = _foot(view) if height is None or height >= FOOT_ROWS else []
    columns = choose_columns(view.cards, width)
    if roomy:
        head += [Text(), *([draw_headings(columns)] if columns.wave else [])]
        foot = [Text(), *foot] if foot else []
    room = None if height is None else max(height - len(head) - len(foot), 0)
    rows = [*head, *_body(view, columns, room), *foot]
    for row in rows:
        row.truncate(width, overflow="ellipsis")
    return rows[:height]


def _in_words(counts: Mapping[State, int]) -> str:
    """Counts without zeros: what is done, then the most urgent first."""
    order = (State.PASSED, *(state for state in State if state is not State.PASSED))
    return ", ".join(f"{counts[state]} {state}" for state in order if counts.get(state))


def _head(view: BoardView, width: int, *, roomy: bool) -> list[Text]:
    passed, total = view.counts.get(State.PASSED, 0), len(view.cards)
    at_work = view.counts.get(State.AT_WORK, 0)
    slots = f"{at_work} of {view.slots} slots" if view.slots is not None else f"{at_work} at work"
    phase = clean(view.phase)
    if width < ALL_FROM:
        short = f"{passed}/{total} passed {clock(view.seconds)}  {slots}  {phase}"
        return [Text(short, "bold")]
    row = Text(clean(view.branch), "bold").append(f"  {phase}, {clock(view.seconds)}", "not bold")
    row.append(f"  {slots}", "not bold dim")
    if not roomy:
        return [row.append(f"  {passed}/{total} passed", "not bold green")]
    words = f"  {_in_words(view.counts)}"
    cells = max(0, min(BAR_CELLS, width - len(words)))
    return [row, _bar(view.counts, total, cells).append(words)]


def _bar(counts: Mapping[State, int], total: int, cells: int) -> Text:
    """How much is done, at work and failed, as a bar; what is there at all gets a cell."""
    bar = Text()
    for state in (State.PASSED, State.AT_WORK, State.FAILED, State.BLOCKED):
        count = counts.get(state, 0)
        share = max(count * cells // max(total, 1), 1) if count else 0
        bar.append(BARS[state] * min(share, cells - len(bar)), STYLES[state])
    return bar.append(EMPTY_BAR * (cells - len(bar)), "dim")


def _foot(view: BoardView) -> list[Text]:
    rows = []
    if view.landing:
        rows.append(Text("landing: ", "bold").append(clean(view.landing), "not bold"))
    if view.next_up:
        rows.append(Text("next up: ", "bold").append(", ".join(view.next_up), "not bold"))
    return rows


def _body(view: BoardView, columns: Columns, room: int | None) -> list[Text]:
    """As much as fits of the stories by their levels; of a list by urgency where that is short."""
    things = list(_by_worth(view))
    if room is None:
        return _by_level(view, columns, things)
    things = things[:room]
    rows, shown = _as_much_as_fits(view, columns, things, room, _by_level)
    urgent = {card.id for card in view.cards if card.state in URGENT}
    if rows and urgent <= {name for what, name in shown if what == "card"}:
        return rows
    return _as_much_as_fits(view, columns, things, room, _by_urgency)[0]


def _by_worth(view: BoardView) -> Iterator[Thing]:
    """Everything that may be shown, the most urgent first."""
    by_state = {state: [card for card in view.cards if card.state is state] for state in State}
    yield from (("card", card.id) for state in URGENT for card in by_state[state])
    yield from (("line", card.id) for card in by_state[State.AT_WORK] if clean(card.line))
    yield from (("card", card.id) for card in by_state[State.BLOCKED])
    yield from (("card", card.id) for card in by_state[State.READY])
    newest = view.recent[::-1]
    yield from (("recent", text) for text in newest[:FIRST_RECENT])
    yield from (("card", card.id) for card in by_state[State.WAITING])
    passed = sorted(by_state[State.PASSED], key=lambda card: -card.level)
    yield from (("card", card.id) for card in passed)
    yield from (("recent", text) for text in newest[FIRST_RECENT:])


def _as_much_as_fits(
    view: BoardView, columns: Columns, things: Sequence[Thing], room: int, lay_out: LayOut
) -> tuple[list[Text], Sequence[Thing]]:
    """The rows of the longest beginning of *things* that fits, and it; nothing where none does."""
    counts = range(len(things) + 1)
    # More things never take fewer rows.
    fitting = bisect_right(counts, room, key=lambda n: len(lay_out(view, columns, things[:n])))
    if fitting == 0:
        return [], ()
    shown = things[: fitting - 1]
    return lay_out(view, columns, shown), shown


def _by_level(view: BoardView, columns: Columns, things: Sequence[Thing]) -> list[Text]:
    """Stories under their levels; levels of which none is shown in one row with their likes."""
    shown = {name for what, name in things if what == "card"}
    by_level: dict[int, list[Card]] = {}
    for card in view.cards:
        by_level.setdefault(card.level, []).append(card)
    rows: list[Text] = []
    opened = {level for level, cards in by_level.items() if any(c.id in shown for c in cards)}
    for is_open, levels in groupby(sorted(by_level), key=opened.__contains__):
        numbers = list(levels)
        for group in [[level] for level in numbers] if is_open else [numbers]:
            cards = [card for level in group for card in by_level[level]]
            rows.append(_level_row(group, cards))
            rows += _card_rows((card for card in cards if card.id in shown), columns, things)
    return [*rows, *_recent_rows(things)]


def _by_urgency(view: BoardView, columns: Columns, things: Sequence[Thing]) -> list[Text]:
    """The most urgent stories alone, and how many are not shown."""
    shown = {name for what, name in things if what == "card"}
    rows = _card_rows((card for card in view.cards if card.id in shown), columns, things)
    hidden = Counter(card.state for card in view.cards if card.id not in shown)
    if hidden:
        rows.append(Text(f"  and {_in_words(hidden)}", "dim"))
    return [*rows, *_recent_rows(things)]


def _level_row(numbers: Sequence[int], cards: Sequence[Card]) -> Text:
    name = f"level {numbers[0]}" if len(numbers) == 1 else f"levels {numbers[0]}-{numbers[-1]}"
    passed = sum(card.state is State.PASSED for card in cards)
    done = "green" if passed == len(cards) else "dim"
    row = Text(name, "bold").append(f"  {passed} of {len(cards)} passed", f"not bold {done}")
    waves = list(dict.fromkeys(clean(card.wave) for card in cards if card.wave is not None))
    return row.append(f"  {', '.join(waves)}", "not bold dim") if waves else row


def _card_rows(cards: Iterable[Card], columns: Columns, things: Sequence[Thing]) -> list[Text]:
    lined = {name for what, name in things if what == "line"}
    rows = []
    for card in cards:
        rows.append(draw_card(card, columns))
        if card.id in lined:
            rows.append(draw_line(card))
    return rows


def _recent_rows(things: Sequence[Thing]) -> list[Text]:
    """What happened lately, oldest first."""
    texts = [text for what, text in things if what == "recent"][::-1]
    rows = [Text("  ").append(clean(text), "dim") for text in texts]
    return [Text("lately", "bold"), *rows] if rows else []
