"""Elements of SVG and HTML as text: what is not markup already is freed of controls and escaped.

The text is well-formed XML, so that HTML made of it is read the same way by every parser.
"""

import re
from collections.abc import Iterable
from html import escape

from qloop.ui.logs import CODES

Attribute = str | int | float | None

_UNWANTED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but for tabs and line ends
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # what turns the direction of text
    "\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff]"  # what no encoding or no XML can hold
)
_EMPTY = frozenset({"meta", "input", "br", "path", "rect", "circle"})


class Markup(str):
    """Text that is markup: it is put into other markup as it is."""

    __slots__ = ()


def clean(text: str) -> str:
    """*text* without characters that steer a terminal, turn its direction, or break XML."""
    return _UNWANTED.sub("", CODES.sub("", text))


def element(name: str, /, *children: str, **attributes: Attribute) -> Markup:
    """An element; children that are no Markup are escaped, attributes that are None left out.

    In the names of attributes `_` stands for `-`, and one at the end for nothing: `class_`.
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_attribute(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if not children and name in _EMPTY:
        return Markup(f"<{name}{given}/>")
    return Markup(f"<{name}{given}>{joined(children)}</{name}>")


def joined(parts: Iterable[str], between: str = "") -> Markup:
    """Parts one after the other; those that are no Markup are escaped."""
    return Markup(between.join(_content(part) for part in parts))


def number(value: float) -> str:
    """A coordinate, to a tenth."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _content(part: str) -> str:
    return part if isinstance(part, Markup) else escape(clean(part))


def _attribute(value: Attribute) -> str:
    return number(value) if isinstance(value, int | float) else escape(clean(str(value)))
