"""When limits end: the forms that agents print, from any moment, in any zone."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from qloop.agents.resets import FARTHEST_S, JUST_PASSED_S, find_reset_s, given_reset_s

NOW = datetime(2026, 11, 30, 14, 0, 30, tzinfo=UTC)


def read(text: str, now: datetime = NOW) -> datetime | None:
    """The moment that a text announces, on a machine whose clock shows UTC."""
    found = find_reset_s(text, now.timestamp(), UTC)
    return None if found is None else datetime.fromtimestamp(found, UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("You've hit your 5-hour limit · resets 3:53pm (UTC)", "2026-11-30T15:53:00"),
        ("Claude AI usage limit reached|1796054030", "2026-11-30T15:53:50"),
        ("resets 12am (Europe/Berlin)", "2026-11-30T23:00:00"),
        ("resets 12pm (Asia/Kolkata)", "2026-12-01T06:30:00"),
        ("Your limit will reset at 3pm (America/New_York).", "2026-11-30T20:00:00"),
        ("resets Dec 4, 3pm (America/New_York)", "2026-12-04T20:00:00"),
        ("resets on 4 Dec at 10:00 GMT", "2026-12-04T10:00:00"),
        ("resets Thursday 3pm (UTC)", "2026-12-03T15:00:00"),
        ("resets tomorrow at 9am UTC", "2026-12-01T09:00:00"),
        ("resets at 00:30 (UTC)", "2026-12-01T00:30:00"),
        ("resets Jan 1 at 10am", "2027-01-01T10:00:00"),
        ("resets 1:59pm (UTC)", "2026-11-30T13:59:00"),
        ("try again at 3:05 PM.", "2026-11-30T15:05:00"),
        ("try again at Dec 5th, 2026 3:05 PM", "2026-12-05T15:05:00"),
        ("try again at 2pm PST", "2026-11-30T22:00:00"),
        ("Please try again in 2 hours 5 minutes.", "2026-11-30T16:05:30"),
        ("or try again in 2 days 3 hours and 5 minutes.", "2026-12-02T17:05:30"),
        ("Your quota will reset after 3h20m5s.", "2026-11-30T17:20:35"),
        ("Please retry in 30s", "2026-11-30T14:01:00"),
        ("wait 5 minutes", "2026-11-30T14:05:30"),
        ("retry-after: 90", "2026-11-30T14:02:00"),
        ("Retry-After: Mon, 30 Nov 2026 15:53:00 GMT", "2026-11-30T15:53:00"),
        ('"resets_at": 1796054030,', "2026-11-30T15:53:50"),
        ('"resetsAt":1796054030000}', "2026-11-30T15:53:50"),
        ('"resets_in_seconds": 7200', "2026-11-30T16:00:30"),
        ('"retryDelay": "30s"', "2026-11-30T14:01:00"),
        ("until 2026-12-01T03:00:00Z", "2026-12-01T03:00:00"),
        ("reset: 2026-12-01T03:00:00.5+02:00", "2026-12-01T01:00:00"),
        ("reset at 2026-12-01 03:00:00 UTC", "2026-12-01T03:00:00"),
        ("resets soon. Try again in 30s", "2026-11-30T14:01:00"),
    ],
)
def test_each_form_is_read(text: str, expected: str) -> None:
    """As observed of the command lines, and as their services write it."""
    assert read(text) == datetime.fromisoformat(expected).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "resets soon",
        "You've hit your 5-hour limit",
        "resets 3:53pm (Mars/Base)",
        "resets 3:53pm (XQZ)",
        "resets 25:10",
        "resets 13pm",
        "resets Feb 30",
        "resets 2026-02-30T10:00:00Z",
        "reset at 2020-01-01T00:00:00Z",
        "reset at 2028-01-01T00:00:00Z",
        "resets_in_seconds: 99999999",
        "Retrying in 0.2 seconds",
        "retry 3 of 10",
        "2026-11-30T15:53:00Z ERROR 429",
        "resets +99:00",
        "../../etc/passwd resets 3pm (../../etc/passwd)",
    ],
)
def test_what_cannot_be_read_is_not_guessed(text: str) -> None:
    """A wrong instant is worse than none."""
    found = read(text)

    assert found is None or text.endswith("etc/passwd)")


ZONES = (
    *("UTC", "Europe/Berlin", "America/New_York", "America/St_Johns", "Asia/Kolkata"),
    *("Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Kiritimati"),
)
MOMENTS = st.datetimes(datetime(2024, 1, 1), datetime(2032, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
BEFORE_AUTUMN = datetime(2026, 10, 25, 0, 10, tzinfo=UTC)
BEFORE_SPRING = datetime(2026, 3, 29, 0, 10, tzinfo=UTC)
BEFORE_MIDNIGHT = datetime(2026, 12, 31, 22, 59, tzinfo=UTC)


@settings(max_examples=150, deadline=None)
@given(now=MOMENTS, minutes=st.integers(1, 24 * 60 - 10), zone=st.sampled_from(ZONES))
@example(now=BEFORE_AUTUMN, minutes=80, zone="Europe/Berlin")
@example(now=BEFORE_AUTUMN, minutes=20, zone="Europe/Berlin")
@example(now=BEFORE_SPRING, minutes=60, zone="Europe/Berlin")
@example(now=BEFORE_MIDNIGHT, minutes=2, zone="Europe/Berlin")
def test_a_time_of_day_is_the_next_one_of_its_zone(now: datetime, minutes: int, zone: str) -> None:
    """Through changes of the clock and midnight; of two moments that look alike, the first."""
    reset = (now + timedelta(minutes=minutes)).replace(second=0, microsecond=0)
    shown = reset.astimezone(ZoneInfo(zone))
    found = read(f"resets {shown.strftime('%I:%M%p').lower()} ({zone})", now)

    assert found is not None
    assert found.astimezone(ZoneInfo(zone)).strftime("%H:%M") == shown.strftime("%H:%M")
    assert (found - now).total_seconds() >= -JUST_PASSED_S
    assert found <= reset
    _assert_only_for_a_reason(found, reset, now, zone)


def _assert_only_for_a_reason(found: datetime, reset: datetime, now: datetime, zone: str) -> None:
    """Another moment than the one meant looks alike, and is near enough to have been meant."""
    if found == reset:
        return
    local = ZoneInfo(zone)
    passed_lately = (now - found).total_seconds() >= 0
    set_back = found.astimezone(local).utcoffset() != reset.astimezone(local).utcoffset()

    assert passed_lately or set_back


@settings(max_examples=100, deadline=None)
@given(now=MOMENTS, hours=st.integers(1, 24 * 28), zone=st.sampled_from(ZONES))
def test_a_date_is_read_in_its_zone(now: datetime, hours: int, zone: str) -> None:
    """With or without the year, over the turn of the year as well."""
    reset = (now + timedelta(hours=hours)).replace(second=0, microsecond=0)
    shown = reset.astimezone(ZoneInfo(zone))
    assume(shown.replace(fold=1).utcoffset() == shown.replace(fold=0).utcoffset())
    day = f"{shown:%b} {shown.day}"

    assert read(f"resets {day}, {shown:%I:%M%p} ({zone})", now) == reset
    assert read(f"resets {day}, {shown.year} at {shown:%H:%M} ({zone})", now) == reset
    assert read(f"reset at {shown.isoformat()}", now) == reset


@settings(max_examples=100, deadline=None)
@given(now=MOMENTS, seconds=st.integers(1, int(FARTHEST_S) - 1))
def test_spans_and_instants_need_no_zone(now: datetime, seconds: int) -> None:
    """From the present moment, or since the epoch, to the second."""
    now = now.replace(microsecond=0)
    reset = now + timedelta(seconds=seconds)
    days, rest = divmod(seconds, 86_400)
    span = f"{days} days, {rest // 3600} hours, {rest % 3600 // 60} minutes and {rest % 60} seconds"

    assert read(f"try again in {span}.", now) == reset
    assert read(f"retry-after: {seconds}", now) == reset
    assert read(f"usage limit reached|{int(reset.timestamp())}", now) == reset
    assert read(f'"resets_at":{int(reset.timestamp())}', now) == reset


@settings(max_examples=150, deadline=None)
@given(text=st.text() | st.from_regex(r"resets? (at )?[\w:,|.+ ()/-]{0,40}"), now=MOMENTS)
def test_no_text_is_ever_a_fault(text: str, now: datetime) -> None:
    """What comes out is in reach, or nothing."""
    found = find_reset_s(text, now.timestamp(), UTC)

    assert found is None or -JUST_PASSED_S <= found - now.timestamp() <= FARTHEST_S


@pytest.mark.parametrize("zone", [None, UTC, ZoneInfo("Asia/Kolkata")])
@pytest.mark.parametrize(
    "text",
    [
        "resets at 9999-12-31T23:59:59",
        "resets at 0001-01-01T00:00:00",
        "resets Dec 31, 9999 11pm",
        "resets Jan 1, 0001 1am",
    ],
)
def test_the_ends_of_the_calendar_are_no_moments(text: str, zone: ZoneInfo | None) -> None:
    """A moment that no clock of a zone can show is as good as none."""
    assert find_reset_s(text, NOW.timestamp(), zone) is None


@pytest.mark.parametrize(
    ("number", "after_s"),
    [(60.0, 60.0), (-60.0, -60.0), (-1e9, None), (1e9, None), (1e17, None), (1e300, None)],
)
def test_an_instant_given_as_a_number_is_in_reach(number: float, after_s: float | None) -> None:
    """In seconds or milliseconds; what lies farther off than any limit was misread."""
    now_s = NOW.timestamp()
    expected = None if after_s is None else now_s + after_s

    assert given_reset_s(now_s + number, now_s) == expected
    assert given_reset_s((now_s + 60) * 1000, now_s) == now_s + 60
