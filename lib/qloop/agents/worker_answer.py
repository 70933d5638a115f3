"""What a worker answers: a file's new content in one fenced block, or a diff of that file. Pure.

Everything else is no answer: prose and code that no fence tells apart, more than one block, a
block that does not end, another file's diff.
Errors: UnusableWork, with what is wrong in words.
"""

import re
from dataclasses import dataclass

from qloop.agents.unified_diff import (
    NOTHING,
    BadDiff,
    Diff,
    apply_diff,
    looks_like_diff,
    parse_diff,
)
from qloop.plan.names import is_encodable

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)")
_DIFF_WORDS = ("diff", "patch", "udiff")
_DIFF_FILES = (".diff", ".patch")
_MARK = "\ufeff"
"""What some editors put before a file's first line."""


class UnusableWork(Exception):
    """An answer that gives no change of the target."""


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: the first word behind its fence, and its lines."""

    word: str
    text: str


def change_text(answer: str, target: str, before: str | None) -> str:
    """The target's text after what a worker answered; *before* is None for a file to be made.

    *target* is its path from the root. Raises UnusableWork.
    """
    text = answer.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    try:
        after = _changed(text, target, before)
    except BadDiff as exc:
        raise UnusableWork(f"its diff cannot be used: {exc}") from exc
    if after == before:
        raise UnusableWork("it changes nothing")
    if "\0" in after:
        raise UnusableWork("it holds a byte 0, which is no text")
    if not is_encodable(after):
        raise UnusableWork("it holds half of a surrogate pair, which is no text")
    return after


def fence_around(text: str) -> str:
    """A fence that can stand around a text: longer than any in it."""
    longest = max((len(found) for found in re.findall(r"`{3,}", text)), default=2)
    return "`" * (longest + 1)


def find_block(text: str) -> Block:
    """The one fenced block of a text. Raises UnusableWork where there is none, or another."""
    lines = text.split("\n")
    starts = [at for at, line in enumerate(lines) if _opens(line)]
    if not starts:
        raise UnusableWork("it holds neither a fenced block nor a diff and nothing else")
    opening = _FENCE.fullmatch(lines[starts[0]])
    mark = opening[1] if opening is not None else ""
    inside = lines[starts[0] + 1 :]
    length = next((at for at, line in enumerate(inside) if _closes(line, mark)), None)
    if length is None:
        raise UnusableWork("its fenced block does not end")
    if any(map(_opens, inside[length + 1 :])):
        raise UnusableWork("it holds more than one fenced block")
    word = opening[2].split()[0].lower() if opening is not None and opening[2].split() else ""
    return Block(word, "\n".join(inside[:length]))


def _changed(text: str, target: str, before: str | None) -> str:
    if looks_like_diff(text):
        return _patched(parse_diff(text), target, before)
    block = find_block(text)
    holds_diff = block.word in _DIFF_WORDS or looks_like_diff(block.text)
    if holds_diff and not target.lower().endswith(_DIFF_FILES):
        return _patched(parse_diff(block.text), target, before)
    if not block.text.strip():
        raise UnusableWork("its fenced block is empty")
    return _in_the_form_of(before, f"{block.text}\n")


def _patched(diff: Diff, target: str, before: str | None) -> str:
    is_new = before is None and diff.before == NOTHING
    named = [diff.after] if is_new else [diff.before, diff.after]
    strange = [path for path in named if not _is_path_of(path, target)]
    if strange:
        raise UnusableWork(f"its diff is of {strange[0]!r}, not of {target!r}")
    return apply_diff(before or "", diff)


def _is_path_of(path: str, target: str) -> bool:
    """Whether a path in a diff names the target, as it is or with what git puts before it."""
    return path in (target, f"./{target}", f"a/{target}", f"b/{target}")


def _in_the_form_of(before: str | None, text: str) -> str:
    """New content with the line ends, the mark and the end that the file had."""
    if not before:
        return text
    if 2 * before.count("\r\n") > before.count("\n"):
        text = text.replace("\n", "\r\n")
    if not before.endswith("\n"):
        text = text.removesuffix("\n").removesuffix("\r")
    return _MARK + text if before.startswith(_MARK) and not text.startswith(_MARK) else text


def _opens(line: str) -> bool:
    match = _FENCE.fullmatch(line)
    return match is not None and not ("`" in match[1] and "`" in match[2])


def _closes(line: str, mark: str) -> bool:
    match = _FENCE.fullmatch(line)
    return match is not None and match[1].startswith(mark) and not match[2].strip()
