"""Timestamps that only go forward, and durations as people write them."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qloop.system.clock import parse_duration_s, parse_utc, render_duration, utc_after, utc_now
from qloop.system.errors import BadInput

MOMENTS = st.datetimes(datetime(2000, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 -- the zone is drawn


def test_now_has_milliseconds_and_a_zone() -> None:
    """The present moment is written in UTC with three decimals."""
    now = utc_now()

    assert now.endswith("Z")
    assert len(now) == len("2026-01-02T03:04:05.678Z")
    assert abs(parse_utc(now) - datetime.now(UTC)) < timedelta(minutes=1)


@given(MOMENTS)
def test_after_is_later_as_moment_and_as_text(moment: datetime) -> None:
    """Whatever was written before, also in the future, the next timestamp is greater."""
    earlier = moment.isoformat(timespec="microseconds").replace("+00:00", "Z")

    later = utc_after(earlier)

    assert later > earlier
    assert parse_utc(later) > moment


@given(MOMENTS)
def test_after_takes_any_form_of_a_timestamp(moment: datetime) -> None:
    """Seconds only, milliseconds, another zone: the moment counts, not the text."""
    for text in (
        moment.isoformat(timespec="seconds"),
        moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        (moment + timedelta(hours=2)).isoformat().replace("+00:00", "+02:00"),
        moment.replace(tzinfo=None).isoformat(),
    ):
        assert parse_utc(utc_after(text)) > parse_utc(text)


@pytest.mark.parametrize("earlier", [None, "yesterday", ""])
def test_after_nothing_is_now(earlier: str | None) -> None:
    """Without a timestamp that can be read, it is the present moment."""
    assert abs(parse_utc(utc_after(earlier)) - datetime.now(UTC)) < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("15m", 900),
        ("2h", 7200),
        ("1h30m", 5400),
        ("1h0m5s", 3605),
        ("0.5s", 0.5),
        ("45", 45),
        ("1.5", 1.5),
        ("0", 0),
        (" 2H ", 7200),
    ],
)
def test_a_duration_is_read(text: str, seconds: float) -> None:
    """The forms people write are understood."""
    assert parse_duration_s(text) == seconds


@pytest.mark.parametrize(
    "text", ["", " ", "-1", "5 m", "m", "1m1h", "1.5h", "ten", "1e3", "5d", "٣", "9" * 400, "inf"]
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    """Anything else is a fault that shows the form."""
    with pytest.raises(BadInput, match="is no duration, write it like 90s"):
        parse_duration_s(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0s"),
        (0.44, "0.4s"),
        (12.3, "12s"),
        (59.7, "1m00s"),
        (185, "3m05s"),
        (3599.6, "1h00m"),
        (7620, "2h07m"),
    ],
)
def test_a_duration_is_written(seconds: float, text: str) -> None:
    """Lengths of time read well at every size."""
    assert render_duration(seconds) == text
