"""OpenAI Responses: `POST /v1/responses`, spoken by Codex."""

import json
import time
from collections.abc import Iterator

from model_server.faults import Fault
from model_server.talk import Event, Json, Reply, Talk, objects, schemas


def read(body: Json, path: str, text: str) -> Talk:
    """The conversation in a request."""
    functions = (tool for tool in objects(body.get("tools")) if tool.get("type") == "function")
    tools = ((tool.get("name", ""), tool.get("parameters")) for tool in functions)
    turns = sum(item.get("type") == "function_call" for item in objects(body.get("input")))
    return Talk(str(body.get("model", "")), schemas(tools), turns, text)


def whole(reply: Reply, model: str) -> Json:
    """The reply in one piece."""
    return {
        "id": f"resp_{reply.number}",
        "object": "response",
        "created_at": int(time.time()),
        "status": "completed",
        "model": model,
        "output": _items(reply),
        "usage": {
            "input_tokens": reply.read_tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": reply.written_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": reply.read_tokens + reply.written_tokens,
        },
    }


def stream(reply: Reply, model: str) -> Iterator[Event]:
    """The reply as events."""
    response = whole(reply, model)
    begun = {**response, "status": "in_progress", "output": [], "usage": None}
    events: list[tuple[str, Json]] = [("response.created", {"response": begun})]
    for index, item in enumerate(response["output"]):
        added = {**item, "status": "in_progress"}
        events.append(("response.output_item.added", {"output_index": index, "item": added}))
        events.append(("response.output_item.done", {"output_index": index, "item": item}))
    events.append(("response.completed", {"response": response}))
    for number, (name, data) in enumerate(events):
        yield name, {"type": name, "sequence_number": number, **data}


def refusal(fault: Fault) -> Json:
    """The body of an answer that is an error."""
    words = fault.wording
    if fault.resets_at_s is not None:
        limit = {"type": "usage_limit_reached", "plan_type": "plus", "resets_at": fault.resets_at_s}
        return {"error": {**limit, "message": "The usage limit has been reached"}}
    error = {"type": words.openai, "code": words.openai, "param": None, "message": words.message}
    return {"error": error}


def _items(reply: Reply) -> list[Json]:
    if reply.calls:
        return [
            {
                "type": "function_call",
                "id": f"fc_{reply.number}_{index}",
                "call_id": f"call_{reply.number}_{index}",
                "name": call.tool,
                "arguments": json.dumps(call.arguments),
                "status": "completed",
            }
            for index, call in enumerate(reply.calls)
        ]
    said = {"type": "output_text", "text": reply.text, "annotations": []}
    head = {"type": "message", "id": f"msg_{reply.number}", "role": "assistant"}
    return [{**head, "status": "completed", "content": [said]}]
