"""Pausing runners in words. Units: seconds since the epoch."""

import math
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from qloop.state.likeness import AnyEvent
from qloop.state.pauses import Pause, find_pauses
from qloop.system.clock import parse_utc, render_duration

CAUSES = {
    "usage_limit": "usage limit",
    "overload": "its service is overloaded",
    "network": "its service is out of reach",
}
DAY_S = 86_400


class PauseView(NamedTuple):
    """A runner that gets no story for now."""

    runner: str
    cause: str
    """`usage_limit`, `authentication`, `overload` or `network`."""
    why: str
    until: str | None
    """None where a person must act."""


def view_pauses(events: Iterable[AnyEvent], now_s: float) -> tuple[PauseView, ...]:
    """The pauses that are on after *events*."""
    pauses = find_pauses(events).values()
    return tuple(
        PauseView(runner=one.runner, cause=one.cause, why=one.why, until=one.until)
        for one in pauses
        if one.lasts(now_s)
    )


def render_view(view: PauseView, now_s: float) -> str:
    """One pause of a status, as `render_pause` has it."""
    until_s = parse_utc(view.until).timestamp() if view.until is not None else None
    return render_pause(Pause(view.runner, view.cause, view.why, until_s), now_s)


def render_pauses(events: Iterable[AnyEvent], now_s: float) -> tuple[str, ...]:
    """The pauses that are on after *events*, a line each."""
    pauses = find_pauses(events).values()
    return tuple(render_pause(pause, now_s) for pause in pauses if pause.lasts(now_s))


def render_pause(pause: Pause, now_s: float) -> str:
    """One pause: of which runner, for how long still, and why."""
    if pause.until_s is None:
        return f"{pause.runner} is not let in, log in or give its key: {pause.why}"
    left = _whole_seconds(pause.until_s - now_s)
    cause = CAUSES.get(pause.cause, pause.cause)
    until = _local_time(pause.until_s, now_s)
    return f"{pause.runner} pauses for {left}, until {until} ({cause}): {pause.why}"


def _whole_seconds(seconds: float) -> str:
    """What is left, never less than a second: it is drawn again and again."""
    whole = max(1, math.ceil(seconds))
    return f"{whole}s" if whole < 10 else render_duration(whole)


def _local_time(moment_s: float, now_s: float) -> str:
    """A moment on this machine's clocks, with its day where that is not clear."""
    moment = datetime.fromtimestamp(moment_s).astimezone()
    return f"{moment:%H:%M:%S}" if moment_s - now_s < DAY_S / 2 else f"{moment:%a %d %b %H:%M}"
