"""The message of a landed commit: what it is for, what the agent said, and which attempt it was.

What an agent wrote appears as an indented list only, so that none of it can be read as a trailer.
"""

import unicodedata
from collections.abc import Sequence

_MOST_SUBJECTS = 100
_LONGEST_SUBJECT = 200
_INDENT = "    "
_UNPRINTABLE = ("Cc", "Cs", "Zl", "Zp")  # controls, lone surrogates, line and paragraph ends


def render_message(
    story: str, title: str, subjects: Sequence[str], attempt: int, attempt_id: str
) -> str:
    """Subject, list of *subjects* (oldest first), trailers; paragraphs parted by an empty line."""
    shown_title = one_line(title)
    paragraphs = [f"{story}: {shown_title}" if shown_title else story]
    items = [one_line(subject) or "(no subject)" for subject in subjects[:_MOST_SUBJECTS]]
    left = len(subjects) - len(items)
    if left:
        items.append(f"and {left} more")
    if items:
        paragraphs.append("\n".join(f"{_INDENT}- {item}" for item in items))
    paragraphs.append(f"Qloop-Story: {story}\nQloop-Attempt: {attempt} {attempt_id}")
    return "\n\n".join(paragraphs) + "\n"


def one_line(text: str) -> str:
    """*text* without line ends and control characters, cut to a line's sensible length."""
    words = " ".join(text.split())
    kept = "".join(c for c in words if unicodedata.category(c) not in _UNPRINTABLE)
    return kept if len(kept) <= _LONGEST_SUBJECT else kept[: _LONGEST_SUBJECT - 1] + "…"
