"""Paying for agents: something is reserved before each one starts, and settled when it has ended.

The journal is the book, and one lock makes reading it and writing a reservation a single step,
for however many processes of a run. Where no limit is set nothing is reserved, only settled.

Units: United States dollars. Errors: OSError.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qloop.agents.manifest import SHELL
from qloop.agents.prices import cost_of
from qloop.agents.reading import Reading
from qloop.run.desk import Desk
from qloop.run.orders import Dispatch, Reserved, Terms
from qloop.state.budget import (
    Limits,
    Refused,
    decide,
    default_micros,
    estimate,
    share_out,
    total,
)
from qloop.state.journal import EventKind, Journal
from qloop.state.spending import ESTIMATED, MICROS, UNUSED, Book
from qloop.system import files
from qloop.system.errors import PersonNeeded

RAISE_IT = "give more: --budget, or [limits] in qloop.toml"


class BudgetReached(PersonNeeded):
    """The budget has nothing left for an agent; a person may raise it."""


@dataclass(frozen=True, slots=True)
class Call:
    """An agent that is about to be started, as far as money is concerned."""

    role: str
    runner: str
    model: str | None
    wave: str | None = None
    story: str | None = None
    attempt: int | None = None

    def facts(self, call_id: str) -> dict[str, Any]:
        """What the journal notes of it."""
        return {"call": call_id, "role": self.role, "runner": self.runner, "model": self.model}


@dataclass(slots=True)
class Purse:
    """What a process knows of the run's money; all processes of the run spend from one purse."""

    journal: Journal
    limits: Limits
    _book: Book = field(default_factory=Book)
    _offset: int = 0

    def reserve(self, calls: Sequence[Call]) -> tuple[Reserved, ...] | Refused:
        """Reserve for each of *calls*, of one story or of none, or for none of them and tell why.

        Nothing is reserved for a story's own commands, and where no limit is set.
        """
        paid = [call for call in calls if call.runner != SHELL]
        if not self.limits.is_set or not paid:
            return ()
        with files.locked(self._lock):
            book, run, story = self._read(), self.journal.run_id, paid[0].story
            known = tuple(book.calls.values())
            asked = [estimate(known, call.role, call.runner, call.model) for call in paid]
            own = book.of_story(run, story or "")
            granted = decide(total(asked), story, book.of_run(run), own, self.limits)
            if isinstance(granted, Refused):
                return granted
            shares = share_out(granted, asked)
            return tuple(map(self._write, paid, shares))

    def _write(self, call: Call, micros: int) -> Reserved:
        reserved = Reserved(role=call.role, call=new_call_id(), usd=micros / MICROS)
        self.journal.append(
            EventKind.BUDGET_RESERVED,
            wave=call.wave,
            story=call.story,
            attempt=call.attempt,
            **call.facts(reserved.call),
            usd=reserved.usd,
        )
        return reserved

    def close(self, one: Dispatch, *, died: bool) -> None:
        """Settle what is still reserved for a dispatch that has ended.

        Agents that never started cost nothing; where its coordinator *died*, nobody knows, and
        each counts with what was reserved for it.
        """
        if one.reserved:
            self._settle_open({reserved.call for reserved in one.reserved}, died=died)

    def close_dead(self) -> int:
        """Settle what runs that are gone left reserved, and return how many calls that were."""
        return self._settle_open(None, died=True)

    def _settle_open(self, only: set[str] | None, *, died: bool) -> int:
        with files.locked(self._lock):
            left = [one for one in self._read().open_calls() if only is None or one.id in only]
            for one in left:
                usd = (one.reserved_micros or 0) / MICROS if died else 0.0
                source = ESTIMATED if died else UNUSED
                self.journal.append(
                    EventKind.BUDGET_SETTLED,
                    story=one.story,
                    attempt=one.attempt,
                    **Call(one.role, one.runner, one.model).facts(one.id),
                    usd=usd,
                    source=source,
                )
        return len(left)

    def _read(self) -> Book:
        events, self._offset = self.journal.read_from(self._offset)
        self._book.take(events)
        return self._book

    @property
    def _lock(self) -> Path:
        return self.journal.path.with_name("budget.lock")


def open_purse(terms: Terms) -> Purse:
    """The purse of a run, for one of its processes."""
    limits = Limits(terms.limits.run_usd, terms.limits.story_usd)
    return Purse(Journal(Path(terms.place.private) / "events.jsonl", terms.run_id), limits)


def new_call_id() -> str:
    """A name that no other call has."""
    return f"c-{secrets.token_hex(8)}"


def claim(desk: Desk, call: Call) -> Reserved | None:
    """What was reserved for *call* at its dispatch, or is now. Raises BudgetReached.

    None where nothing has to be reserved.
    """
    reserved = desk.tickets.pop(call.role, None)
    if reserved is not None:
        return reserved
    made = open_purse(desk.terms).reserve([call])
    if isinstance(made, Refused):
        raise BudgetReached(made.text, fix=RAISE_IT)
    return made[0] if made else None


def settled_facts(call: Call, reserved: Reserved | None, reading: Reading) -> dict[str, Any]:
    """What the journal notes when a call has ended: its cost and how that is known.

    A call that its service refused before it used anything cost nothing.
    """
    guess = reserved.usd if reserved is not None else default_micros(call.role) / MICROS
    usage = reading.usage
    cost = cost_of(usage, reading.model or call.model, guess)
    usd, source = cost.usd, str(cost.source)
    used = usage.input_tokens or usage.output_tokens or usage.cost_usd or reading.recovered
    if reading.failed and reading.refused is not None and not used:
        usd, source = 0.0, UNUSED
    return {
        **call.facts(reserved.call if reserved is not None else new_call_id()),
        "answered_by": reading.model,
        "usd": round(usd, 6),
        "source": source,
        "input_tokens": usage.input_tokens,
        "cached_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
    }
