"""Tokens as qloop counts them, whatever a model makes of a text: words, and signs one by one."""

import re
from itertools import islice

LONGEST = 2_000
"""The most characters that a cut text has, however few its tokens are."""

_TOKEN = re.compile(r"\w+|[^\w\s]")


def count_tokens(text: str) -> int:
    """How many tokens a text has."""
    return sum(1 for _ in _TOKEN.finditer(text))


def cut_tokens(text: str, most: int) -> str:
    """The text's first *most* tokens and what stands between them; it ends where a token ends.

    There are fewer where they would be longer than LONGEST characters together.
    """
    ends = [match.end() for match in islice(_TOKEN.finditer(text), most + 1)]
    if len(ends) <= most and len(text) <= LONGEST:
        return text
    return text[: max((end for end in ends[:most] if end <= LONGEST), default=0)]


def last_tokens(text: str, most: int) -> str:
    """The text from the first of its last *most* tokens on."""
    starts = [match.start() for match in _TOKEN.finditer(text)]
    return text[starts[-most] :] if 0 < most < len(starts) else text
