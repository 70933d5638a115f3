"""OpenAI Chat Completions: `POST /v1/chat/completions`, spoken by Qwen Code and mini-swe-agent."""

import json
import time
from collections.abc import Iterator

from model_server import responses
from model_server.faults import Fault
from model_server.talk import Event, Json, Reply, Talk, objects, schemas


def read(body: Json, path: str, text: str) -> Talk:
    """The conversation in a request."""
    functions = (tool.get("function", {}) for tool in objects(body.get("tools")))
    tools = ((one.get("name", ""), one.get("parameters")) for one in functions)
    turns = sum(bool(message.get("tool_calls")) for message in objects(body.get("messages")))
    return Talk(str(body.get("model", "")), schemas(tools), turns, text)


def whole(reply: Reply, model: str) -> Json:
    """The reply in one piece."""
    choice = {"index": 0, "message": _message(reply), "finish_reason": _end(reply)}
    return {**_head(reply, model, "chat.completion"), "choices": [choice], "usage": _usage(reply)}


def stream(reply: Reply, model: str) -> Iterator[Event]:
    """The reply as events."""
    head = _head(reply, model, "chat.completion.chunk")
    said = {"index": 0, "delta": _message(reply), "finish_reason": None}
    end: Json = {"index": 0, "delta": {}, "finish_reason": _end(reply)}
    yield "", {**head, "choices": [said]}
    yield "", {**head, "choices": [end]}
    yield "", {**head, "choices": [], "usage": _usage(reply)}
    yield "", "[DONE]"


def refusal(fault: Fault) -> Json:
    """The body of an answer that is an error."""
    return responses.refusal(fault)


def _head(reply: Reply, model: str, kind: str) -> Json:
    made = int(time.time())
    return {"id": f"chatcmpl-{reply.number}", "object": kind, "created": made, "model": model}


def _end(reply: Reply) -> str:
    return "tool_calls" if reply.calls else "stop"


def _usage(reply: Reply) -> Json:
    return {
        "prompt_tokens": reply.read_tokens,
        "completion_tokens": reply.written_tokens,
        "total_tokens": reply.read_tokens + reply.written_tokens,
    }


def _message(reply: Reply) -> Json:
    calls = [
        {
            "index": index,
            "id": f"call_{reply.number}_{index}",
            "type": "function",
            "function": {"name": call.tool, "arguments": json.dumps(call.arguments)},
        }
        for index, call in enumerate(reply.calls)
    ]
    said: Json = {"role": "assistant", "content": reply.text}
    return {**said, "tool_calls": calls} if calls else said
