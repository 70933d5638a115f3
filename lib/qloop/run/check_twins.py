"""Two new files that are nearly the same, each by another story of a wave. Pure.

Compared are words in their order, without comments: as they stand, or with every name replaced
by the place of its first appearance, so that a renamed copy is found as well. Left out are files
too small to mean anything, and those that tools write.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import PurePosixPath

from qloop.run.check_source import family_of
from qloop.run.check_values import Finding, Place, Work, tell_places

CHECK = "twins"
FEWEST_WORDS = 30
FEWEST_RENAMED = 60
"""Names apart, the same shape in so few words is common."""
MOST_FILES = 500
"""So many new files of a wave are compared, each with each."""
NEARLY = 0.85
"""The part of neighbouring words that two files must share."""

_WORDS = re.compile(r"\w+")
_TOKENS = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|[^\W\d]\w*|\d[\w.]*|[^\w\s]")
_COMMENT = re.compile(r"^\s*(?:#|//|/?\*|--)")
_MADE_BY_TOOLS = {"migrations", "node_modules", "__snapshots__", "vendor", "third_party"}
_MADE_SUFFIXES = {".lock", ".map", ".snap", ".sum", ".svg"}
_LOCK_NAME = re.compile(r"(?:^|[-.])lock[.]|[.]min[.]")


@dataclass(frozen=True, slots=True)
class _File:
    place: Place
    neighbours: Counter[tuple[str, str]]
    size: int
    """How many of them there are."""
    shape: tuple[str, ...]
    """The file with its names replaced; empty where that would mean nothing."""


def check_twins(works: Sequence[Work]) -> list[Finding]:
    """The new files that are near-identical to one another, of two stories or more."""
    share = max(1, MOST_FILES // max(1, len(works)))
    groups: list[list[tuple[_File, str]]] = []
    for file in (file for work in works for file in islice(_new_files(work), share)):
        for group in groups:
            how = _likeness(group[0][0], file)
            if how:
                group.append((file, how))
                break
        else:
            groups.append([(file, "")])
    return [_finding(group) for group in groups if len({one.place.story for one, _ in group}) > 1]


def _new_files(work: Work) -> Iterator[_File]:
    for file in work.files:
        if not file.is_new or _is_made_by_tools(file.path):
            continue
        text = "\n".join(line for line in file.text.splitlines() if not _COMMENT.match(line))
        words = _WORDS.findall(text)
        if len(words) >= FEWEST_WORDS:
            shape = _shape(text) if family_of(file.path) and len(words) >= FEWEST_RENAMED else ()
            place, neighbours = Place(work.story, file.path, 1), Counter(pairwise(words))
            yield _File(place, neighbours, len(words) - 1, shape)


def _likeness(one: _File, other: _File) -> str:
    """How two files are alike, in words; empty where they are not."""
    suffixes = {PurePosixPath(file.place.path).suffix for file in (one, other)}
    if len(suffixes) > 1:
        return ""
    total = one.size + other.size
    if 2 * min(one.size, other.size) < NEARLY * total:
        return ""
    shared = 2 * (one.neighbours & other.neighbours).total() / total
    if shared >= NEARLY:
        return "are the same" if shared == 1 else f"are the same to {int(shared * 100)} %"
    return "are the same but for names" if one.shape and one.shape == other.shape else ""


def _shape(text: str) -> tuple[str, ...]:
    numbers: dict[str, str] = {}
    return tuple(
        numbers.setdefault(token, f"name {len(numbers)}")
        if token[0].isalpha() or token[0] == "_"
        else token
        for token in _TOKENS.findall(text)
    )


def _finding(group: Sequence[tuple[_File, str]]) -> Finding:
    places = tuple(file.place for file, _ in group)
    hows = {how for _, how in group[1:]}
    how = hows.pop() if len(hows) == 1 else "are nearly the same"
    stories = tuple(dict.fromkeys(place.story for place in places))
    text = f"new files of {tell_places(places)} {how}: keep one and use it everywhere"
    return Finding(CHECK, places[0].path, stories, places, text)


def _is_made_by_tools(path: str) -> bool:
    pure = PurePosixPath(path)
    return (
        pure.suffix.lower() in _MADE_SUFFIXES
        or _LOCK_NAME.search(pure.name) is not None
        or not _MADE_BY_TOOLS.isdisjoint(pure.parts)
    )
