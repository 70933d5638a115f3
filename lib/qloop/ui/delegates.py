"""What delegates did for an attempt, in a line each. Pure.

Units: United States dollars (`_usd`); tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from qloop.system.counting import counted
from qloop.ui.amounts import render_cost
from qloop.ui.history import first_line
from qloop.ui.views import View

if TYPE_CHECKING:
    from collections.abc import Mapping

WORKER = "worker"
APPLIED = "applied"
WORDS = {
    APPLIED: "changed {target}: {text}",
    "put back": "changed {target}, which was put back: {text}",
    "left": "changed {target}, which somebody else changed too: {text}",
    "rejected": "did not change {target}: {text}",
    "failed": "did not change {target}: {text}",
}
"""What a worker's call came to."""
STOPPED = ("cancelled", "killed")


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegateRun(View):
    """One call of a delegate, or an extract that qloop made without one."""

    role: str
    reason: str
    """Why it was asked."""
    lines_in: int
    tokens_out: int
    truncated: bool
    source: str
    """`model` or `extract`."""
    outcome: str
    text: str
    """What a trace came to, or what became of a change."""
    target: str | None
    runner: str | None
    model: str | None
    usd: float
    cost_source: str | None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> DelegateRun:
        """The call that an event tells of."""
        names = ("role", "reason", "source", "outcome", "text")
        usd = data.get("usd")
        return cls(
            **{name: str(data.get(name) or "") for name in names},
            lines_in=_whole(data.get("lines_in")),
            tokens_out=_whole(data.get("tokens_out")),
            truncated=data.get("truncated") is True,
            target=_text(data.get("target")),
            runner=_text(data.get("runner")),
            model=_text(data.get("model")),
            usd=float(usd) if isinstance(usd, int | float) else 0.0,
            cost_source=_text(data.get("cost_source")),
        )


def delegate_words(one: DelegateRun) -> str:
    """The call in a line: what came of it, by whom, and what it cost."""
    text = first_line(one.text) if one.role == WORKER else " ".join(one.text.split())
    if one.outcome in STOPPED:
        return f"{one.role} was stopped{f': {text}' if text else ''}{_by(one)}"
    if one.role == WORKER:
        line = WORDS.get(one.outcome, "{text}").format(target=one.target, text=text)
        return f"{one.role} {line}{_by(one)}"
    size = f"{counted(one.lines_in, 'line')} to {counted(one.tokens_out, 'token')}"
    how = "an extract brings" if one.source != "model" else f"{one.role} compressed"
    cut = ", cut" if one.truncated else ""
    return f"{how} {size}{cut}: {text}{_by(one)}"


def _by(one: DelegateRun) -> str:
    if one.runner is None:
        return ""
    cost = render_cost(one.usd, one.usd if one.cost_source == "estimated" else 0.0)
    return f" ({', '.join(filter(None, [one.runner, one.model, cost]))})"


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
