"""Agent command lines as they are installed, as delegates: their requests offer no tool at all."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from client_install import search_path
from client_table import CLAUDE, CODEX, GEMINI, QWEN
from client_world import ClientWorld
from model_server import Play
from model_server.server import Seen

pytestmark = pytest.mark.real_clients

TRACE = "collecting\n" * 120 + "shop.py:2: AssertionError: assert 7 == 6\n"
DIFF = "--- a/shop.py\n+++ b/shop.py\n@@ -1 +1 @@\n-price = 1\n+price = 2\n"
SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    told = {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}}
    told |= {"serverInfo": {"name": "z", "version": "1"}}
    if asked["method"] == "tools/list":
        told = {"tools": [{"name": "zap", "inputSchema": {"type": "object", "properties": {}}}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": told}), flush=True)
"""
"""A server of a tool, as people have them in their settings."""

PLACES = {
    "claude": ".claude.json",
    "gemini": ".gemini/settings.json",
    "qwen": ".qwen/settings.json",
}


def with_tool_server(real: ClientWorld) -> None:
    """Give the person's own settings a server of tools."""
    program = real.flags / "server.py"
    program.write_text(SERVER, encoding="utf-8")
    server = {"command": sys.executable, "args": [str(program)]}
    place = PLACES.get(real.client.name)
    if place is None:
        lines = [f"{key} = {json.dumps(value)}" for key, value in server.items()]
        with (Path(os.environ["HOME"]) / ".codex/config.toml").open("a", encoding="utf-8") as out:
            out.write("\n".join(["[mcp_servers.zapper]", *lines, ""]))
        return
    path = Path(os.environ["HOME"]) / place
    settings = json.loads(path.read_text("utf-8")) if path.exists() else {}
    path.write_text(json.dumps({**settings, "mcpServers": {"zapper": server}}), encoding="utf-8")


def programs(real: ClientWorld) -> str:
    """The PATH; on it codex, which reads no settings then, is told by words where its model is."""
    path = search_path(real.client.package)
    if real.client.name != "codex":
        return path
    provider = f'{{name="here",base_url="{real.server.url}/v1",env_key="CODEX_API_KEY"'
    words = ('model_provider="here"', f'model_providers.here={provider},wire_api="responses"}}')
    program = real.client.package.programs / "codex"
    given = " ".join(f"-c '{word}'" for word in words)
    wrapper = real.flags / "codex"
    wrapper.write_text(f'#!/bin/sh\nexec {program} "$@" {given}\n', encoding="utf-8")
    wrapper.chmod(0o755)
    return f"{real.flags}:{path}"


def tools_of(seen: Seen) -> list[Any]:
    """All that a request offers, whatever its form."""
    offered = json.loads(seen.text).get("tools") or []
    return [tool for tool in offered if tool != {"functionDeclarations": []}]


@pytest.mark.parametrize(
    "client", [CLAUDE, CODEX, GEMINI, QWEN], ids=lambda client: client.name, indirect=True
)
def test_a_delegate_is_offered_no_tool(real: ClientWorld) -> None:
    """Neither its own nor those of the person's settings; its answer comes back."""
    with_tool_server(real)
    real.server.plays = {"compress a trace": Play((), "see shop.py:2, one too much", True)}

    ran = real.qloop("delegate", "qa", "--prompt", TRACE, PATH=programs(real))

    assert ran.code == 0, ran.err
    assert ran.out == "see shop.py:2, one too much\n", ran.err
    assert [tools_of(one) for one in real.server.seen] == [[]]
    assert "collecting" in real.server.seen[0].text
    assert str(real.path) not in real.server.seen[0].text


@pytest.mark.parametrize("client", [CLAUDE], ids=lambda client: client.name, indirect=True)
def test_a_worker_mends_a_file_and_its_cost_is_known(real: ClientWorld) -> None:
    """What it answers is applied to the file that it was shown."""
    (real.path / "shop.py").write_text("price = 1\n", encoding="utf-8")
    real.server.plays = {"change shop.py": Play((), DIFF, True)}

    ran = real.qloop("delegate", "worker", "--target", "shop.py", "--prompt", "2!", "--json")

    told = json.loads(ran.out)
    assert ran.code == 0, ran.err
    assert (real.path / "shop.py").read_text("utf-8") == "price = 2\n"
    assert (told["runner"], told["outcome"], told["cost_source"]) == (
        "claude",
        "applied",
        "reported",
    )
    assert told["usd"] > 0
    assert [tools_of(one) for one in real.server.seen] == [[]]
