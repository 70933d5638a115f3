"""Requirements documents for tests, short to write down."""

import pytest

from qloop.plan.model import Json
from qloop.plan.prd import compile_prd
from qloop.system.errors import Faults

NOW = "2026-01-02T03:04:05.000Z"


def compiled(text: str) -> Json:
    """The plan of a document."""
    return compile_prd(text, path="prd.md", now=NOW)


def only_story(body: str) -> Json:
    """The story whose heading stands in line 1 and whose text is *body*."""
    stories = compiled(f"### US-001: A story\n\n{body}\n")["stories"]
    assert len(stories) == 1
    story: Json = stories[0]
    return story


def faults_of(text: str) -> list[str]:
    """All faults of a document, which must have some."""
    with pytest.raises(Faults) as caught:
        compiled(text)
    assert caught.value.where == "prd.md"
    return list(caught.value.faults)
