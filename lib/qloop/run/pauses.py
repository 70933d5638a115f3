"""Which runners pause, and until when: one value, and what each hindrance makes of it. Pure.

Units: seconds; instants are seconds since the epoch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from qloop.agents.hindrances import Cause
from qloop.plan.model import Phase
from qloop.run.call_end import PASSING
from qloop.run.orders import Failed, Hindered
from qloop.state.pauses import Pause

UNCHARGED = 3
"""So many times in a row an overloaded or unreachable service is not charged to a story."""
UNREAD_S = 300.0
"""The first wait for a limit whose end cannot be read; doubled each time, to LONGEST_UNREAD_S."""
LONGEST_UNREAD_S = 3600.0
RETRY_S = 2.0
"""The first wait for an overloaded service, half of it by chance; then RETRY_GROWTH times as long
as the last one, to LONGEST_RETRY_S: what keeps a service away for minutes must not use up tries.

A limit waits as long at least: told to the minute, its end may seem to have passed.
"""
RETRY_GROWTH = 4.0
LONGEST_RETRY_S = 300.0


@dataclass(frozen=True, slots=True)
class Pauses:
    """The runners that pause now, and how often in a row each was kept from working."""

    by_runner: Mapping[str, Pause] = field(default_factory=dict)
    in_a_row: Mapping[str, int] = field(default_factory=dict)

    def is_paused(self, runner: str) -> bool:
        """Whether a runner gets no story now."""
        return runner in self.by_runner

    @property
    def next_end_s(self) -> float | None:
        """When the first pause ends that ends by itself."""
        ends = [one.until_s for one in self.by_runner.values() if one.until_s is not None]
        return min(ends, default=None)

    def hindered(self, hindered: Hindered, now_s: float, chance: float) -> "Pauses":
        """After a runner was kept from working; *chance*, in 0 to 1, spreads out the retries.

        What was at work when the runner paused may be hindered as well: that makes a pause
        longer at most, and no wait double.
        """
        runner = hindered.runner
        former = self.by_runner.get(runner)
        count = self.in_a_row.get(runner, 0) + int(former is None)
        until_s = _until_s(hindered, max(count, 1), now_s, chance)
        if former is not None and not _is_longer(until_s, former.until_s):
            return self
        pause = Pause(runner, str(hindered.cause), hindered.text, until_s)
        return Pauses({**self.by_runner, runner: pause}, {**self.in_a_row, runner: count})

    def worked(self, runner: str) -> "Pauses":
        """After a runner could do its work: the next wait is a first one again."""
        if runner not in self.in_a_row:
            return self
        return replace(self, in_a_row=_without(self.in_a_row, runner))

    def ended(self, now_s: float) -> tuple["Pauses", tuple[str, ...]]:
        """What still pauses, and the runners whose pause has ended."""
        over = tuple(
            name
            for name, pause in self.by_runner.items()
            if pause.until_s is not None and pause.until_s <= now_s
        )
        left = {name: pause for name, pause in self.by_runner.items() if name not in over}
        return (replace(self, by_runner=left), over) if over else (self, ())


def charge(failed: Failed, in_a_row: int) -> Failed:
    """A failure as it is charged, where it is the *in_a_row*-th of its kind for its story."""
    hindered = failed.hindered
    if hindered is None or hindered.cause not in PASSING or in_a_row <= UNCHARGED:
        return failed
    reason = f"{failed.reason} ({in_a_row} times in a row)"
    return failed.model_copy(
        update={"phase": Phase.AGENT_FAILED, "reason": reason, "charged": True}
    )


def kept(pauses: Mapping[str, Pause], now_s: float) -> Pauses:
    """Of a dead run's pauses, the limits that still last; a person may have mended the rest."""
    lasting = {
        name: pause
        for name, pause in pauses.items()
        if pause.cause == Cause.USAGE_LIMIT and pause.lasts(now_s)
    }
    return Pauses(lasting, dict.fromkeys(lasting, 1))


def _until_s(hindered: Hindered, count: int, now_s: float, chance: float) -> float | None:
    if hindered.cause is Cause.AUTHENTICATION:
        return None
    whole_s = min(RETRY_S * RETRY_GROWTH ** min(count - 1, 20), LONGEST_RETRY_S)
    retry_s = whole_s * (1 + chance) / 2
    given_s = hindered.resets_at_s
    if hindered.cause is not Cause.USAGE_LIMIT:
        return max(now_s + retry_s, given_s or 0.0)
    if given_s is None:
        return now_s + min(UNREAD_S * 2.0 ** min(count - 1, 20), LONGEST_UNREAD_S)
    return max(given_s, now_s + retry_s)


def _is_longer(new_s: float | None, old_s: float | None) -> bool:
    if old_s is None:
        return False
    return new_s is None or new_s > old_s


def _without(counts: Mapping[str, int], name: str) -> dict[str, int]:
    return {other: count for other, count in counts.items() if other != name}
