"""The model service that the tests ship, asked as clients ask it."""

import http.client
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from model_server import Fault, ModelServer, Play, Shell, Write, cut, hang, refuse, usage_limit
from world import wait_until

SIGNAL = "<quantum>STORY_PASSED</quantum>"
PLAY = Play((Write("story.txt", "hello\n"), Shell("git commit -m story")), SIGNAL)
TEXT = {"type": "string"}


@dataclass(frozen=True)
class Api:
    """How one kind of client asks, and where it finds the answer."""

    path: str
    streamed_path: str
    body: dict[str, Any]
    writes: bool
    key: tuple[str, str]
    usage: str

    def turn(self, calls: int) -> dict[str, Any]:
        """A request after so many calls of tools."""
        done: dict[str, list[Any]] = {
            "messages": [
                {
                    "role": "assistant",
                    "content": [{"type": "tool_use"}],
                    "tool_calls": [{"id": "call"}],
                }
            ],
            "input": [{"type": "function_call"}],
            "contents": [{"role": "model", "parts": [{"functionCall": {}}]}],
        }
        field = next(name for name in done if name in self.body)
        return {**self.body, field: self.body[field] + done[field] * calls}


def schema(*names: str) -> dict[str, Any]:
    """A tool's arguments, all of them required, and one that nobody heard of."""
    properties = {**dict.fromkeys(names, TEXT), "odd": {"type": "boolean"}}
    return {"type": "object", "properties": properties, "required": [*properties]}


APIS = {
    "anthropic": Api(
        "/v1/messages",
        "/v1/messages?beta=true",
        {
            "model": "m",
            "messages": [{"role": "user", "content": "go"}],
            "tools": [
                {"name": "Write", "input_schema": schema("file_path", "content")},
                {"name": "Bash", "input_schema": schema("command", "description")},
            ],
        },
        True,
        ("x-api-key", "dummy"),
        '"input_tokens": 1000',
    ),
    "responses": Api(
        "/v1/responses",
        "/v1/responses",
        {
            "model": "m",
            "input": [{"type": "message", "role": "user", "content": []}],
            "tools": [
                {"type": "function", "name": "exec_command", "parameters": schema("cmd")},
                {"type": "web_search"},
            ],
        },
        False,
        ("Authorization", "Bearer dummy"),
        '"input_tokens": 1000',
    ),
    "chat": Api(
        "/v1/chat/completions",
        "/v1/chat/completions",
        {
            "model": "m",
            "messages": [{"role": "user", "content": "go"}],
            "tools": [
                {"type": "function", "function": {"name": name, "parameters": one}}
                for name, one in {
                    "write_file": schema("file_path", "content"),
                    "run_shell_command": schema("command"),
                }.items()
            ],
        },
        True,
        ("Authorization", "Bearer dummy"),
        '"prompt_tokens": 1000',
    ),
    "gemini": Api(
        "/v1beta/models/m:generateContent",
        "/v1beta/models/m:streamGenerateContent?alt=sse",
        {
            "contents": [{"role": "user", "parts": [{"text": "go"}]}],
            "tools": [
                {
                    "functionDeclarations": [
                        {
                            "name": "write_file",
                            "parametersJsonSchema": schema("file_path", "content"),
                        },
                        {"name": "run_shell_command", "parameters": schema("command")},
                    ]
                }
            ],
        },
        True,
        ("x-goog-api-key", "dummy"),
        '"promptTokenCount": 1000',
    ),
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ModelServer]:
    """A server with a play for every conversation."""
    with ModelServer(tmp_path, {"": PLAY}) as made:
        yield made


@pytest.fixture(params=APIS)
def api(request: pytest.FixtureRequest) -> Api:
    """Each interface in its turn."""
    return APIS[request.param]


def ask(
    server: ModelServer, api: Api, body: dict[str, Any], streamed: bool = False
) -> tuple[int, str, dict[str, str]]:
    """Status, text and headers of an answer."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc)
    headers = {"Content-Type": "application/json", api.key[0]: api.key[1]}
    path = api.streamed_path if streamed else api.path
    sent = {**body, "stream": True} if streamed and "contents" not in body else body
    try:
        connection.request("POST", path, json.dumps(sent), headers)
        got = connection.getresponse()
        return got.status, got.read().decode(), dict(got.headers)
    finally:
        connection.close()


def events(text: str) -> list[str]:
    """The data of streamed events."""
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line[:5] == "data:"]
    assert all(json.loads(line) for line in lines if line != "[DONE]")
    return lines


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_the_play_goes_on_by_one_call_each_turn(
    server: ModelServer, api: Api, streamed: bool
) -> None:
    """A file, a command, and the final answer, each in the client's own words for it."""
    texts = [ask(server, api, api.turn(calls), streamed)[1] for calls in range(3)]

    assert streamed is False or [bool(events(text)) for text in texts] == [True] * 3
    assert "story.txt" in texts[0]
    assert "hello" in texts[0]
    assert ("Write" in texts[0] or "write_file" in texts[0]) is api.writes
    assert "git commit -m story" in texts[1]
    assert [SIGNAL in text for text in texts] == [False, False, True]
    assert ["odd" in text for text in texts] == [True, True, False]
    assert api.usage in texts[2]


def test_a_request_is_listed_with_its_secret(server: ModelServer, api: Api) -> None:
    """What was asked for, by which key, with which tools, and how it was answered."""
    ask(server, api, api.turn(0), streamed=True)

    (seen,) = server.seen
    assert (seen.model, seen.key, seen.status, seen.streaming) == ("m", "dummy", 200, True)
    assert seen.tools
    assert "go" in seen.text or "input" in seen.text


def test_a_request_without_tools_gets_no_signal(server: ModelServer, api: Api) -> None:
    """A client's question for a title is not a turn of the story."""
    body = {name: value for name, value in api.turn(2).items() if name != "tools"}

    status, text, _ = ask(server, api, body)

    assert status == 200
    assert SIGNAL not in text
    assert "A story" in text


@pytest.mark.parametrize("status", [401, 429, 500, 529])
def test_a_refusal_has_the_shape_of_its_service(server: ModelServer, api: Api, status: int) -> None:
    """It bears the status, an error object, and the header that says when to come again."""
    server.fault = refuse(status, retry_after_s=7)

    got, text, headers = ask(server, api, api.turn(0))

    assert got == status
    assert json.loads(text)["error"]["message"]
    assert headers["retry-after"] == "7"
    assert [seen.status for seen in server.seen] == [status]


def test_a_fault_strikes_when_it_is_due(server: ModelServer, api: Api) -> None:
    """After so many requests, so many times."""
    server.fault = refuse(529, after=1, times=2)

    assert [ask(server, api, api.turn(0))[0] for _ in range(4)] == [200, 529, 529, 200]


def test_a_usage_limit_tells_its_end(server: ModelServer) -> None:
    """In headers, or in the body, as the service does."""
    server.fault = usage_limit(4_000_000_000)

    _, text, _ = ask(server, APIS["responses"], APIS["responses"].turn(0))
    status, _, headers = ask(server, APIS["anthropic"], APIS["anthropic"].turn(0))

    assert json.loads(text)["error"]["resets_at"] == 4_000_000_000
    assert status == 429
    assert headers["anthropic-ratelimit-unified-reset"] == "4000000000"
    assert headers["anthropic-ratelimit-unified-status"] == "rejected"


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_an_answer_can_break_off(server: ModelServer, api: Api, streamed: bool) -> None:
    """The connection ends before the answer does."""
    server.fault = cut(times=1)

    with pytest.raises(http.client.IncompleteRead):
        ask(server, api, api.turn(0), streamed)
    assert ask(server, api, api.turn(0), streamed)[0] == 200


def test_a_request_can_hang_until_the_server_ends(tmp_path: Path) -> None:
    """It is listed at once, and the client hears nothing until then."""
    api, heard = APIS["chat"], list[Any]()

    def wait_for_it(server: ModelServer) -> None:
        with pytest.raises((http.client.HTTPException, OSError)) as caught:
            ask(server, api, api.turn(0))
        heard.append(caught.value)

    with ModelServer(tmp_path, {"": PLAY}) as server:
        server.fault = hang()
        client = threading.Thread(target=wait_for_it, args=(server,))
        client.start()
        wait_until(lambda: server.seen)

        assert not heard
    client.join()
    assert heard


def test_files_are_written_in_the_worktree_that_is_named(tmp_path: Path) -> None:
    """By its whole path, and nowhere else, whatever other places a request names."""
    inside, outside = tmp_path / "in", tmp_path / "out"
    for place in (inside / "checkout" / ".git", inside / "tree", outside / "tree"):
        place.mkdir(parents=True)
    for place in (inside, outside):
        (place / "tree" / ".git").write_text("gitdir: elsewhere\n")
    api = APIS["anthropic"]
    named = f"cwd: {outside}/tree, see {inside}/checkout. In {inside}/tree."
    body = {**api.turn(0), "system": named}

    with ModelServer(inside, {"": PLAY}) as server:
        _, text, _ = ask(server, api, body)

    assert f'"{inside}/tree/story.txt"' in text


def test_the_play_is_chosen_by_what_the_conversation_holds(server: ModelServer) -> None:
    """The first whose text stands in it; a conversation without a play is the test's fault."""
    api = APIS["chat"]
    server.plays = {"go": Play((), "first"), "g": Play((), "second")}

    assert "first" in ask(server, api, api.turn(0))[1]

    server.plays = {"stop": PLAY}

    assert ask(server, api, api.turn(0))[0] == 400
    assert server.faulty


def test_a_client_that_ends_by_a_command_gets_one(server: ModelServer) -> None:
    """Its instructions name the word; the final answer comes as that command's output."""
    api = APIS["chat"]
    word = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
    told = {"role": "system", "content": f"echo {word}"}
    body = {**api.turn(2), "messages": [told, *api.turn(2)["messages"]]}

    _, text, _ = ask(server, api, body)

    (call,) = json.loads(text)["choices"][0]["message"]["tool_calls"]
    assert json.loads(call["function"]["arguments"])["command"] == f"echo {word} && echo '{SIGNAL}'"


def test_other_questions_are_answered_and_other_hosts_are_not(server: ModelServer) -> None:
    """Lists of models and counts of tokens; as a proxy it refuses and lists who was wanted."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc)
    statuses = []
    for method, path in [
        ("GET", "/v1/models"),
        ("HEAD", "/api/hello"),
        ("POST", "/v1/messages/count_tokens"),
        ("CONNECT", "telemetry.invalid:443"),
    ]:
        connection.request(method, path, "{}" if method == "POST" else None)
        got = connection.getresponse()
        got.read()
        statuses.append(got.status)
    connection.close()

    assert statuses == [200, 200, 200, 403]
    assert server.elsewhere == ["telemetry.invalid:443"]
    assert server.seen == []


def test_a_fault_needs_a_status_that_services_use() -> None:
    """Each refusal has its words."""
    assert refuse(529).wording.anthropic == "overloaded_error"
    with pytest.raises(KeyError):
        _ = Fault("refuse", 299).wording
