"""What is said of a wave that was looked at again."""

import pytest

from qloop.state.journal import EventKind
from qloop.ui.progress import render_event
from ui.journals import Tale


@pytest.mark.parametrize(
    ("landed", "told"),
    [
        ([{"commit": "abc"}], "wave-1: all that landed holds (2 commands, 0.1s)"),
        ([], "wave-1: nothing new landed, and what had landed before holds (2 commands, 0.1s)"),
    ],
)
def test_a_green_wave_says_whether_anything_landed(landed: list[object], told: str) -> None:
    """One in which nothing did is no praise of what it brought."""
    tale = Tale()
    tale.tell(
        EventKind.WAVE_RECOGNIZED, wave="wave-1", green=True, landed=landed, checked=2, seconds=0.1
    )

    assert render_event(tale.events[-1]) == told
