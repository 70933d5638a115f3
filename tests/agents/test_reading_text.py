"""Plain text as an agent's output, and the cutting of bytes into lines."""

from hypothesis import given
from hypothesis import strategies as st

from qloop.agents.forms import FORMS
from qloop.agents.readers.lines import Lines
from qloop.agents.readers.table import READERS
from qloop.agents.readers.text import End, TextReader

PIECES = st.lists(st.binary(max_size=20), max_size=12)


def test_each_form_has_its_reader() -> None:
    """The names of forms and the table of readers are the same."""
    assert tuple(READERS) == FORMS


@given(PIECES)
def test_text_is_the_answer_however_it_comes(pieces: list[bytes]) -> None:
    """All of it, with a mark for what is not UTF-8."""
    reader = TextReader()
    for piece in pieces:
        reader.feed(piece)

    assert reader.finish().answer == b"".join(pieces).decode("utf-8", "replace")


@given(PIECES, st.integers(1, 12))
def test_the_end_of_long_text_begins_with_a_line(pieces: list[bytes], longest: int) -> None:
    """Not more than asked for, and the start of a line where there is one."""
    end = End(longest)
    for piece in pieces:
        end.feed(piece)
    whole = b"".join(pieces)
    lines = whole[-longest - 1 :].partition(b"\n")[2]
    cut = lines or whole[-longest:]

    assert end.text() == (whole if len(whole) <= longest else cut).decode("utf-8", "replace")


@given(PIECES)
def test_lines_are_the_same_however_they_come(pieces: list[bytes]) -> None:
    """Cut at line ends only; the last one may have none."""
    lines = Lines()
    found = [line for piece in pieces for line in lines.feed(piece)]
    found += lines.rest()
    expected = b"".join(pieces).split(b"\n")

    assert found == (expected if expected[-1] else expected[:-1])


def test_a_line_that_is_too_long_is_cut() -> None:
    """Memory holds no more than asked for; the next line is whole again."""
    lines = Lines(4)

    assert lines.feed(b"123") + lines.feed(b"456\n78") + lines.feed(b"9\n") == [b"1234", b"789"]


def test_lines_said_are_told_as_they_become_whole() -> None:
    """Empty ones are not worth telling."""
    reader = TextReader()
    first = [line.text for line in reader.feed(b"one\n\ntw")]

    assert (first, [line.text for line in reader.feed(b"o\nthree")]) == (["one"], ["two"])
