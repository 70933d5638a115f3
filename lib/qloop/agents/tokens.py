"""Tokens as qloop counts them, whatever a model makes of a text: words, and signs one by one."""

import re
from itertools import islice

_TOKEN = re.compile(r"\w+|[^\w\s]")


def count_tokens(text: str) -> int:
    """How many tokens a text has."""
    return sum(1 for _ in _TOKEN.finditer(text))


def cut_tokens(text: str, most: int) -> str:
    """The text's first *most* tokens and what stands between them; it ends where a token ends."""
    return text[: _end_of(text, most)] if count_tokens(text) > most else text


def last_tokens(text: str, most: int) -> str:
    """The text from the first of its last *most* tokens on."""
    starts = [match.start() for match in _TOKEN.finditer(text)]
    return text[starts[-most] :] if 0 < most < len(starts) else text


def _end_of(text: str, number: int) -> int:
    return max((match.end() for match in islice(_TOKEN.finditer(text), number)), default=0)
