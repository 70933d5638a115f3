"""What agents cost so far, read from the journal: every call, reserved, at work or settled. Pure.

A run that died or was interrupted is gone on with by the next one: both have one account. One that
ended in order has closed its account, and the next run begins a new one.

Units: United States dollars, in sums as whole millionths (`_micros`), so that sums are exact.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from qloop.state.facts import EventKind
from qloop.state.likeness import AnyEvent

MICROS = 1_000_000
IMPLEMENTER = "implementer"
ESTIMATED = "estimated"
"""The source of a cost that is a guess."""
UNUSED = "unused"
"""The source where what was reserved was given back: no agent was started."""
UNFINISHED = ("INTERRUPTED",)
"""How a run ends that the next one goes on with, beside one that has no end."""


def to_micros(usd: float) -> int:
    """Dollars as whole millionths."""
    return round(usd * MICROS)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an agent: what was reserved for it and what it cost."""

    id: str
    run: str
    story: str | None
    attempt: int | None
    role: str
    runner: str
    model: str | None
    """The one that was asked for; None where that was left to the runner."""
    answered_by: str | None = None
    """The model that the agent told of."""
    reserved_micros: int | None = None
    """None where nothing was reserved: no budget was set."""
    cost_micros: int | None = None
    """None while it is not settled."""
    source: str | None = None
    """`reported`, `priced`, `estimated` or `unused`; None while it is not settled."""
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def is_open(self) -> bool:
        """Whether something is reserved for it and what it cost is not known yet."""
        return self.cost_micros is None

    @property
    def held_micros(self) -> int:
        """What it cost, else what is reserved for it."""
        return (self.reserved_micros or 0) if self.cost_micros is None else self.cost_micros

    @property
    def is_known(self) -> bool:
        """Whether its cost is more than a guess."""
        return self.cost_micros is not None and self.source not in (ESTIMATED, UNUSED)


def total_usd(calls: Iterable[Call]) -> float:
    """What has been settled for *calls*, in dollars."""
    return sum(call.cost_micros or 0 for call in calls) / MICROS


@dataclass(frozen=True, slots=True)
class Amounts:
    """What a run or a story has spent, and what is reserved for calls that are not settled."""

    spent_micros: int = 0
    reserved_micros: int = 0

    def plus(self, call: Call) -> "Amounts":
        """With one more call."""
        if call.cost_micros is not None:
            return replace(self, spent_micros=self.spent_micros + call.cost_micros)
        return replace(self, reserved_micros=self.reserved_micros + (call.reserved_micros or 0))

    def minus(self, call: Call) -> "Amounts":
        """Without one call."""
        if call.cost_micros is not None:
            return replace(self, spent_micros=self.spent_micros - call.cost_micros)
        return replace(self, reserved_micros=self.reserved_micros - (call.reserved_micros or 0))


@dataclass(frozen=True, slots=True)
class Spent:
    """What some calls have cost or hold reserved."""

    usd: float
    guessed_usd: float = 0.0
    """The part of it that no agent told of: guesses, and what is reserved."""


@dataclass(slots=True)
class Book:
    """All calls that a journal tells of, and their sums, kept as events come in."""

    calls: dict[str, Call] = field(default_factory=dict)
    _accounts: dict[str, str] = field(default_factory=dict)
    """Each run's account: the first of the runs that were gone on with."""
    _branches: dict[str, str] = field(default_factory=dict)
    _last: str | None = None
    _by_account: dict[str, Amounts] = field(default_factory=dict)
    _by_story: dict[tuple[str, str], Amounts] = field(default_factory=dict)

    def take(self, events: Iterable[AnyEvent]) -> None:
        """Take in the events that came next."""
        for event in events:
            match event.event:
                case EventKind.RUN_STARTED:
                    self._begin(event)
                case EventKind.RUN_ENDED:
                    if event.data.get("signal") not in UNFINISHED and self._last == event.run:
                        self._last = None
                case EventKind.BUDGET_RESERVED | EventKind.BUDGET_SETTLED:
                    self._note(event)
                case _:
                    pass

    def of_run(self, run: str) -> Amounts:
        """What the account of a run comes to."""
        return self._by_account.get(self.account(run), Amounts())

    def account(self, run: str) -> str:
        """The account that a run pays from: the first of the runs that were gone on with."""
        return self._accounts.get(run, run)

    def carried(self, branch: str) -> Amounts:
        """What stands already on the account of a run on *branch* that would begin now."""
        goes_on = self._last is not None and self._branches.get(self._last) == branch
        return self.of_run(self._last or "") if goes_on else Amounts()

    def of_story(self, run: str, story: str) -> Amounts:
        """What a story has cost on the branch of a run, over all runs."""
        return self._by_story.get((self._branches.get(run, ""), story), Amounts())

    def spent_by(self, runs: Collection[str]) -> Spent:
        """What the calls of some runs have cost or hold reserved."""
        calls = [call for call in self.calls.values() if call.run in runs]
        guessed = sum(call.held_micros for call in calls if not call.is_known)
        return Spent(sum(call.held_micros for call in calls) / MICROS, guessed / MICROS)

    def open_calls(self) -> list[Call]:
        """Those not settled, in the order in which they were reserved."""
        return [call for call in self.calls.values() if call.is_open]

    def _begin(self, event: AnyEvent) -> None:
        branch = str(event.data.get("branch") or "")
        goes_on = self._last is not None and self._branches.get(self._last) == branch
        self._accounts[event.run] = self.account(self._last or "") if goes_on else event.run
        self._branches[event.run] = branch
        self._last = event.run

    def _note(self, event: AnyEvent) -> None:
        call_id = event.data.get("call")
        if not isinstance(call_id, str):
            return
        before = self.calls.get(call_id)
        after = _noted(before or _call(call_id, event), event)
        self.calls[call_id] = after
        keys = (self.account(after.run), (self._branches.get(after.run, ""), after.story or ""))
        for sums, key in ((self._by_account, keys[0]), (self._by_story, keys[1])):
            _move(sums, key, before, after)


def _move(sums: dict[Any, Amounts], key: Any, before: Call | None, after: Call) -> None:
    held = sums.get(key, Amounts())
    sums[key] = (held if before is None else held.minus(before)).plus(after)


def _call(call_id: str, event: AnyEvent) -> Call:
    data = event.data
    return Call(
        id=call_id,
        run=event.run,
        story=event.story,
        attempt=event.attempt,
        role=_text(data.get("role")) or IMPLEMENTER,
        runner=_text(data.get("runner")) or "",
        model=_text(data.get("model")),
    )


def _noted(call: Call, event: AnyEvent) -> Call:
    data = event.data
    if event.event is EventKind.BUDGET_RESERVED:
        return replace(call, reserved_micros=to_micros(_number(data.get("usd"))))
    return replace(
        call,
        answered_by=_text(data.get("answered_by")),
        cost_micros=to_micros(_number(data.get("usd"))),
        source=_text(data.get("source")) or ESTIMATED,
        input_tokens=int(_number(data.get("input_tokens"))),
        output_tokens=int(_number(data.get("output_tokens"))),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: object) -> float:
    """A number that is no less than nothing."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return max(0.0, float(value)) if is_number else 0.0  # type: ignore[arg-type]
