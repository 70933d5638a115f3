"""How a document was before it was changed in place, cheap also for ten thousand stories.

A snapshot keeps a document as bytes, part by part: each story, and each other top-level field.
Afterwards only the parts whose bytes differ are built again; the others are shared with the
changed document, so that comparing the two is cheap.
"""

import json
from typing import Any

import orjson

from qloop.plan.model import Json


class Snapshot:
    """A document at one moment, as bytes, part by part."""

    def __init__(self, document: Json) -> None:
        stories = document.get("stories")
        self._stories = [_dump(story) for story in stories] if isinstance(stories, list) else None
        self._fields = {
            key: _dump(value)
            for key, value in document.items()
            if key != "stories" or self._stories is None
        }

    def note_field(self, key: str, value: Any) -> None:
        """Follow the change of a top-level field."""
        self._fields[key] = _dump(value)

    def rebuild(self, later: "Snapshot", document: Json) -> Json:
        """The document as it was; *document* is what *later* was taken of, and lends its parts."""
        before: Json = {
            key: document[key] if later._fields.get(key) == part else _load(part)
            for key, part in self._fields.items()
        }
        if self._stories is not None:
            lent: list[Any] = [] if later._stories is None else document["stories"]
            parts = later._stories or []
            before["stories"] = [
                lent[place] if place < len(parts) and parts[place] == part else _load(part)
                for place, part in enumerate(self._stories)
            ]
        return before


def share_stories(lender: Json, document: Json) -> Json:
    """The document with each story that *lender* has as well being the very same object.

    Comparing documents skips what is one object, so that only stories that differ cost time.
    """
    lent, stories = lender.get("stories"), document.get("stories")
    if not isinstance(lent, list) or not isinstance(stories, list):
        return document
    known = {_dump(story): story for story in lent}
    return {**document, "stories": [known.get(_dump(story), story) for story in stories]}


def _dump(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        # Integers beyond 64 bits and halves of surrogate pairs, which only the slow way knows.
        return json.dumps(value).encode()


def _load(part: bytes) -> Any:
    # Not orjson, which reads integers beyond 64 bits as floats.
    return json.loads(part)
