"""Error traces as text: their lines, the first place that they name, the line that tells most.

A place is `file:line`; what names it another way, as Python and Perl do, is brought into this form.
"""

import re
from collections.abc import Iterator

from qloop.agents.signals import strip_codes

_FILE = r"(?:[A-Za-z]:[\\/]|[\\/])?(?:[\w.@+~-]+[\\/])*[\w.@+-]*\.[A-Za-z]\w{0,9}"
_PLAIN = r"(?:[\w.@+~-]+[\\/])*(?:[Mm]akefile|Dockerfile|Jenkinsfile|Rakefile|Gemfile)"
_PLACES = (
    re.compile(r'File "([^"\n]+)", line (\d+)'),
    re.compile(r"\bat (\S+) line (\d+)"),
    re.compile(rf"(?<![\w:/\\.@+~-])({_FILE}|{_PLAIN})[:(](\d+)\b"),
)
_HOSTS = re.compile(r"(?:^|\.)(?:com|org|net|io|dev|local|internal|localdomain)$", re.IGNORECASE)
_ERROR = re.compile(r"\b(?:\w+(?:Error|Exception)|error(?:\[\w+\])?|panicked|fatal)\b.*\S")
_SOFT = re.compile(r"\b(?:fail(?:ed|ure)?|not ok|assert\w*|expected|cannot|undefined)\b", re.I)


def plain_lines(text: str) -> list[str]:
    """The lines of a text as a terminal leaves them: without codes, and what was written over.

    An end of line at its end begins no other.
    """
    lines = strip_codes(text).replace("\r\n", "\n").split("\n")
    shown = [line.rstrip("\r").rpartition("\r")[2] for line in lines]
    return shown[:-1] if shown[-1] == "" else shown


def find_place(text: str) -> str | None:
    """The first `file:line` that a text names."""
    found = min(_places(strip_codes(text)), default=None)
    return None if found is None else found[1]


def telling_line(text: str) -> str:
    """The line that most looks like what went wrong; empty where there is none at all."""
    lines = [line.strip() for line in plain_lines(text)]
    lines = [line for line in lines if any(letter.isalnum() for letter in line)]
    for pattern in (_ERROR, _SOFT):
        for line in lines:
            if pattern.search(line) and not _is_rule(line):
                return line
    return lines[-1] if lines else ""


def _places(text: str) -> Iterator[tuple[int, str]]:
    for pattern in _PLACES:
        for match in pattern.finditer(text):
            if not _HOSTS.search(match[1]):
                yield match.start(), f"{match[1]}:{match[2]}"
                break


def _is_rule(line: str) -> bool:
    """Whether it is a heading between lines, such as `==== FAILURES ====`."""
    return line[:3] == line[-3:] and not line[0].isalnum()
