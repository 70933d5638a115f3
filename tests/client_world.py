"""Agent command lines as they are installed, each in a world with a model service of its own."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen

from client_install import Package, compiled, search_path
from model_server import ModelServer, Play, Shell, Write
from world import World

KEY = "sk-not-a-secret"
SIGNAL = "<quantum>STORY_PASSED</quantum>"
COMPILED = "NODE_COMPILE_CACHE"
"""Where Node.js keeps what it compiled: a client of its kind then starts in less time."""
COMMIT = Shell("git add -A && git commit -q -m 'say hello'")
STORY = {
    "id": "A-1",
    "title": "Say hello",
    "acceptanceCriteria": ["hello.txt says hello"],
    "verify": ["grep -q hello hello.txt"],
}
HELLO = Play((Write("hello.txt", "hello\n"), COMMIT), SIGNAL)


@dataclass(frozen=True, slots=True)
class Client:
    """One agent command line, and how it is told where its model is."""

    package: Package
    model: str
    key: str
    """The variable that takes its key."""
    url: str = ""
    """The variable that takes the service's address, with *url_path*."""
    url_path: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Files in HOME; `{url}` in them becomes the service's address."""
    env: Mapping[str, str] = field(default_factory=dict)
    full: bool = False
    """Whether it can do its work with full permissions only."""
    sandbox: tuple[str, ...] = ()
    """A command of its own that fails where its sandbox cannot be made, as in some containers."""

    @property
    def name(self) -> str:
        """The runner's name."""
        return self.package.program

    def environment(self, server: ModelServer) -> dict[str, str]:
        """The person's environment: a key, the service, and it as the way to all other hosts."""
        given = {self.key: KEY, **self.env, "PATH": search_path(self.package)}
        given[COMPILED] = str(compiled())
        if self.url:
            given[self.url] = server.url + self.url_path
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            given[name] = given[name.upper()] = server.url
        given["no_proxy"] = given["NO_PROXY"] = "127.0.0.1"
        return given


class ClientWorld(World):
    """A repository whose runner is a real client, with HOME as its makers' users have it."""

    def __init__(self, path: Path, client: Client, server: ModelServer) -> None:
        self.client = client
        self.server = server
        super().__init__(path)
        for name, text in client.settings.items():
            place = Path(os.environ["HOME"]) / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text.replace("{url}", server.url), encoding="utf-8")
        self.plan(STORY, testCommand="test -s README.md", qualityCommands=["git diff --check HEAD"])

    def configure(self, extra: str = "", env: Sequence[str] = ()) -> None:
        """Write qloop.toml: the client as the runner, as it comes with qloop, then *extra*."""
        super().configure(env=env)
        top = f"runner = {json.dumps(self.client.name)}\nmodel = {json.dumps(self.client.model)}\n"
        top += f"env_pass = {json.dumps([COMPILED])}\n"
        text = f'{top}permissions = "full"\n{extra}' if self.client.full else f"{top}{extra}"
        (self.path / "qloop.toml").write_text(text, encoding="utf-8")

    def start(self, *words: str, cwd: Path | None = None, **env: str) -> Popen[str]:
        """Start qloop as a person would who uses this client."""
        return super().start(*words, cwd=cwd, **{**self.client.environment(self.server), **env})

    def logged(self) -> str:
        """All that the story's agents printed."""
        logs = sorted((self.path / ".qloop" / "logs").rglob("output.log"))
        return "\n".join(log.read_text(encoding="utf-8", errors="replace") for log in logs)

    def charged(self) -> int:
        """Attempts that were charged to the story."""
        counted: int = self.story("A-1").get("retries", {}).get("attempts", 0)
        return counted
