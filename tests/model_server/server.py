"""The server: requests in, the model's turns or a fault out, and a list of what was asked."""

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import SHUT_RDWR
from types import TracebackType
from typing import Any, ClassVar, Self

from model_server import anthropic, chat, gemini, responses
from model_server.faults import Fault
from model_server.play import Play, answer
from model_server.talk import Dialect, Event, Json, Talk

ENDPOINTS: Mapping[str, Dialect] = {
    "/messages": anthropic,
    "/responses": responses,
    "/chat/completions": chat,
    ":generateContent": gemini,
    ":streamGenerateContent": gemini,
}
KEY_HEADERS = ("x-api-key", "x-goog-api-key", "authorization")
PATIENCE_S = 120.0


@dataclass(frozen=True, slots=True)
class Seen:
    """One request for the model's turn."""

    path: str
    model: str
    key: str
    """The secret that came with it."""
    tools: tuple[str, ...]
    streaming: bool
    text: str
    status: int
    """The HTTP status of the answer; 0: none."""


class ModelServer:
    """Serves on a free port of loopback from `with` to its end, in threads of this process.

    *plays* maps a text to the play for conversations that hold it; the first that fits is played,
    and an empty text fits all. Change `plays` and `fault` at any time. Files are written by the
    clients below *within* only.
    """

    def __init__(self, within: Path, plays: Mapping[str, Play]) -> None:
        self.within = within
        self.plays = dict(plays)
        self.fault: Fault | None = None
        self.seen: list[Seen] = []
        self.elsewhere: list[str] = []
        """Hosts that clients asked it for as their proxy."""
        self.faulty: list[str] = []
        """What this server could not answer, which is a fault of the test."""
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._http = _Http(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """Its address, without a path."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(PATIENCE_S)

    def note(self, seen: Seen) -> None:
        """Keep what was asked."""
        with self._lock:
            self.seen.append(seen)

    def next_fault(self) -> Fault | None:
        """The fault that the request now at hand meets."""
        with self._lock:
            return self.fault and self.fault.at(len(self.seen))

    def play_for(self, talk: Talk) -> Play:
        """The play for a conversation. Raises LookupError if there is none."""
        for text, play in self.plays.items():
            if text in talk.text:
                return play
        raise LookupError(f"no play fits: {', '.join(self.plays)}")

    def hold(self) -> None:
        """Wait for the server's end."""
        self._ended.wait()


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that leave in the middle of an answer are nothing to tell of."""


def _handler(served: ModelServer) -> type["_Handler"]:
    return type("Handler", (_Handler,), {"served": served})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    served: ClassVar[ModelServer]

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""

    def do_CONNECT(self) -> None:
        self.served.elsewhere.append(self.path)
        self._send(403, {})

    def do_GET(self) -> None:
        if not self.path.startswith("/"):
            return self.do_CONNECT()
        model = {"id": "model", "object": "model"}
        return self._send(200, {"object": "list", "data": [model], "models": []})

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        if not self.path.startswith("/"):
            return self.do_CONNECT()
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.partition("?")[0]
        dialect = next((one for end, one in ENDPOINTS.items() if path.endswith(end)), None)
        if dialect is None:  # counting tokens, health checks
            return self._send(200, {"input_tokens": 10, "totalTokens": 10})
        try:
            return self._take_turn(dialect, path, json.loads(raw), raw.decode("utf-8", "replace"))
        except (ValueError, LookupError, AttributeError, TypeError) as exc:
            self.served.faulty.append(f"{path}: {type(exc).__name__}: {exc}")
            return self._send(400, {"error": {"message": str(exc)}})

    def _take_turn(self, dialect: Dialect, path: str, body: Json, text: str) -> None:
        talk = dialect.read(body, path, text)
        streaming = bool(body.get("stream")) or ":stream" in path
        reply = answer(self.served.play_for(talk), talk, self.served.within)
        fault = self.served.next_fault()
        status = 200 if fault is None or fault.kind == "cut" else fault.status
        key = next((self.headers[name] for name in KEY_HEADERS if name in self.headers), "")
        tools = tuple(talk.tools)
        key = key.removeprefix("Bearer ")
        self.served.note(Seen(path, talk.model, key, tools, streaming, text, status))
        if fault is not None and fault.kind != "cut":
            return self._fail(dialect, fault)
        if not streaming:
            return self._send(200, dialect.whole(reply, talk.model), broken=fault is not None)
        return self._stream(dialect.stream(reply, talk.model), broken=fault is not None)

    def _fail(self, dialect: Dialect, fault: Fault) -> None:
        if fault.kind == "refuse":
            return self._send(fault.status, dialect.refusal(fault), fault.headers)
        self.served.hold()
        return self._break()

    def _break(self) -> None:
        self.close_connection = True
        self.connection.shutdown(SHUT_RDWR)

    def _send(
        self,
        status: int,
        body: Json,
        headers: Mapping[str, str] | None = None,
        broken: bool = False,
    ) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        self.wfile.write(data[: len(data) // 2] if broken else data)
        if broken:
            self._break()

    def _stream(self, events: Iterator[Event], broken: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for name, data in events:
            text = data if isinstance(data, str) else json.dumps(data)
            head = f"event: {name}\n" if name else ""
            block = f"{head}data: {text}\n\n".encode()
            self.wfile.write(
                b"%x\r\n%s\r\n" % (len(block), block[: len(block) // 2] if broken else block)
            )
            if broken:
                return self._break()
        self.wfile.write(b"0\r\n\r\n")
        return None
