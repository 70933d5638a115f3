"""Looking things up in a repository's objects and refs through one git that stays.

A process for each question costs more than all else in a short landing. The one that stays reads
every ref anew when it is asked, and finds objects that were written meanwhile. It answers for a
repository that lasts; what it cannot answer for certain is None or `UNKNOWN` and is then to be
asked of a git of its own.
Source: git-cat-file(1), --batch-command.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from qloop.system.dialogue import Dialogue, DialogueEnded

_MOST = 4
"""Repositories for which one stays at the same time."""
_AT_ONCE = 50
"""Questions written before their answers are read; a pipe holds more."""
_LONGEST_QUESTION = 500
_KINDS = frozenset((b"commit", b"tree", b"blob", b"tag"))


@dataclass(frozen=True, slots=True)
class Found:
    """An object: its full name, its kind, its size in bytes."""

    name: str
    kind: str
    size: int


Start = Callable[[], Dialogue]

_open: dict[Path, Dialogue] = {}
_turn = threading.RLock()


def look_up(
    git_dir: Path, start: Start, revisions: Sequence[str]
) -> tuple[Found | None, ...] | None:
    """What each revision names, None for what is not there; None for all where it cannot tell."""
    asked = [revision.encode("utf-8", "surrogateescape") for revision in revisions]
    if any(b"\n" in one or not one or len(one) > _LONGEST_QUESTION for one in asked):
        return None
    found: list[Found | None] = []
    with _turn:
        try:
            dialogue = _dialogue(git_dir, start)
            for at in range(0, len(asked), _AT_ONCE):
                some = asked[at : at + _AT_ONCE]
                dialogue.ask(b"".join(b"info " + one + b"\n" for one in some))
                found += [_parse(dialogue.read_line()) for _ in some]
        except (DialogueEnded, OSError, ValueError):
            close(git_dir)
            return None
    return tuple(found)


def read_object(git_dir: Path, start: Start, name: str) -> bytes | None:
    """The content of an object by its full name; None where it cannot be had in this way."""
    with _turn:
        try:
            dialogue = _dialogue(git_dir, start)
            dialogue.ask(b"contents " + name.encode("ascii") + b"\n")
            found = _parse(dialogue.read_line())
            if found is None:
                return None
            data = dialogue.read_exactly(found.size)
            dialogue.read_exactly(1)
        except (DialogueEnded, OSError, ValueError):
            close(git_dir)
            return None
    return data


def close(git_dir: Path) -> None:
    """End the git that answers for a repository, if there is one."""
    with _turn:
        dialogue = _open.pop(git_dir, None)
        if dialogue is not None:
            dialogue.close()


def close_all() -> None:
    """End every git that stays."""
    for git_dir in list(_open):
        close(git_dir)


def _dialogue(git_dir: Path, start: Start) -> Dialogue:
    dialogue = _open.get(git_dir)
    if dialogue is None:
        if len(_open) >= _MOST:
            close(next(iter(_open)))
        dialogue = _open[git_dir] = start()
    return dialogue


def _parse(line: bytes) -> Found | None:
    """An answer. Raises ValueError for one that is of no known form."""
    words = line.rsplit(b" ", 2)
    if len(words) == 3 and words[1] in _KINDS and words[2].isdigit():
        return Found(words[0].decode("ascii"), words[1].decode("ascii"), int(words[2]))
    if line.endswith((b" missing", b" ambiguous")):
        return None
    raise ValueError(line)
