"""Triage: how large a mission looks, from its words and the code that it is about. Pure.

Each rule gives a size with its reason, and the largest one counts; in a very large repository
what is not simple counts as one size more. *Trivial* is what needs no plan: one or two short,
clear sentences that name at most five files or a change as small as a typo, one step, nothing to
be tried by a person, and no data of others to be changed. Where a rule is in doubt, it is not.
"""

import re
from collections.abc import Iterator

from qloop.plan.prd import compile_prd
from qloop.state.codebase import Facts
from qloop.state.mission import Triage
from qloop.system.counting import counted
from qloop.system.errors import QloopError

SIZES = ("SIMPLE", "MEDIUM", "COMPLEX", "MASSIVE")
STORIES = (3, 7, 16)
"""From how many stories on a document is MEDIUM, COMPLEX, MASSIVE; likewise the next three."""
WORDS = (60, 250, 1000)
POINTS = (4, 10, 25)
FILES = (6, 15, 40)
LARGE_REPOSITORY = 2_000
"""Source files from which on a repository is very large."""
MOST_TRIVIAL_WORDS = 40
MOST_TRIVIAL_FILES = 5

_POINT = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\S", re.MULTILINE)
_FILE = re.compile(r"(?<![\w/.-])(?:[\w.-]+/)*[\w-]+\.[A-Za-z]\w{0,5}(?![\w/])")
_STEPS = re.compile(
    r"\b(?:then|afterwards|after that|once (?:it|that|this)|first\b.*\bsecond|multi-step|in phases"
    r"|step by step|finally)\b",
    re.IGNORECASE | re.DOTALL,
)
_PERSON = re.compile(
    r"\b(?:deploy\w*|releas\w+|publish\w*|production|manual(?:ly)?|in (?:the|a) browser"
    r"|2fa|two-factor|e-?mail|credential\w*|approv\w+|sign[ -]off|captcha)\b",
    re.IGNORECASE,
)
_DATA = re.compile(
    r"\b(?:schema\w*|migrat\w+|database\w*|drop table|alter table|column\w*|backfill\w*)\b",
    re.IGNORECASE,
)
_BROAD = re.compile(
    r"\b(?:rewrit\w+|port (?:it|this|the|everything)|redesign\w*|re-?architect\w*|from scratch"
    r"|entire\w*|whole|everything|all (?:the )?(?:modules|services|pages|files)|monorepo)\b",
    re.IGNORECASE,
)
_PROGRAM = re.compile(
    r"\b(?:build|make|create|write|develop|implement)\b.{0,40}\b(?:app|application|site|website"
    r"|service|platform|system|game|dashboard|api|backend|frontend|server|library|framework|tool"
    r"|cli|bot|compiler|engine)\b",
    re.IGNORECASE | re.DOTALL,
)
_UNCLEAR = re.compile(
    r"\?|\b(?:somehow|maybe|perhaps|something|some kind|etc|better|improve\w*|clean ?up|nicer"
    r"|as needed|if possible|optimi[sz]e\w*|refactor\w*)\b",
    re.IGNORECASE,
)
_SMALL = re.compile(
    r"\b(?:typos?|spelling|wording|renam\w+|comments?|docstrings?|readme|changelog|bump|version"
    r"|log message|error message|link|label|title|licen[cs]e|copyright)\b",
    re.IGNORECASE,
)

Reason = tuple[int, str]


def size_up(text: str, facts: Facts, *, is_document: bool = False) -> Triage:
    """The triage of a directive, given as words or as a document, about code of such facts."""
    stories = count_stories(text) if is_document else 0
    found = [*_by_stories(stories)] if stories else [*_by_words(text)]
    size = max((level for level, _ in found), default=0)
    reasons = [reason for level, reason in found if level == size]
    if 0 < size < len(SIZES) - 1 and facts.size.source_files >= LARGE_REPOSITORY:
        size += 1
        reasons.append(f"the repository has {facts.size.source_files:,} source files")
    why_not = "it comes as a document" if is_document else _why_not_trivial(text, facts, size)
    reasons.append("trivial" if why_not is None else f"not trivial: {why_not}")
    return Triage(
        complexity=SIZES[size], reasons=tuple(reasons), is_trivial=why_not is None
    )  # fmt: skip


def count_stories(text: str) -> int:
    """The stories of a document; 0 where it has none that can be compiled."""
    try:
        made = compile_prd(text, path="", now="2026-01-01T00:00:00Z")
    except QloopError:
        return 0
    return len(made["stories"])


def _by_stories(count: int) -> Iterator[Reason]:
    yield _level(count, STORIES), counted(count, "story")


def _by_words(text: str) -> Iterator[Reason]:
    words, points, files = len(text.split()), len(_POINT.findall(text)), len(_named_files(text))
    yield _level(words, WORDS), counted(words, "word")
    if points:
        yield _level(points, POINTS), counted(points, "point")
    if files:
        yield _level(files, FILES), f"{counted(files, 'file')} named"
    for level, pattern, reason in (
        (1, _STEPS, "it has several steps"),
        (1, _DATA, "it changes data or its form"),
        (1, _PROGRAM, "it asks for a whole program"),
        (2, _BROAD, "it is about all of something"),
    ):
        found = pattern.search(text)
        if found is not None:
            yield level, f"{reason}: {' '.join(found.group().split())!r}"


def _why_not_trivial(text: str, facts: Facts, size: int) -> str | None:
    """What speaks against it being trivial; None where nothing does."""
    files, words = _named_files(text), text.split()
    checks = (
        (size > 0, f"it looks {SIZES[size]}"),
        (facts.is_greenfield, "there is no code yet to change"),
        (len(words) > MOST_TRIVIAL_WORDS, f"more than {MOST_TRIVIAL_WORDS} words"),
        (len(words) < 2, "too few words"),
        (_POINT.search(text) is not None, "it is a list"),
        (len(files) > MOST_TRIVIAL_FILES, f"more than {MOST_TRIVIAL_FILES} files"),
        (_PERSON.search(text) is not None, "a person may have to look"),
        (_UNCLEAR.search(text) is not None, "it leaves open what exactly is wanted"),
        (not files and _SMALL.search(text) is None, "it names no file and no small change"),
    )
    return next((reason for is_so, reason in checks if is_so), None)


def _named_files(text: str) -> set[str]:
    return set(_FILE.findall(text))


def _level(number: int, limits: tuple[int, ...]) -> int:
    return sum(number >= limit for limit in limits)
