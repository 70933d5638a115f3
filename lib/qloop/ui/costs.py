"""What agents cost, for people and scripts: sums by story, role, runner and model. Pure but shows.

Units: United States dollars; tokens.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from qloop.plan.model import Plan
from qloop.state.budget import Estimate, Limits, total
from qloop.state.journal import Event, EventKind
from qloop.state.spending import ESTIMATED, MICROS, UNUSED, Book, Call, total_usd
from qloop.system.counting import counted
from qloop.ui import console
from qloop.ui.amounts import render_cost
from qloop.ui.views import View

COLUMNS = ("agents", "cost", "reserved", "tokens in", "out")
BY = ("story", "role", "runner", "model")
NONE = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRow(View):
    """What one story, role, runner or model cost."""

    name: str
    calls: int
    usd: float
    """All that is settled."""
    estimated_usd: float
    """The part of *usd* that is a guess."""
    reserved_usd: float
    """For calls that are not settled."""
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetView(View):
    """What a plan's agents cost, and the limits."""

    total: CostRow
    last_run: CostRow | None
    """What the newest run's account comes to; its name is the run's id."""
    last_limit_usd: float | None
    """What that run might spend."""
    run_limit_usd: float | None
    """What the next run may spend, as qloop.toml says."""
    story_limit_usd: float | None
    by_story: tuple[CostRow, ...]
    by_role: tuple[CostRow, ...]
    by_runner: tuple[CostRow, ...]
    by_model: tuple[CostRow, ...]


def build_budget(plan: Plan, events: Sequence[Event], limits: Limits) -> BudgetView:
    """The view of *events*, those of the plan, in order."""
    book = Book()
    book.take(events)
    calls = [call for call in book.calls.values() if call.source != UNUSED]
    order = {story.id: number for number, story in enumerate(plan.stories)}
    last = _last_run(book, calls)
    rows = {name: _rows(calls, key) for name, key in _KEYS.items()}
    return BudgetView(
        total=_row("total", calls),
        last_run=last,
        last_limit_usd=None if last is None else _limit_of(events, last.name),
        run_limit_usd=limits.run_usd,
        story_limit_usd=limits.story_usd,
        by_story=tuple(sorted(rows["story"], key=lambda row: order.get(row.name, len(order)))),
        by_role=rows["role"],
        by_runner=rows["runner"],
        by_model=rows["model"],
    )


def show_budget(view: BudgetView) -> None:
    """The view for people, on standard output."""
    for line in _headlines(view):
        console.result(line)
    parts = (view.by_story, view.by_role, view.by_runner, view.by_model)
    for name, rows in zip(BY, parts, strict=True):
        if rows:
            console.result("")
            console.table((name, *COLUMNS), [_cells(row) for row in rows])


StoryCost = tuple[str, str, str | None, int, Estimate]
"""A story, the runner and model of its next attempt, how many agents that needs, their cost."""


def show_estimates(rows: Sequence[StoryCost], *, as_json: bool) -> None:
    """What stories are likely to cost, on standard output; guesses are marked with ~."""
    whole = total([one for *_, one in rows])
    if as_json:
        keys = ("story", "runner", "model", "agents")
        stories = [dict(zip(keys, words, strict=True)) | _told(one) for *words, one in rows]
        console.print_json({"stories": stories, **_told(whole)})
        return
    if not rows:
        console.result("nothing is left to pay for: every story has passed or waits for a person")
        return
    console.table(
        ("story", "runner", "model", "agents", "cost"),
        [
            (story, runner, model or NONE, str(agents), _likely(one))
            for story, runner, model, agents, one in rows
        ],
    )
    console.result(f"likely, one attempt each: {_likely(whole)}")


def _told(one: Estimate) -> dict[str, object]:
    return {"usd": one.micros / MICROS, "is_known": one.is_known}


def _likely(one: Estimate) -> str:
    usd = one.micros / MICROS
    return render_cost(usd, 0.0 if one.is_known else usd)


def cost_line(events: Sequence[Event]) -> str:
    """What the agents of *events* cost and used, in a line; empty where none was paid."""
    book = Book()
    book.take(events)
    calls = [call for call in book.calls.values() if call.source != UNUSED]
    if not calls:
        return ""
    row = _row("", calls)
    agents = counted(row.calls, "call")
    read, written = row.input_tokens, row.output_tokens
    tokens = f", {read} tokens read, {written} written" if read or written else ""
    return f"{render_cost(row.usd, row.estimated_usd)} ({agents}{tokens})"


_KEYS: dict[str, Callable[[Call], str]] = {
    "story": lambda call: call.story or NONE,
    "role": lambda call: call.role,
    "runner": lambda call: call.runner,
    "model": lambda call: call.answered_by or call.model or NONE,
}


def _headlines(view: BudgetView) -> Iterable[str]:
    yield f"spent on this plan: {_spent(view.total)}"
    if view.last_run is not None:
        limit = f" of {render_cost(view.last_limit_usd)}" if view.last_limit_usd else ""
        yield f"run {view.last_run.name}: {_spent(view.last_run)}{limit}"
    if view.run_limit_usd is None and view.story_limit_usd is None:
        yield "qloop.toml sets no limit: [limits] budget_usd, or --budget for one run"
    if view.story_limit_usd is not None:
        yield f"a story may cost {render_cost(view.story_limit_usd)}"
    if view.total.estimated_usd:
        yield f"~ holds a guess: {render_cost(view.total.estimated_usd)} that no agent told of"


def _spent(row: CostRow) -> str:
    reserved = f", {render_cost(row.reserved_usd)} reserved" if row.reserved_usd else ""
    return f"{render_cost(row.usd, row.estimated_usd)}{reserved}"


def _last_run(book: Book, calls: Sequence[Call]) -> CostRow | None:
    if not calls:
        return None
    run = calls[-1].run
    return _row(run, [call for call in calls if book.account(call.run) == book.account(run)])


def _limit_of(events: Sequence[Event], run: str) -> float | None:
    begun = (one for one in events if one.event is EventKind.RUN_STARTED and one.run == run)
    limits = [one.data.get("budget_usd") for one in begun]
    return next((float(one) for one in limits if isinstance(one, int | float)), None)


def _rows(calls: Sequence[Call], key: Callable[[Call], str]) -> tuple[CostRow, ...]:
    groups: dict[str, list[Call]] = {}
    for call in calls:
        groups.setdefault(key(call), []).append(call)
    return tuple(_row(name, group) for name, group in sorted(groups.items()))


def _row(name: str, calls: Sequence[Call]) -> CostRow:
    return CostRow(
        name=name,
        calls=len(calls),
        usd=total_usd(calls),
        estimated_usd=total_usd(call for call in calls if call.source == ESTIMATED),
        reserved_usd=sum(call.reserved_micros or 0 for call in calls if call.is_open) / MICROS,
        input_tokens=sum(call.input_tokens for call in calls),
        output_tokens=sum(call.output_tokens for call in calls),
    )


def _cells(row: CostRow) -> tuple[str, ...]:
    return (
        row.name,
        str(row.calls),
        render_cost(row.usd, row.estimated_usd),
        render_cost(row.reserved_usd) if row.reserved_usd else "",
        str(row.input_tokens) if row.input_tokens else "",
        str(row.output_tokens) if row.output_tokens else "",
    )
