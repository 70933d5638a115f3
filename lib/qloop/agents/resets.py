"""When a limit ends, found in what an agent said of it. Pure.

A moment counts only after a word that announces one (`resets 3:53pm (UTC)`, `try again in 2 hours
5 minutes`, `retry-after: 90`, `"resets_at": 1796054030`), or as `|1796054030` at a line's end.
Units: seconds since the epoch.
"""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

JUST_PASSED_S = 300.0
"""A moment that passed so lately is meant as it stands, and not a day or a year later."""
FARTHEST_S = 32 * 86_400.0
"""No limit lasts longer; what lies farther off was misread."""

_ANNOUNCED = re.compile(
    r"\b(?:resets?|reset[-_ ]?(?:s[-_ ]?)?(?:at|time|after)|(?P<span>resets?_in_seconds"
    r"|retry[-_ ]?(?:after|delay)(?:[-_ ]?seconds)?)|retry|again|until|available|renews|refreshes"
    r"|wait)\b[\s\"'·:=(]*(?:(?:at|on|in|after|by|for|until)\b[\s\"':=(]*)?",
    re.IGNORECASE,
)
_REST = 80
"""So many characters after the announcing word may hold the moment."""
_BARE_EPOCH = re.compile(r"\|\s*([0-9]{10})\b")
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?)(?![0-9:.\w])(?!\s*[ap]m\b)", re.IGNORECASE)
_UNIT = (
    r"(?P<ms>ms|milliseconds?)|(?P<d>d|days?)|(?P<h>h|hrs?|hours?)"
    r"|(?P<m>m|mins?|minutes?)|(?P<s>s|secs?|seconds?)"
)
_SPAN = re.compile(rf"(?:,|\band\b|\s)*([0-9]+(?:\.[0-9]+)?)\s*(?:{_UNIT})(?![a-z])", re.IGNORECASE)
_UNIT_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_ISO = re.compile(
    r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})[T ](?P<rest>[0-9]{2}:.*)", re.DOTALL
)
_CLOCK = re.compile(
    r"(?P<hour>[0-9]{1,2})(?::(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:\.[0-9]+)?)?)?"
    r"(?:\s*(?P<half>[ap])\.?m\b\.?)?",
    re.IGNORECASE,
)
_ZONE = re.compile(
    r"\s*\(?(?:(?P<name>[A-Za-z][A-Za-z_]+(?:/[A-Za-z0-9_+-]+)+)"
    r"|(?:UTC|GMT)?(?P<sign>[+-])(?P<hours>[0-9]{1,2}):?(?P<minutes>[0-9]{2})?"
    r"|(?P<short>Z|[A-Z]{3,4}))(?![A-Za-z0-9])"
)
_SHORT_ZONES = {"Z": 0, "UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5}
_SHORT_ZONES |= {"MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "CET": 1, "CEST": 2, "JST": 9}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DATE = re.compile(
    r"(?:(?P<weekday>mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s*(?:at\s+)?)?"
    r"(?:(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+"
    r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?\b(?!:)"
    r"|(?P<day2>[0-9]{1,2})\s+(?P<month2>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
    r"|(?P<near>today|tomorrow)\b)?"
    r"(?:,?\s+(?P<year>[0-9]{4})\b(?!:))?(?:,|\s|\bat\b)*",
    re.IGNORECASE,
)


def find_reset_s(text: str, now_s: float, local: tzinfo | None = None) -> float | None:
    """The first moment that *text* announces, seen from *now_s*; None where none can be read.

    A time without a zone is one of *local*, else of this machine.
    """
    for found in _moments(text, _FromNow(now_s, local)):
        if found is not None and now_s - JUST_PASSED_S <= found <= now_s + FARTHEST_S:
            return found
    return None


def given_reset_s(number: float, now_s: float) -> float | None:
    """The moment that an agent gave as a number of seconds or milliseconds since the epoch.

    None where it is farther off than any limit lasts.
    """
    near = (one for one in (number, number / 1000) if abs(one - now_s) <= FARTHEST_S)
    return next(near, None)


def _moments(text: str, seen: "_FromNow") -> Iterator[float | None]:
    bare = _BARE_EPOCH.search(text)
    if bare is not None:
        yield float(bare.group(1))
    for word in _ANNOUNCED.finditer(text):
        rest = text[word.end() : word.end() + _REST]
        if word.group("span") is not None:
            yield seen.seconds(rest)
        for read in seen.ways():
            yield read(rest)


class _FromNow:
    """The ways to read a moment at the start of a text, each from one present moment."""

    def __init__(self, now_s: float, local: tzinfo | None) -> None:
        self._now_s = now_s
        self._local = local

    def ways(self) -> tuple[Callable[[str], float | None], ...]:
        """From the most exact form to the least."""
        return (self.span, self.epoch, self.iso, self.clock)

    def seconds(self, text: str) -> float | None:
        """A number of seconds from now."""
        found = _NUMBER.match(text)
        if found is None or len(found.group(1).partition(".")[0]) > 8:
            return None
        return self._now_s + float(found.group(1))

    def epoch(self, text: str) -> float | None:
        """Seconds or milliseconds since the epoch."""
        found = _NUMBER.match(text)
        digits = len(found.group(1).partition(".")[0]) if found is not None else 0
        if found is None or digits not in (10, 13):
            return None
        return float(found.group(1)) / (1000 if digits == 13 else 1)

    def span(self, text: str) -> float | None:
        """Such as `2 hours 5 minutes` or `3h20m5s`, from now."""
        total, place = 0.0, 0
        while (found := _SPAN.match(text, place)) is not None:
            unit = found.lastgroup
            total += float(found.group(1)) * _UNIT_S[unit or "s"]
            place = found.end()
        return self._now_s + total if place else None

    def iso(self, text: str) -> float | None:
        """RFC 3339, also with a blank for the T, and with a zone's name."""
        found = _ISO.match(text)
        if found is None:
            return None
        clock = _CLOCK.match(found["rest"])
        if clock is None:
            return None
        zone, known = _zone(found["rest"][clock.end() :], self._local)
        day = _day(int(found["year"]), int(found["month"]), int(found["day"]))
        time = _time_of(clock)
        if day is None or time is None or not known:
            return None
        return next(iter(_instants(day + time, zone)), None)

    def clock(self, text: str) -> float | None:
        """A time of day, a date, or both: the next one, but for one that has just passed."""
        date = _DATE.match(text)
        rest = text[date.end() :] if date is not None else text
        clock = _CLOCK.match(rest)
        time = _time_of(clock) if clock is not None and (clock["minute"] or clock["half"]) else None
        dated = date is not None and any(date.groups())
        if time is None and not dated:
            return None
        end = clock.end() if time is not None and clock is not None else 0
        zone, known = _zone(rest[end:], self._local)
        if not known:
            return None
        days = self._days(date if dated else None, zone)
        found = [one for day in days for one in _instants(day + (time or timedelta()), zone)]
        return min((one for one in found if one >= self._now_s - JUST_PASSED_S), default=None)

    def _days(self, date: re.Match[str] | None, zone: tzinfo | None) -> list[datetime]:
        """The days that may be meant, as midnights without a zone."""
        present = datetime.fromtimestamp(self._now_s, zone).replace(tzinfo=None)
        today = present.replace(hour=0, minute=0, second=0, microsecond=0)
        near = [today + timedelta(days=number) for number in range(-1, 9)]
        if date is None:
            return near[:4]
        month = date["month"] or date["month2"]
        if month is not None:
            number = _MONTHS.index(month.lower()) + 1
            day = int(date["day"] or date["day2"])
            years = [int(date["year"])] if date["year"] else [today.year + n for n in (-1, 0, 1)]
            return [one for year in years if (one := _day(year, number, day)) is not None]
        if date["near"] is not None:
            return [today + timedelta(days=int(date["near"].lower() == "tomorrow"))]
        if date["weekday"] is None:
            return []
        number = _WEEKDAYS.index(date["weekday"].lower())
        return [one for one in near if one.weekday() == number]


def _day(year: int, month: int, day: int) -> datetime | None:
    try:
        return datetime(year, month, day)  # noqa: DTZ001 -- the zone is put to it later
    except ValueError:
        return None


def _time_of(clock: re.Match[str]) -> timedelta | None:
    hour, minute, second = (int(clock[name] or 0) for name in ("hour", "minute", "second"))
    half = (clock["half"] or "").lower()
    if half and not 1 <= hour <= 12:
        return None
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    return timedelta(hours=hour, minutes=minute, seconds=second)


def _zone(text: str, local: tzinfo | None) -> tuple[tzinfo | None, bool]:
    """The zone named at the start of *text*, *local* without one, and whether it is known."""
    found = _ZONE.match(text)
    if found is None:
        return local, True
    if found["name"] is not None:
        try:
            return ZoneInfo(found["name"]), True
        except (ZoneInfoNotFoundError, ValueError, OSError):
            return None, False
    if found["sign"] is not None:
        ahead = timedelta(hours=int(found["hours"]), minutes=int(found["minutes"] or 0))
        if ahead >= timedelta(days=1):
            return None, False
        return timezone(-ahead if found["sign"] == "-" else ahead), True
    if found["short"] == "Z":
        return UTC, True
    hours = _SHORT_ZONES.get(found["short"])
    return (None, False) if hours is None else (timezone(timedelta(hours=hours)), True)


def _instants(moment: datetime, zone: tzinfo | None) -> list[float]:
    """The instants at which a zone's clocks show *moment*, where they are set back two.

    None for a moment at either end of the calendar.
    """
    try:
        return sorted({moment.replace(tzinfo=zone, fold=fold).timestamp() for fold in (0, 1)})
    except (ValueError, OverflowError, OSError):
        return []
