"""`INDEX.md` beside the intents' folders: which are wanted now, later, together, or not any more.

It is what decides whether an intent is over. A person may edit it: lines that are no intent's stay
where they are. An intent's line is `- [ID — Title](path)`; a plain hyphen does as well.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from qloop.state.intent import Intent, plain_lines
from qloop.state.lifecycle import Disposition
from qloop.state.sections import find_section, outside_code

INDEX = "INDEX.md"

_LINE = re.compile(r"\s*[-*+]\s+\[\s*([1-9][0-9]{0,8})\s+[\u2014\u2013-]\s+(.*?)\]\([^()]*\).*")
_CLUSTER = re.compile(r"###\s+(.*?)\s*")


class Group(StrEnum):
    """The sections of the index."""

    ACTIVE = "Active"
    FUTURE = "Future"
    CLUSTERS = "Clusters"
    ABANDONED = "Abandoned"
    COMPLETED = "Completed"


STANDINGS = (Group.COMPLETED, Group.ABANDONED, Group.ACTIVE, Group.FUTURE)
"""Where an intent may stand; of several the first one counts, so that none comes back to life."""
ENDINGS = {Disposition.DELIVERED: Group.COMPLETED, Disposition.ABANDONED: Group.ABANDONED}


@dataclass(frozen=True, slots=True)
class Index:
    """What an index says."""

    groups: dict[Group, tuple[int, ...]] = field(default_factory=dict)
    clusters: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def group_of(self, number: int) -> Group | None:
        """Where an intent stands; None for one that the index does not have."""
        return next((one for one in STANDINGS if number in self.groups.get(one, ())), None)

    def ending_of(self, number: int) -> Disposition | None:
        """How an intent ended; None for one that is not over."""
        group = self.group_of(number)
        return next((how for how, ending in ENDINGS.items() if ending is group), None)

    def clusters_of(self, number: int) -> tuple[str, ...]:
        """The clusters that an intent belongs to."""
        return tuple(name for name, members in self.clusters.items() if number in members)


def parse_index(text: str) -> Index:
    """What an index says; anything but its sections and lines is passed over."""
    lines = plain_lines(text).split("\n")
    groups = {group: tuple(_ids(_body(lines, group))) for group in STANDINGS}
    clusters: dict[str, tuple[int, ...]] = {}
    name = ""
    for line in _body(lines, Group.CLUSTERS):
        heading = _CLUSTER.fullmatch(line)
        name = heading[1] if heading else name
        if name:
            clusters[name] = (*clusters.get(name, ()), *_ids([line]))
    return Index(groups, clusters)


def placed(text: str, intent: Intent, group: Group) -> str:
    """The index with an intent in this of its groups alone, as the last one; else as it is."""
    index = parse_index(text)
    standing = [one for one in STANDINGS if intent.id in index.groups.get(one, ())]
    if standing == [group]:
        return text
    lines = _whole(text)
    for one in standing:
        start, stop = _span(lines, one)
        kept = [line for line in lines[start:stop] if intent.id not in _ids([line])]
        lines[start:stop] = kept if any(line.strip() for line in kept) else [""]
    _append(lines, *_span(lines, group), render_line(intent))
    return "\n".join(lines)


def clustered(text: str, name: str, intents: Iterable[Intent]) -> str:
    """The index with intents in a cluster, which is made where it is not there yet."""
    known = parse_index(text).clusters
    new = [one for one in intents if one.id not in known.get(name, ())]
    if not new:
        return text
    lines = _whole(text)
    start, stop = _span(lines, Group.CLUSTERS)
    if name not in known:
        _append(lines, start, stop, *([""] if known else []), f"### {name}", "")
        start, stop = _span(lines, Group.CLUSTERS)
    headings = [at for at in range(start, stop) if _CLUSTER.fullmatch(lines[at])]
    own = next(at for at in headings if f"### {name}" == " ".join(lines[at].split()))
    end = next((at for at in headings if at > own), stop)
    _append(lines, own + 1, end, *(render_line(one) for one in new))
    return "\n".join(lines)


def render_line(intent: Intent) -> str:
    """An intent's line."""
    title = intent.title.replace("[", "(").replace("]", ")")
    return f"- [{intent.id} — {title}]({intent.name}/{intent.document.name})"


def _ids(lines: Iterable[str]) -> list[int]:
    found = (_LINE.fullmatch(line) for line in lines)
    return [int(line[1]) for line in found if line is not None]


def _body(lines: list[str], group: Group) -> list[str]:
    found = find_section(lines, group)
    if found is None:
        return []
    body = lines[slice(*found)]
    return [line for _, line in outside_code(body)]


def _whole(text: str) -> list[str]:
    """The lines of an index that has all its sections."""
    lines = plain_lines(text).split("\n") if text.strip() else ["# Intents", ""]
    for group in Group:
        if find_section(lines, group) is None:
            while lines and not lines[-1].strip():
                lines.pop()
            lines += ["", f"## {group}", ""]
    return lines


def _span(lines: list[str], group: Group) -> tuple[int, int]:
    found = find_section(lines, group)
    assert found is not None  # the lines are whole
    return found


def _append(lines: list[str], start: int, stop: int, *new: str) -> None:
    """Put lines at the end of a part, between blank ones."""
    body = lines[start:stop]
    while body and not body[-1].strip():
        body.pop()
    lines[start:stop] = [*(body or [""]), *new, ""]
