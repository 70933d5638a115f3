"""The book of what agents cost, read from the journal's events."""

from typing import Any

from qloop.state.journal import Event, EventKind
from qloop.state.spending import Amounts, Book


def events(*rows: tuple[str, str, dict[str, Any]]) -> list[Event]:
    """Events of a run, a kind and data each; `story` in the data is the event's own."""
    return [
        Event(
            seq=number + 1,
            ts="2026-01-02T03:04:05.000Z",
            run=run,
            event=EventKind(kind),
            story=data.get("story"),
            data={key: value for key, value in data.items() if key != "story"},
        )
        for number, (run, kind, data) in enumerate(rows)
    ]


def reserved(run: str, call: str, usd: float, story: str = "A-1") -> tuple[str, str, Any]:
    """Something reserved."""
    return run, "budget.reserved", {"story": story, "call": call, "usd": usd}


def settled(run: str, call: str, usd: float, story: str = "A-1") -> tuple[str, str, Any]:
    """Something settled."""
    data = {"story": story, "call": call, "usd": usd, "source": "reported"}
    return run, "budget.settled", data


def started(run: str, branch: str = "ql/x") -> tuple[str, str, Any]:
    """A run's start."""
    return run, "run.started", {"branch": branch}


def ended(run: str, signal: str) -> tuple[str, str, Any]:
    """A run's end."""
    return run, "run.ended", {"signal": signal}


def book_of(*rows: tuple[str, str, Any]) -> Book:
    """The book of some events."""
    book = Book()
    book.take(events(*rows))
    return book


def test_a_call_is_reserved_then_settled() -> None:
    """What is settled is no longer reserved; a call without a reservation counts as well."""
    rows = (started("r-1"), reserved("r-1", "c-1", 1.0), reserved("r-1", "c-2", 0.5))

    before = book_of(*rows)
    after = book_of(*rows, settled("r-1", "c-1", 0.25), settled("r-1", "c-3", 0.1, "B-1"))

    assert before.of_run("r-1") == Amounts(0, 1_500_000)
    assert after.of_run("r-1") == Amounts(350_000, 500_000)
    assert after.of_story("r-1", "A-1") == Amounts(250_000, 500_000)
    assert [call.id for call in after.open_calls()] == ["c-2"]


def test_a_run_that_died_or_was_interrupted_is_gone_on_with() -> None:
    """The next run pays from the same account; one that ended in order closes it."""
    book = book_of(
        started("r-1"),
        reserved("r-1", "c-1", 1.0),
        started("r-2"),
        settled("r-2", "c-1", 1.0),
        ended("r-2", "INTERRUPTED"),
        started("r-3"),
        settled("r-3", "c-2", 0.5),
        ended("r-3", "WAITING"),
        started("r-4"),
        settled("r-4", "c-3", 0.25),
    )

    assert book.of_run("r-3") == Amounts(1_500_000)
    assert book.of_run("r-4") == Amounts(250_000)
    assert book.of_story("r-4", "A-1") == Amounts(1_750_000)


def test_another_branch_has_another_account() -> None:
    """A story of the same id on another branch is another story."""
    book = book_of(started("r-1", "a"), settled("r-1", "c-1", 1.0), started("r-2", "b"))

    assert book.of_run("r-2") == Amounts()
    assert book.of_story("r-2", "A-1") == Amounts()


def test_what_is_no_amount_counts_as_nothing() -> None:
    """A line that another hand wrote is no reason to fail."""
    book = book_of(
        ("r-1", "budget.reserved", {"usd": 1.0}),
        ("r-1", "budget.settled", {"call": "c-1", "usd": "much"}),
        ("r-1", "budget.settled", {"call": "c-2", "usd": -4}),
    )

    assert book.of_run("r-1") == Amounts()
