"""What passes between a client and a model, whatever the dialect."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Protocol

from model_server.faults import Fault

Json = dict[str, Any]
Event = tuple[str, Json | str]
"""A streamed event's name (empty where the dialect has none) and its data."""

_NUMBERS = count(1)


def fresh(prefix: str) -> str:
    """An identifier that this process has not used."""
    return f"{prefix}{next(_NUMBERS):08d}"


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation as a client sent it."""

    model: str
    tools: Mapping[str, Json]
    """The JSON Schema of each offered tool's arguments."""
    turns: int
    """How many times the model has called tools in it."""
    text: str
    """The whole request, for what is written anywhere in it."""


@dataclass(frozen=True, slots=True)
class Call:
    """One use of a client's tool."""

    tool: str
    arguments: Json


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model says in one turn, and the tokens that it counts for it."""

    text: str
    calls: tuple[Call, ...] = ()
    read_tokens: int = 1000
    written_tokens: int = 100
    number: str = field(default_factory=lambda: fresh(""))


class Dialect(Protocol):
    """One of the interfaces that model services offer."""

    def read(self, body: Json, path: str, text: str) -> Talk:
        """The conversation in a request."""

    def whole(self, reply: Reply, model: str) -> Json:
        """The reply in one piece."""

    def stream(self, reply: Reply, model: str) -> Iterator[Event]:
        """The reply as events."""

    def refusal(self, fault: Fault) -> Json:
        """The body of an answer that is an error."""


def objects(items: object) -> Iterator[Json]:
    """The objects in a list; nothing where it is none."""
    if isinstance(items, list):
        yield from (item for item in items if isinstance(item, dict))


def schemas(tools: Iterable[tuple[str, Json | None]]) -> dict[str, Json]:
    """Tools that have a name, and their schemas."""
    return {name: schema or {} for name, schema in tools if name}
