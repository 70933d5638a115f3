"""An alarm of the wall clock rings at its moment."""

import select
import sys
import time
from collections.abc import Iterator

import pytest

from qloop.system.alarm import Alarm

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a timer of Linux")
PATIENCE_S = 60.0


@pytest.fixture
def alarm() -> Iterator[Alarm]:
    """An alarm that is not set."""
    made = Alarm()
    yield made
    made.close()


def rings(alarm: Alarm, within_s: float = PATIENCE_S) -> bool:
    """Whether it rings in that time."""
    return bool(select.select([alarm], [], [], within_s)[0])


def test_it_rings_at_its_moment_and_not_before(alarm: Alarm) -> None:
    """To the second's fraction, once."""
    at = time.time() + 0.3
    alarm.set(at)

    assert rings(alarm)
    assert time.time() >= at
    alarm.clear()
    assert not rings(alarm, 0)


@pytest.mark.parametrize("at", [0.0, 1_700_000_000.5])
def test_a_moment_that_has_passed_rings_at_once(alarm: Alarm, at: float) -> None:
    """As after a sleep of the machine."""
    alarm.set(at)

    assert rings(alarm)


def test_it_does_not_ring_unless_it_is_set(alarm: Alarm) -> None:
    """Neither a new one, nor one that was taken back."""
    assert not rings(alarm, 0)
    alarm.set(time.time() + 3600)
    assert not rings(alarm, 0)
    alarm.set(1.0)
    alarm.set(None)
    assert not rings(alarm, 0)


def test_it_can_be_set_again(alarm: Alarm) -> None:
    """To the same moment as well, after it was cleared."""
    alarm.set(1.0)
    alarm.clear()
    assert not rings(alarm, 0)
    alarm.set(1.0)

    assert rings(alarm)
