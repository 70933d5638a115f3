"""The purse of a run: one for however many processes, and it outlives all of them."""

import subprocess
import sys
from pathlib import Path

import pytest

from qloop.agents.reading import Reading, Refusal
from qloop.agents.usage import Usage
from qloop.run.orders import Reserved
from qloop.run.purse import Call, Purse, settled_facts
from qloop.state.budget import Limits, Refused
from qloop.state.journal import EventKind, Journal
from qloop.state.spending import Book, to_micros

LIMIT_USD = 5.0
REFUSED = (Refusal("429"),)
SPENDER = """
import sys
from pathlib import Path
from qloop.run.purse import Call, Purse
from qloop.state.budget import Limits
from qloop.state.journal import EventKind, Journal
journal = Journal(Path(sys.argv[1]), "r-1")
purse = Purse(journal, Limits(run_usd=5.0))
for number in range(8):
    found = purse.reserve([Call("implementer", "claude", None, story=f"{sys.argv[2]}-{number}")])
    if isinstance(found, tuple) and number % 2:
        facts = {"call": found[0].call, "role": "implementer", "runner": "claude", "model": None}
        journal.append(EventKind.BUDGET_SETTLED, **facts, usd=0.4, source="reported")
"""


def journal_in(folder: Path) -> Journal:
    """A journal of a run that has begun."""
    journal = Journal(folder / "events.jsonl", "r-1")
    journal.append(EventKind.RUN_STARTED, branch="ql/x")
    return journal


def test_processes_never_reserve_more_than_there_is(tmp_path: Path) -> None:
    """After every reservation, by whichever process, the limit holds."""
    journal = journal_in(tmp_path)
    words = [sys.executable, "-c", SPENDER, str(journal.path)]
    started = [subprocess.Popen([*words, name]) for name in "ABC"]

    assert [one.wait() for one in started] == [0, 0, 0]
    book, granted = Book(), 0
    for event in journal.events():
        book.take([event])
        if event.event is EventKind.BUDGET_RESERVED:
            granted += 1
            held = book.of_run("r-1")
            assert held.spent_micros + held.reserved_micros <= to_micros(LIMIT_USD)
    assert granted >= 5


def test_what_is_reserved_is_seen_by_the_next_process(tmp_path: Path) -> None:
    """A purse that is opened anew knows what is reserved, and settles what is dead."""
    journal = journal_in(tmp_path)
    limits = Limits(run_usd=1.0)
    call = Call("implementer", "claude", "opus", story="A-1", attempt=1)
    first = Purse(journal, limits).reserve([call])

    refused = Purse(journal, limits).reserve([call])
    closed = Purse(journal, limits).close_dead()
    again = Purse(journal, limits).close_dead()

    assert isinstance(first, tuple)
    assert [one.usd for one in first] == [1.0]
    assert isinstance(refused, Refused)
    assert refused.may_change
    assert (closed, again) == (1, 0)
    settled = journal.events()[-1]
    assert (settled.story, settled.attempt) == ("A-1", 1)
    assert (settled.data["usd"], settled.data["source"]) == (1.0, "estimated")


def test_without_a_limit_nothing_is_reserved(tmp_path: Path) -> None:
    """Nor is the journal touched; and a story's own commands are never paid for."""
    journal = journal_in(tmp_path)

    free = Purse(journal, Limits()).reserve([Call("implementer", "claude", None)])
    shell = Purse(journal, Limits(run_usd=0.1)).reserve([Call("implementer", "shell", None)])

    assert free == shell == ()
    assert len(journal.events()) == 1


def test_an_attempts_agents_are_paid_together_or_not_at_all(tmp_path: Path) -> None:
    """Where a story's reviewer could not be paid, its implementer is not started either."""
    purse = Purse(journal_in(tmp_path), Limits(run_usd=1.5))
    maker, reviewer = (
        Call(role, "claude", None, story="A-1") for role in ("implementer", "spec-reviewer")
    )

    granted = purse.reserve([maker, reviewer])
    refused = purse.reserve([maker, reviewer])

    assert isinstance(granted, tuple)
    assert [one.usd for one in granted] == [1.0, 0.25]
    assert isinstance(refused, Refused)
    assert len(purse.journal.events()) == 3


@pytest.mark.parametrize(
    ("reading", "cost"),
    [
        (Reading(), (0.5, "estimated")),
        (Reading(failed=True, refusals=REFUSED), (0.0, "unused")),
        (Reading(failed=True), (0.5, "estimated")),
        (Reading(failed=True, refusals=REFUSED, usage=Usage(cost_usd=0.0)), (0.0, "unused")),
        (Reading(failed=True, refusals=REFUSED * 2, recovered=1), (0.5, "estimated")),
        (
            Reading(failed=True, refusals=(Refusal("429"),), usage=Usage(cost_usd=0.2)),
            (0.2, "reported"),
        ),
    ],
)
def test_a_call_that_was_refused_at_once_cost_nothing(
    reading: Reading, cost: tuple[float, str]
) -> None:
    """What used tokens before a limit came is paid; what nothing is known of, as reserved."""
    reserved = Reserved(role="implementer", call="c-1", usd=0.5)

    facts = settled_facts(Call("implementer", "claude", None), reserved, reading)

    assert (facts["usd"], facts["source"]) == cost
