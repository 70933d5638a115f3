"""Google GenAI: `POST /v1beta/models/MODEL:generateContent`, spoken by Gemini CLI."""

from collections.abc import Iterator

from model_server.faults import Fault
from model_server.talk import Event, Json, Reply, Talk, objects, schemas


def read(body: Json, path: str, text: str) -> Talk:
    """The conversation in a request; the model stands in its path."""
    declared = (
        one
        for tool in objects(body.get("tools"))
        for one in objects(tool.get("functionDeclarations"))
    )
    tools = (
        (one.get("name", ""), one.get("parametersJsonSchema") or one.get("parameters"))
        for one in declared
    )
    turns = sum(
        any("functionCall" in part for part in objects(content.get("parts")))
        for content in objects(body.get("contents"))
    )
    model = path.rpartition("/")[2].partition(":")[0]
    return Talk(model, schemas(tools), turns, text)


def whole(reply: Reply, model: str) -> Json:
    """The reply in one piece."""
    said: list[Json] = [{"text": reply.text}]
    calls = [{"functionCall": {"name": call.tool, "args": call.arguments}} for call in reply.calls]
    content = {"role": "model", "parts": calls or said}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": reply.read_tokens,
            "candidatesTokenCount": reply.written_tokens,
            "totalTokenCount": reply.read_tokens + reply.written_tokens,
        },
        "modelVersion": model,
        "responseId": reply.number,
    }


def stream(reply: Reply, model: str) -> Iterator[Event]:
    """The reply as events: all in one."""
    yield "", whole(reply, model)


def refusal(fault: Fault) -> Json:
    """The body of an answer that is an error."""
    words = fault.wording
    return {"error": {"code": fault.status, "message": words.message, "status": words.google}}
