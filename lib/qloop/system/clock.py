"""Reading time, and durations as people write them.

Units: seconds as float (`_s`); timestamps are UTC, RFC 3339, with milliseconds or microseconds.
Limits are counted on the monotonic clock, so a sleeping machine or a changed wall clock ends
nothing early.
"""

import re
import time
from datetime import UTC, datetime, timedelta

from qloop.system.errors import BadInput

_SECONDS = r"[0-9]{1,9}(?:\.[0-9]{1,9})?"
_DURATION = re.compile(rf"(?:([0-9]{{1,9}})h)?(?:([0-9]{{1,9}})m)?(?:({_SECONDS})s)?")
_BARE_SECONDS = re.compile(_SECONDS)


def utc_now() -> str:
    """The present moment, such as `2026-01-02T03:04:05.678Z`."""
    return _format(datetime.now(UTC), "milliseconds")


def utc_after(earlier: str | None) -> str:
    """The present moment in microseconds, but in any case later than *earlier*."""
    now = _format(datetime.now(UTC), "microseconds")
    if earlier is None or now > _pad(earlier):
        return now
    later = parse_utc(earlier).astimezone(UTC) + timedelta(microseconds=1)
    return _format(later, "microseconds")


def parse_utc(text: str) -> datetime:
    """A timestamp as a moment; one without a zone is UTC. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def monotonic_s() -> float:
    """Seconds on a clock that only goes forward."""
    return time.monotonic()


def epoch_s() -> float:
    """Seconds since the epoch, on the machine's wall clock."""
    return time.time()


def parse_duration_s(text: str) -> float:
    """`90s`, `15m`, `2h`, `1h30m` or a bare number of seconds. Raises BadInput."""
    word = text.strip().lower()
    if _BARE_SECONDS.fullmatch(word):
        return float(word)
    match = _DURATION.fullmatch(word)
    if not word or match is None:
        raise BadInput(f"{text!r} is no duration", fix="write it like 90s, 15m, 2h or 1h30m")
    hours, minutes, seconds = match.groups()
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + float(seconds or 0)


def render_duration(seconds: float) -> str:
    """A length of time for people: `0.4s`, `12s`, `3m05s`, `2h07m`."""
    if seconds < 10:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02d}m"


def _format(moment: datetime, timespec: str) -> str:
    return moment.isoformat(timespec=timespec).replace("+00:00", "Z")


def _pad(text: str) -> str:
    """*text* in the form of `utc_after`, so that comparing strings compares moments."""
    try:
        return _format(parse_utc(text).astimezone(UTC), "microseconds")
    except ValueError:
        return ""
