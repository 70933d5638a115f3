"""Unified diffs as models write them: read strictly, applied where they fit in one way only. Pure.

The numbers in hunk headers are taken as a hint, for models count badly; the lines are not.
Errors: BadDiff, with what is wrong in words.
Source: the unified format of diff(1), and what git-diff(1) puts before it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

NOTHING = "/dev/null"
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@.*")
_HEADERS = ("diff --git ", "index ", "Index: ", "=====")
_NEW = "new file mode 100644"
"""What git-diff(1) puts before a plain new file; other modes are no change of text."""
_NO_END = "\\"


class BadDiff(Exception):
    """A text that is no diff of one file, or does not fit the file."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """One place of a file, before and after; lines without their ends."""

    at: int
    """The line that it is said to begin at, from 1."""
    old: tuple[str, ...]
    new: tuple[tuple[str, bool], ...]
    """Each with whether the hunk brings it, instead of keeping it."""
    ends: bool | None = None
    """Whether the file ends with an end of line after it; None where it does not say."""


@dataclass(frozen=True, slots=True)
class Diff:
    """The change of one file."""

    before: str
    """The path that it is said to have had, as it is written."""
    after: str
    hunks: tuple[Hunk, ...]


def looks_like_diff(text: str) -> bool:
    """Whether a text begins as a diff does."""
    lines = text.lstrip("\n").split("\n", 3)
    if lines[0].startswith(_HEADERS[:3]):
        return True
    return len(lines) > 1 and lines[0].startswith("--- ") and lines[1].startswith("+++ ")


def parse_diff(text: str) -> Diff:
    """The change of one file in a text that holds nothing else. Raises BadDiff."""
    lines = text.strip("\n").split("\n")
    at = next((at for at, line in enumerate(lines) if line.startswith("--- ")), len(lines))
    known = (*_HEADERS, _NEW) if lines[at : at + 1] == [f"--- {NOTHING}"] else _HEADERS
    strange = [line for line in lines[:at] if line and not line.startswith(known)]
    if strange:
        raise BadDiff(f"a line before the diff says something else: {strange[0]!r}")
    if len(lines) < at + 3 or not lines[at + 1].startswith("+++ "):
        raise BadDiff("it has no lines ---, +++ and @@ one after the other")
    before, after = (_path(line) for line in lines[at : at + 2])
    return Diff(before, after, tuple(_hunks(lines[at + 2 :])))


def apply_diff(text: str, diff: Diff) -> str:
    """The text with the diff's changes. Raises BadDiff where it does not fit in just one way."""
    lines = text.split("\n")
    ends = lines[-1] == ""
    lines = lines[:-1] if ends else lines
    end = "\r" if 2 * sum(line.endswith("\r") for line in lines) > len(lines) else ""
    made: list[str] = []
    done = 0
    for hunk in diff.hunks:
        at = _find(lines, done, hunk)
        made += lines[done:at]
        made += _changed(lines[at : at + len(hunk.old)], hunk, end)
        done = at + len(hunk.old)
        ends = hunk.ends if hunk.ends is not None and done == len(lines) else ends or not lines
    made += lines[done:]
    return "\n".join([*made, ""] if ends and made else made)


def _path(line: str) -> str:
    return line[4:].partition("\t")[0].strip()


def _hunks(lines: Sequence[str]) -> Iterator[Hunk]:
    starts = [at for at, line in enumerate(lines) if _HUNK.fullmatch(line)]
    if not starts or starts[0] != 0:
        raise BadDiff("its first hunk does not follow the line +++")
    for start, following in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield _hunk(lines[start], lines[start + 1 : following])


def _hunk(header: str, body: Sequence[str]) -> Hunk:
    old: list[str] = []
    new: list[tuple[str, bool]] = []
    ends: bool | None = None
    for at, line in enumerate(body):
        if line.startswith("--- ") and "".join(body[at + 1 : at + 2]).startswith("+++ "):
            raise BadDiff("it changes more than one file")
        sign, rest = line[:1] or " ", line[1:]
        if sign == _NO_END:
            ends = False if at and body[at - 1][:1] != "-" else True if ends is None else ends
        elif sign not in " +-":
            raise BadDiff(f"a line in it begins with neither blank nor + nor -: {line!r}")
        else:
            old += [rest] if sign != "+" else []
            new += [(rest, sign == "+")] if sign != "-" else []
    match = _HUNK.fullmatch(header)
    return Hunk(int(match[1]) if match else 1, tuple(old), tuple(new), ends)


def _find(lines: Sequence[str], done: int, hunk: Hunk) -> int:
    """Where a hunk begins, from 0; not before *done*."""
    if not hunk.old:  # it brings lines only, after the one that it names
        if not done <= hunk.at <= len(lines):
            raise BadDiff(f"it adds lines after line {hunk.at}, which is not there")
        return hunk.at
    plain = [line.removesuffix("\r") for line in lines]
    size = len(hunk.old)
    wanted = hunk.at - 1
    fits = [at for at in range(done, len(lines) - size + 1) if _fits(plain, at, hunk.old)]
    if wanted in fits:
        return wanted
    if len(fits) == 1:
        return fits[0]
    how = "in more than one place" if fits else "nowhere"
    raise BadDiff(f"the hunk said to begin at line {hunk.at} fits {how}")


def _fits(plain: Sequence[str], at: int, old: tuple[str, ...]) -> bool:
    return plain[at] == old[0] and tuple(plain[at : at + len(old)]) == old


def _changed(lines: Sequence[str], hunk: Hunk, end: str) -> Iterator[str]:
    """The lines after the hunk: those that stay with the ends that they have."""
    kept = {line.removesuffix("\r"): line for line in lines}
    for line, is_new in hunk.new:
        yield f"{line}{end}" if is_new else kept.get(line, line)
