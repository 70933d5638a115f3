"""Anthropic Messages: `POST /v1/messages`, spoken by Claude Code."""

import json
from collections.abc import Iterator

from model_server.faults import Fault
from model_server.talk import Event, Json, Reply, Talk, objects, schemas


def read(body: Json, path: str, text: str) -> Talk:
    """The conversation in a request."""
    tools = (
        (tool.get("name", ""), tool.get("input_schema")) for tool in objects(body.get("tools"))
    )
    turns = sum(
        any(block.get("type") == "tool_use" for block in objects(message.get("content")))
        for message in objects(body.get("messages"))
        if message.get("role") == "assistant"
    )
    return Talk(str(body.get("model", "")), schemas(tools), turns, text)


def whole(reply: Reply, model: str) -> Json:
    """The reply in one piece."""
    return {
        "id": f"msg_{reply.number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": _blocks(reply),
        "stop_reason": "tool_use" if reply.calls else "end_turn",
        "stop_sequence": None,
        "usage": _usage(reply),
    }


def stream(reply: Reply, model: str) -> Iterator[Event]:
    """The reply as events."""
    message = whole(reply, model)
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    begun = {**message, "content": [], "stop_reason": None}
    yield _event("message_start", message=begun)
    for index, block in enumerate(message["content"]):
        is_text = block["type"] == "text"
        empty = {**block, **({"text": ""} if is_text else {"input": {}})}
        yield _event("content_block_start", index=index, content_block=empty)
        delta: Json = (
            {"type": "text_delta", "text": block["text"]}
            if is_text
            else {
                "type": "input_json_delta",
                "partial_json": json.dumps(block["input"]),
            }
        )
        yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    yield _event("message_delta", delta=end, usage=message["usage"])
    yield _event("message_stop")


def refusal(fault: Fault) -> Json:
    """The body of an answer that is an error."""
    error = {"type": fault.wording.anthropic, "message": fault.wording.message}
    return {"type": "error", "error": error}


def _event(name: str, **data: object) -> Event:
    return name, {"type": name, **data}


def _blocks(reply: Reply) -> list[Json]:
    said: list[Json] = [{"type": "text", "text": reply.text}]
    return said + [
        {
            "type": "tool_use",
            "id": f"toolu_{reply.number}_{index}",
            "name": call.tool,
            "input": call.arguments,
        }
        for index, call in enumerate(reply.calls)
    ]


def _usage(reply: Reply) -> Json:
    return {
        "input_tokens": reply.read_tokens,
        "output_tokens": reply.written_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }
