"""Pauses as a value: what each hindrance makes of them, by a clock that the test sets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qloop.agents.hindrances import Cause
from qloop.plan.model import Phase
from qloop.run.call_end import hindered_failure
from qloop.run.orders import Hindered
from qloop.run.pauses import (
    LONGEST_RETRY_S,
    LONGEST_UNREAD_S,
    RETRY_GROWTH,
    RETRY_S,
    UNCHARGED,
    UNREAD_S,
    Pauses,
    charge,
    kept,
)
from qloop.state.pauses import Pause

NOW = 1_796_050_000.0


def hindered(cause: Cause, resets_at_s: float | None = None, runner: str = "claude") -> Hindered:
    """A runner that was kept from working."""
    return Hindered(runner=runner, cause=cause, text="no", resets_at_s=resets_at_s)


def until(pauses: Pauses, runner: str = "claude") -> float | None:
    """When a runner's pause ends."""
    return pauses.by_runner[runner].until_s


def test_a_limit_pauses_its_runner_alone_until_its_reset() -> None:
    """Others may work; at the reset it may work again."""
    pauses = Pauses().hindered(hindered(Cause.USAGE_LIMIT, NOW + 60), NOW, 0.5)
    before, none = pauses.ended(NOW + 59.9)
    after, over = pauses.ended(NOW + 60)

    assert pauses.is_paused("claude")
    assert not pauses.is_paused("codex")
    assert pauses.next_end_s == NOW + 60
    assert (before, none) == (pauses, ())
    assert over == ("claude",)
    assert not after.is_paused("claude")
    assert after.next_end_s is None


def test_a_limit_without_a_readable_reset_waits_longer_each_time() -> None:
    """From five minutes to an hour."""
    pauses, waits, now = Pauses(), [], NOW
    for _ in range(6):
        pauses = pauses.hindered(hindered(Cause.USAGE_LIMIT), now, 0.0)
        end = until(pauses) or 0.0
        waits.append(end - now)
        now = end
        pauses, _over = pauses.ended(now)

    assert waits[0] == UNREAD_S
    assert waits[:4] == [UNREAD_S * 2**number for number in range(4)]
    assert waits[-1] == LONGEST_UNREAD_S


def test_a_reset_that_has_passed_is_no_busy_loop() -> None:
    """A limit told to the minute waits a little, and longer where it is met again."""
    pauses = Pauses().hindered(hindered(Cause.USAGE_LIMIT, NOW - 30), NOW, 1.0)
    once, _ = pauses.ended(NOW + RETRY_S)
    again = once.hindered(hindered(Cause.USAGE_LIMIT, NOW - 30), NOW, 1.0)

    assert until(pauses) == NOW + RETRY_S
    assert until(again) == NOW + RETRY_GROWTH * RETRY_S


def test_an_authentication_lasts_until_a_person_acts() -> None:
    """No time ends it, and what is met beside it changes nothing."""
    pauses = Pauses().hindered(hindered(Cause.AUTHENTICATION), NOW, 0.5)
    same = pauses.hindered(hindered(Cause.USAGE_LIMIT, NOW + 60), NOW, 0.5)
    left, over = pauses.ended(NOW + 10**9)

    assert until(pauses) is None
    assert same is pauses
    assert (left, over) == (pauses, ())


def test_what_was_at_work_meanwhile_makes_a_pause_longer_at_most() -> None:
    """Three that meet one overload are one pause, and the next wait is a second one."""
    one = Pauses().hindered(hindered(Cause.OVERLOAD), NOW, 1.0)
    three = one.hindered(hindered(Cause.OVERLOAD), NOW, 0.1)
    longer = three.hindered(hindered(Cause.USAGE_LIMIT, NOW + 60), NOW, 0.0)
    locked = longer.hindered(hindered(Cause.AUTHENTICATION), NOW, 0.0)

    assert three is one
    assert until(longer) == NOW + 60
    assert longer.in_a_row == {"claude": 1}
    assert until(locked) is None


def test_a_runner_that_worked_begins_anew() -> None:
    """Its next wait is a first one."""
    pauses, _ = Pauses().hindered(hindered(Cause.OVERLOAD), NOW, 1.0).ended(NOW + RETRY_S)
    second = pauses.hindered(hindered(Cause.OVERLOAD), NOW, 1.0)
    first = pauses.worked("claude").hindered(hindered(Cause.OVERLOAD), NOW, 1.0)

    assert until(second) == NOW + RETRY_GROWTH * RETRY_S
    assert until(first) == NOW + RETRY_S


@given(count=st.integers(1, 200), chance=st.floats(0, 1))
def test_waits_for_a_service_grow_to_a_limit_and_are_spread(count: int, chance: float) -> None:
    """Between half and the whole of what the last wait makes, several times over."""
    pauses = Pauses(in_a_row={"claude": count - 1})
    wait = (until(pauses.hindered(hindered(Cause.NETWORK), NOW, chance)) or 0) - NOW
    whole = min(RETRY_S * RETRY_GROWTH ** (count - 1), LONGEST_RETRY_S)

    assert whole / 2 - 0.001 <= wait <= whole + 0.001


@pytest.mark.parametrize("cause", [Cause.OVERLOAD, Cause.NETWORK])
def test_the_first_three_in_a_row_are_not_charged(cause: Cause) -> None:
    """From the fourth on they are, as the agent's failure."""
    failed = hindered_failure(hindered(cause), None)
    charged = [charge(failed, count).charged for count in range(1, 6)]

    assert charged == [False] * UNCHARGED + [True, True]
    assert charge(failed, UNCHARGED + 1).phase is Phase.AGENT_FAILED


@pytest.mark.parametrize("cause", [Cause.USAGE_LIMIT, Cause.AUTHENTICATION, Cause.CONFIGURATION])
def test_what_only_time_or_a_person_mends_is_never_charged(cause: Cause) -> None:
    """However often it is met."""
    failed = hindered_failure(hindered(cause), None)

    assert charge(failed, 100) == failed
    assert not failed.charged


def test_of_a_dead_run_only_limits_that_last_are_kept() -> None:
    """A person may have mended what needed one; what has passed has passed."""
    dead = {
        "limit": Pause("limit", "usage_limit", "no", NOW + 60),
        "past": Pause("past", "usage_limit", "no", NOW - 1),
        "locked": Pause("locked", "authentication", "no", None),
        "busy": Pause("busy", "overload", "no", NOW + 60),
    }

    assert set(kept(dead, NOW).by_runner) == {"limit"}
