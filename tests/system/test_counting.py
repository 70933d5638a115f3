"""Numbers of things for people."""

import pytest

from qloop.system.counting import counted


@pytest.mark.parametrize(
    ("number", "thing", "told"),
    [
        (1, "file", "1 file"),
        (0, "story", "0 stories"),
        (2, "story", "2 stories"),
        (1200, "more line", "1,200 more lines"),
        (2, "key", "2 keys"),
        (3, "box", "3 boxes"),
    ],
)
def test_a_thing_is_in_the_plural_unless_there_is_just_one(
    number: int, thing: str, told: str
) -> None:
    """Regular plurals, of the last word."""
    assert counted(number, thing) == told
