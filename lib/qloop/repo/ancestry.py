"""Short ways through history, read commit by commit from a git that stays.

What takes more than a few commits, or meets one that cannot be read in this way, has no answer
here (None), and is asked of git. Names are full object names.
Source: gitformat-pack(5), git-commit-tree(1): the form of a commit object.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass

NEAR = 40
"""The most commits that one answer is looked for in."""

Read = Callable[[str], bytes | None]
"""A commit's content by its name, or None where it cannot be had."""

_PERSON = re.compile(rb"(?P<name>[^<>\n]*?) ?<(?P<email>[^<>\n]*)> (?P<date>\d+ [+-]\d{4})")


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit object taken apart."""

    name: str
    tree: str
    parents: tuple[str, ...]
    author: tuple[str, str, str]
    """Name, address, and date as `seconds zone`; bytes that are not UTF-8 as surrogates."""
    committer: str
    """The committer's name."""
    subject: str


def contains(read: Read, newer: str, older: str) -> bool | None:
    """Whether *older* is *newer* or stands in its history."""
    waiting, seen = [newer], {newer}
    for _ in range(NEAR):
        if not waiting:
            return False
        name = waiting.pop(0)
        data = read(name)
        if data is None:
            return None
        if name == older:
            return True
        for parent in _parents(data):
            if parent not in seen:
                seen.add(parent)
                waiting.append(parent)
    return None


def first_parents(read: Read, tip: str, since: str) -> dict[str, str] | None:
    """The first-parent chain from *tip* down to *since*, newest first, each with its tree."""
    chain: dict[str, str] = {}
    name = tip
    for _ in range(NEAR):
        data = read(name)
        if data is None:
            return None
        chain[name] = _tree(data)
        if name == since:
            return chain
        parents = _parents(data)
        if not parents:
            return {}
        name = parents[0]
    return None


def straight_work(read: Read, tip: str, known: dict[str, str]) -> tuple[Commit, ...] | None:
    """The commits from *tip* down to the first of *known*, a chain of first parents, oldest first.

    None also where history forks on the way, or on the chain, by which more than it would be known.
    """
    for member in list(known)[:-1]:
        data = read(member)
        if data is None or len(_parents(data)) != 1:
            return None
    found: list[Commit] = []
    name = tip
    while name not in known and len(found) < NEAR:
        commit = parse_commit(name, read(name))
        if commit is None or len(commit.parents) != 1:
            return None
        found.append(commit)
        name = commit.parents[0]
    return tuple(reversed(found)) if name in known else None


def parse_commit(name: str, data: bytes | None) -> Commit | None:
    """A commit taken apart; None for one whose form is out of the ordinary."""
    if data is None:
        return None
    head, _, message = data.partition(b"\n\n")
    lines = head.split(b"\n")
    people = {}
    for line in lines:
        key, _, value = line.partition(b" ")
        if key == b"encoding":
            return None
        if key in (b"author", b"committer"):
            people[key] = _PERSON.fullmatch(value)
    author, committer = people.get(b"author"), people.get(b"committer")
    if author is None or committer is None:
        return None
    who = (os.fsdecode(author[part]) for part in ("name", "email", "date"))
    return Commit(
        name=name,
        tree=_tree(data),
        parents=_parents(data),
        author=(next(who), next(who), next(who)),
        committer=committer["name"].decode("utf-8", "replace"),
        subject=_subject(message),
    )


def _tree(data: bytes) -> str:
    return data.partition(b"\n")[0].removeprefix(b"tree ").decode("ascii")


def _parents(data: bytes) -> tuple[str, ...]:
    found = []
    for line in data.split(b"\n")[1:]:
        if not line.startswith(b"parent "):
            break
        found.append(line.removeprefix(b"parent ").decode("ascii"))
    return tuple(found)


def _subject(message: bytes) -> str:
    """The first paragraph in one line, as git tells it."""
    text = message.decode("utf-8", "replace").lstrip("\n")
    lines: list[str] = []
    for line in text.split("\n"):
        if not line.strip():
            if lines:
                break
            continue
        lines.append(line.rstrip())
    return " ".join(lines)
