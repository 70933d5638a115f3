"""Some stories of a state file, read and written without the others. Pure.

It works on bytes that qloop itself wrote: indented by two, each key on a line of its own, no line
end within a text. So a story begins and ends with a line that stands nowhere else, and all that
is not asked for stays the bytes that it was.
"""

import hashlib
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from qloop.plan.document import render_document
from qloop.plan.glance import find_story_outline, join_outline
from qloop.plan.memory import collector_paused
from qloop.plan.outline import Outline, StoryOutline
from qloop.plan.values import Json

_OPENED = b'\n  "stories": ['
_CLOSED = b"\n  ]"
_STORY_OPENED = b"\n    {\n"
_STORY_CLOSED = b"\n    }"
_NONE = b'\n  "stories": []'

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Part:
    """A document of which only some stories are there, and the bytes that it was read from."""

    data: bytes
    spans: tuple[Span, ...]
    """Where its stories stand in the bytes, in the file's order."""
    region: Span
    """Where all stories stand."""
    document: Json
    """To be changed in place; stories must neither come nor go, nor change their ids."""

    def before(self) -> Json:
        """The document as it was read."""
        return _document(self.data, self.region, self.spans)

    def render(self) -> bytes:
        """The whole file, with what was changed in the document."""
        stories = self.document["stories"]
        head, tail = _around(self.document)
        pieces = [head]
        at = self.region[0]
        for (start, end), story in zip(self.spans, stories, strict=True):
            pieces += [self.data[at:start], _render_story(story)]
            at = end
        return b"".join([*pieces, self.data[at : self.region[1]], tail])


def read_part(data: bytes, ids: Collection[str]) -> Part | None:
    """The document in *data* with the stories of these ids alone, as many as there are.

    None where *data* is not in the form that qloop writes.
    """
    region = find_region(data)
    if region is None:
        return None
    found = (_find(data, region, name) for name in set(ids))
    spans = tuple(sorted(span for span in found if span is not None))
    return Part(data, spans, region, _document(data, region, spans))


class Outliner:
    """Reads outlines of one file as it changes, and of its stories only those that did."""

    def __init__(self) -> None:
        self._known: dict[bytes, StoryOutline] = {}
        """By the digest of their bytes."""

    def read(self, data: bytes) -> Outline | None:
        """The outline of the document; None where there is any doubt about it.

        One story after the other is read, and let go.
        """
        region = find_region(data)
        if region is None:
            return None
        former, self._known = self._known, {}
        try:
            with collector_paused():
                stories = (self._story(data[a:b], former) for a, b in story_spans(data, region))
                return join_outline(read_fields(data, region), stories)
        except ValueError:
            return None

    def _story(self, part: bytes, former: dict[bytes, StoryOutline]) -> StoryOutline | None:
        digest = hashlib.blake2b(part, digest_size=16).digest()
        story = former.get(digest) or find_story_outline(_load(part))
        if story is not None:
            self._known[digest] = story
        return story


def find_region(data: bytes) -> Span | None:
    """Where the stories stand, without the brackets around them; None in another form."""
    opened = data.find(_OPENED)
    if opened < 0 or data.startswith(_NONE, opened):
        return None
    start = opened + len(_OPENED)
    end = data.find(_CLOSED, start)
    return (start, end) if end > 0 and data.startswith(_STORY_OPENED, start) else None


def story_spans(data: bytes, region: Span) -> Iterator[Span]:
    """Where each story stands, in order."""
    at, end = region
    while at < end:
        closed = data.index(_STORY_CLOSED, at, end) + len(_STORY_CLOSED)
        yield at, closed
        at = closed + 1  # the comma


def read_fields(data: bytes, region: Span) -> Json:
    """All of the document but its stories, of which there are none in it."""
    fields: Json = _load(data[: region[0]] + data[region[1] :])
    return fields


def _find(data: bytes, region: Span, story_id: str) -> Span | None:
    key = b'\n      "id": ' + orjson.dumps(story_id)
    for follows in (b",\n", b"\n"):
        at = data.find(key + follows, *region)
        if at >= 0:
            start = data.rfind(_STORY_OPENED, region[0], at + 1)
            return start, data.index(_STORY_CLOSED, at, region[1]) + len(_STORY_CLOSED)
    return None


def _document(data: bytes, region: Span, spans: tuple[Span, ...]) -> Json:
    document = read_fields(data, region)
    document["stories"] = [_load(data[slice(*span)]) for span in spans]
    return document


def _around(document: Json) -> tuple[bytes, bytes]:
    """What stands before the first and after the last story."""
    empty = render_document({**document, "stories": []})
    at = empty.index(_NONE) + len(_OPENED)
    return empty[:at], b"\n  " + empty[at:]


def _render_story(story: Json) -> bytes:
    """A story as it stands in a file."""
    whole = render_document({"stories": [story]})
    region = find_region(whole)
    assert region is not None  # a story has an id at least
    return whole[slice(*region)]


def _load(part: bytes) -> Any:
    # Not orjson, which reads integers beyond 64 bits as floats.
    return json.loads(part)
