"""What is reserved for agents, and when nothing is: decisions over amounts."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qloop.state.budget import (
    Estimate,
    Limits,
    Refused,
    decide,
    default_micros,
    estimate,
    render_usd,
)
from qloop.state.journal import Event, EventKind
from qloop.state.spending import Amounts, Book, Call

KNOWN = Estimate(400_000, True)
DEFAULT = Estimate(1_000_000, False)


@pytest.mark.parametrize(
    ("asked", "run", "limit", "granted"),
    [
        (KNOWN, Amounts(), 1.0, 400_000),
        (KNOWN, Amounts(600_000), 1.0, 400_000),
        (KNOWN, Amounts(600_001), 1.0, None),
        (KNOWN, Amounts(0, 600_001), 1.0, None),
        (KNOWN, Amounts(), 0.3, None),
        (DEFAULT, Amounts(), 0.3, 300_000),
        (DEFAULT, Amounts(1), 0.3, None),
        (DEFAULT, Amounts(0, 1), 0.3, None),
        (Estimate(0, True), Amounts(300_000), 0.3, 0),
    ],
)
def test_a_call_is_granted_what_it_is_taken_to_cost(
    asked: Estimate, run: Amounts, limit: float, granted: int | None
) -> None:
    """Up to the limit; a first call whose cost nobody knows may have all that there is."""
    found = decide(asked, "A-1", run, Amounts(), Limits(run_usd=limit))

    assert (None if isinstance(found, Refused) else found) == granted


def test_a_story_has_a_limit_of_its_own() -> None:
    """It stops the story, not the run; a call of no story is not bound by it."""
    limits = Limits(run_usd=10.0, story_usd=1.0)
    spent = Amounts(800_000)

    found = decide(KNOWN, "A-1", spent, spent, limits)

    assert isinstance(found, Refused)
    assert (found.scope, found.story, found.may_change) == ("story", "A-1", False)
    assert "$0.80" in found.text
    assert "$1.00" in found.text
    assert decide(KNOWN, None, spent, Amounts(), limits) == 400_000


def test_a_refusal_may_change_while_others_are_at_work() -> None:
    """What is reserved may turn out cheaper than was thought."""
    found = decide(KNOWN, None, Amounts(0, 900_000), Amounts(), Limits(run_usd=1.0))

    assert isinstance(found, Refused)
    assert found.may_change
    assert "reserved" in found.text


def call(number: int, micros: int | None, source: str = "reported", **more: str) -> Call:
    """A settled call of an implementer."""
    return Call(
        id=f"c-{number}",
        run="r-1",
        story="A-1",
        attempt=1,
        role=more.get("role", "implementer"),
        runner=more.get("runner", "claude"),
        model=more.get("model"),
        cost_micros=micros,
        source=source,
    )


def test_calls_of_a_kind_tell_what_the_next_one_costs() -> None:
    """The mean of runner, model and role, rounded up; guesses and other kinds tell nothing."""
    calls = [
        call(1, 100_000),
        call(2, 200_001),
        call(3, 900_000, source="estimated"),
        call(4, 0, source="unused"),
        call(5, None),
        call(6, 900_000, runner="codex"),
        call(7, 900_000, model="opus"),
        call(8, 900_000, role="spec-reviewer"),
    ]

    assert estimate(calls, "implementer", "claude", None) == Estimate(150_001, True)
    assert estimate(calls, "implementer", "claude", "opus") == Estimate(900_000, True)
    assert not estimate(calls, "planner", "claude", None).is_known
    assert estimate([], "implementer", "x", None).micros == default_micros("implementer")


@dataclass
class Till:
    """A journal as processes would write it under the lock, and what may never be exceeded."""

    limits: Limits
    book: Book = field(default_factory=Book)
    open: list[tuple[str, str, int]] = field(default_factory=list)
    count: int = 0

    def reserve(self, story: str) -> None:
        """Ask for one more call of a story."""
        asked = estimate(self.book.calls.values(), "implementer", "claude", None)
        run, own = self.book.of_run("r-1"), self.book.of_story("r-1", story)
        found = decide(asked, story, run, own, self.limits)
        if isinstance(found, Refused):
            return
        name = f"c-{self.count}"
        self._write(EventKind.BUDGET_RESERVED, story, call=name, usd=found / 1e6)
        self.open.append((name, story, found))
        for limit, held in (
            (self.limits.run_usd, self.book.of_run("r-1")),
            (self.limits.story_usd, self.book.of_story("r-1", story)),
        ):
            if limit is not None and found > 0:
                assert held.spent_micros + held.reserved_micros <= round(limit * 1e6)

    def settle(self, which: int, share: float) -> None:
        """Settle one of the open calls at a share of what was reserved for it."""
        if not self.open:
            return
        name, story, micros = self.open.pop(which % len(self.open))
        usd = micros * share / 1e6
        self._write(EventKind.BUDGET_SETTLED, story, call=name, usd=usd, source="reported")

    def _write(self, kind: EventKind, story: str, **data: object) -> None:
        self.count += 1
        facts = {"role": "implementer", "runner": "claude", **data}
        event = Event(seq=self.count, ts="x", run="r-1", event=kind, story=story, data=facts)
        self.book.take([event])


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("reserve"), st.sampled_from(["A-1", "B-1", "C-1"])),
        st.tuples(st.just("settle"), st.integers(0, 9), st.floats(0, 3)),
    ),
    max_size=60,
)
DOLLARS = st.one_of(st.none(), st.floats(0.001, 5))


@given(STEPS, DOLLARS, DOLLARS)
def test_nothing_is_reserved_beyond_a_limit(
    steps: list[tuple[object, ...]], run: float | None, story: float | None
) -> None:
    """Whatever the order of reserving and settling, and whatever calls cost in the end."""
    till = Till(Limits(run, story))
    for name, *words in steps:
        getattr(till, str(name))(*words)
    open_micros = sum(micros for _, _, micros in till.open)

    assert till.book.of_run("r-1").reserved_micros == open_micros


def test_amounts_for_people() -> None:
    """Cents, and more digits where there are none."""
    assert [render_usd(one) for one in (0, 4_200, 1_204_900)] == ["$0.00", "$0.0042", "$1.20"]
