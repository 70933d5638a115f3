"""What the agents of a phase took, as the journal tells."""

from qloop.mission.phase_desk import PhaseDesk
from qloop.state.facts import EventKind
from qloop.state.phase_events import Metrics
from qloop.state.spending import Book, total_usd


def phase_metrics(desk: PhaseDesk) -> Metrics:
    """Agents and money of the coordinator that is at work."""
    events = desk.journal.events(desk.order.run_id)
    book = Book()
    book.take(events)
    return Metrics(
        agents_spawned=sum(event.event is EventKind.AGENT_STARTED for event in events),
        cost_usd=total_usd(book.calls.values()),
    )
