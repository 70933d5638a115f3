"""Loopback HTTP: asking a server on this machine for a page, and serving a folder.

Nothing here reaches another machine: no proxy is asked, no redirect elsewhere is followed.
Units: seconds, bytes. Errors: NoAnswer.
"""

import http.client
import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

HOSTS = ("127.0.0.1", "::1")
"""Where a server on this machine may listen, in the order they are tried."""
MOST_REDIRECTS = 5
TIMEOUT_S = 30.0
BODY_BYTES = 4_000_000
CONNECT_S = 1.0

_RESERVED = "!#$%&'()*+,/:;=?@[]~"


class NoAnswer(Exception):
    """The server did not answer, or not in HTTP."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server on this machine."""

    host: str
    port: int

    @property
    def address(self) -> str:
        """Its URL, without a final slash."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    def holds(self, url: str) -> bool:
        """Whether a whole URL is of this server, by whatever name of this machine."""
        parts = urlsplit(url)
        with suppress(ValueError):
            is_here = parts.hostname in (*HOSTS, "localhost")
            return parts.scheme == "http" and is_here and parts.port == self.port
        return False


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said."""

    status: int
    kind: str
    """The media type, in lower case; empty where none was given."""
    body: bytes
    """At most BODY_BYTES of it."""
    url: str
    """The page's own, after redirects."""

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", "replace")


def find_server(port: int) -> Server | None:
    """The server that listens on a port of this machine, if one does."""
    for host in HOSTS:
        with suppress(OSError), socket.create_connection((host, port), timeout=CONNECT_S):
            return Server(host, port)
    return None


def fetch(server: Server, target: str) -> Answer:
    """A page by its path and query; redirects on the same server are followed.

    One that leads elsewhere, or the last of too many, is returned as it is.
    """
    url = urljoin(f"{server.address}/", target)
    answer, leads_to = _ask(server, url)
    for _ in range(MOST_REDIRECTS):
        if leads_to is None or not server.holds(leads_to):
            break
        answer, leads_to = _ask(server, leads_to)
    return answer


def _ask(server: Server, url: str) -> tuple[Answer, str | None]:
    """The answer, and where it leads to, if it is a redirect."""
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    target = quote(f"{parts.path or '/'}{query}", safe=_RESERVED)
    connection = http.client.HTTPConnection(server.host, server.port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", target, headers={"Accept": "text/html,*/*", "Host": _host(url)})
        said = connection.getresponse()
        body = said.read(BODY_BYTES)
    except (OSError, http.client.HTTPException) as exc:
        raise NoAnswer(f"{type(exc).__name__}: {exc}".rstrip(": ")) from exc
    finally:
        connection.close()
    kind = (said.getheader("Content-Type") or "").partition(";")[0].strip().lower()
    leads_to = said.getheader("Location") if 300 <= said.status < 400 else None
    return Answer(said.status, kind, body, url), leads_to and urljoin(url, leads_to)


def _host(url: str) -> str:
    return urlsplit(url).netloc


@contextmanager
def served_folder(folder: Path) -> Iterator[Server]:
    """A server of a folder's files on a port of its own, for the length of a block.

    Links that lead out of the folder, and folders without an index page, are not served.
    """
    server = _Files((HOSTS[0], 0), partial(_Handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="files", daemon=True)
    thread.start()
    try:
        yield Server(HOSTS[0], server.server_address[1])
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Files(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    server_address: tuple[str, int]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever hung up does not care."""


class _Handler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""

    def translate_path(self, path: str) -> str:
        """The file's path; one that does not exist for what lies elsewhere."""
        found = super().translate_path(path)
        inside = Path(found).resolve().is_relative_to(Path(self.directory).resolve())
        return found if inside else str(Path(self.directory) / ".git" / "none")

    def list_directory(self, path: Any) -> None:  # noqa: ARG002
        """As most servers do."""
        self.send_error(404, "no index page")
