"""Markup: whatever a text holds, it arrives as text, and what is made is XML."""

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qloop.ui.markup import Markup, clean, element, joined, number


@given(words=st.text(), value=st.text())
def test_any_text_stays_text(words: str, value: str) -> None:
    """A child and an attribute come out of a parser as they went in, less what was cleaned."""
    made = element("p", words, title=value)
    read = ET.fromstring(made.encode("utf-8"))

    assert (read.text or "") == clean(words)
    assert len(read) == 0
    # Parsers make blanks of line ends and tabs in attributes.
    assert read.attrib["title"].split() == clean(value).split()


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\x1b[31mred\x1b[0m b\x1b]0;title\x07", "ared b"),
        ("one\ttwo\nthree\r\x00\x7f\x9b", "one\ttwo\nthree"),
        ("abc\u202edcba\u2066x\u2069", "abcdcbax"),
        ("\ud800half\ufffe\uffff\ufeff", "half"),
        ("日本 é 🙂", "日本 é 🙂"),
    ],
)
def test_clean(text: str, cleaned: str) -> None:
    """Terminal codes, controls, turned text and what no file can hold are taken out."""
    assert clean(text) == cleaned


def test_markup_is_put_in_as_it_is() -> None:
    """Elements nest; only what is no markup is escaped."""
    inner = element("b", "<i>")

    assert element("p", "a&", inner) == "<p>a&amp;<b>&lt;i&gt;</b></p>"
    assert joined([Markup("<br/>"), "<br/>"], ", ") == "<br/>, &lt;br/&gt;"


def test_attributes() -> None:
    """Underscores become hyphens, numbers are short, what is None is left out."""
    made = element("rect", class_="a", stroke_width=1.25, x=-0.01, y=2.0, fill=None)

    assert made == '<rect class="a" stroke-width="1.2" x="0" y="2"/>'
    assert element("div") == "<div></div>"
    assert number(-12.34) == "-12.3"
