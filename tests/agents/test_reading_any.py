"""Whatever bytes come, and however they are cut: readers give the same, and never raise."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.agent_outputs import NAMES, form_of, read, recorded
from qloop.agents.forms import FORMS

WORDS = (
    "type", "subtype", "result", "is_error", "error", "message", "content", "usage", "modelUsage",
    "num_turns", "part", "tokens", "stats", "models", "info", "messages", "item", "errors",
    "permission_denials", "rate_limit_info", "status", "role", "extra", "response", "state",
    "text", "session_id", "total_cost_usd", "input_tokens", "tool_name", "data", "cache", "changes",
    "tool_call", "args", "rejected", "\ud800", "command", "parameters", "input", "name", "tool",
)  # fmt: skip
TYPES = (
    "system", "assistant", "user", "result", "rate_limit_event", "init", "api_retry", "tool_use",
    "tool_result", "text", "thread.started", "turn.completed", "turn.failed", "item.started",
    "item.completed", "agent_message", "file_change", "command_execution", "step_start",
    "step_finish", "error", "message", "tool", "exit",
    "tool_call", "started",
)  # fmt: skip
ODD = (None, True, 0, -1, 1e300, float("nan"), 10**400, "", "\n", "a\nb", "\ud800", "success", "}")
VALUES = st.recursive(
    st.sampled_from([*ODD, *TYPES]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4)
    ),
    max_leaves=6,
)


def objects(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    """Objects of one type with fields that readers know, of any content."""
    fields = st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=8)
    return fields.map(lambda value: {**value, "type": kind})


OBJECTS = st.sampled_from(TYPES).flatmap(objects)


@given(st.sampled_from(NAMES), st.lists(st.integers(0, 12_000), max_size=8))
def test_any_split_gives_the_same(name: str, cuts: list[int]) -> None:
    """Pieces of any size come to what the whole does, with the same readable lines."""
    data = recorded(name)
    ends = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[start:end] for start, end in pairwise(ends)]

    assert read(form_of(name), *pieces) == read(form_of(name), data)


@given(st.sampled_from(NAMES), st.integers(0, 12_000), st.binary(max_size=30))
def test_broken_output_is_read_as_far_as_it_goes(name: str, at: int, broken: bytes) -> None:
    """Bytes put in anywhere raise nothing, and what is read can be written down."""
    data = recorded(name)
    reading, lines = read(form_of(name), data[:at], broken, data[at:])

    assert json.dumps([reading.answer, reading.error, reading.stray]).encode()
    assert all(line.text.encode() and "\n" not in line.text for line in lines)


@settings(max_examples=60)
@given(st.sampled_from(FORMS), st.lists(OBJECTS, max_size=5))
def test_any_objects_are_read(form: str, objects: list[dict[str, Any]]) -> None:
    """Fields of a wrong type are as good as missing."""
    data = b"".join(json.dumps(one).encode() + b"\n" for one in objects)
    reading, lines = read(form, data)

    assert reading.answer.encode() is not None
    assert reading.usage.input_tokens >= 0
    assert all(text.encode() is not None for text in (*reading.denials, reading.model or ""))
    assert all(line.text.strip().encode() for line in lines)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n" * 100,
        b"x" * 5_000_000,
        b"[" * 100_000,
        b'{"type":' * 50_000,
        b"{\n" * 5_000 + b"}\n" * 5_000,
        b"{" + b"\n}" * 20_000,
        b'x {"' * 50_000,
        b'{"type":"result","num_turns":' + b"9" * 10_000 + b"}\n",
        '{"type":"result","result":"\ud800","total_cost_usd":NaN}\n'.encode(
            "utf-8", "surrogatepass"
        ),
        b'{"type":"result","result":"\\ud800 here"}\n',
    ],
    ids=range(11),
)
def test_hostile_output_is_read_in_good_time(form: str, data: bytes) -> None:
    """Depth, length, halves of characters: nothing raises, nothing takes for ever."""
    reading, _ = read(form, data)

    assert reading.answer.encode() is not None
