"""Agent command lines as they are installed, as leaders of a wave."""

import json

import pytest

from client_table import CLAUDE, CODEX, GEMINI
from client_world import HELLO, ClientWorld
from model_server import Play, Shell

pytestmark = pytest.mark.real_clients

WORDS = ("attempt A-1 --start", "attempt A-1 --wait 60s", "wave complete wave-1")
PATHLESS = ("codex",)
"""Their shell begins with a PATH of its own; the prompt tells where qloop lies."""
BOUNDLESS = ("codex", "mini")
"""Held to less, the one does not start, and the other's sandbox keeps it from local sockets."""


def lead(client: str) -> Play:
    """What an agent does that leads the wave."""
    qloop = '"$TMPDIR/bin/qloop"' if client in PATHLESS else "qloop"
    steps = tuple(Shell(f"{qloop} {words}") for words in WORDS)
    return Play(steps, "<quantum>WAVE_PASSED</quantum>")


@pytest.mark.parametrize(
    "client", [CLAUDE, CODEX, GEMINI], ids=lambda client: client.name, indirect=True
)
def test_an_agent_leads_a_wave(real: ClientWorld) -> None:
    """With the manifest that comes with qloop: its shell may call the toolkit, and does."""
    name = real.client.name
    top = {"runner": name, "model": real.client.model}
    top |= {"permissions": "full"} if name in BOUNDLESS else {}
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in top.items())
    (real.path / "qloop.toml").write_text(text, encoding="utf-8")
    real.server.plays = {"You lead the attempts at the stories": lead(name), "Say hello": HELLO}

    ran = real.run("--coordinator-agent")

    logs = [*(real.path / ".qloop" / "waves").rglob("*.log")]
    printed = real.logged() + "\n".join(log.read_text(errors="replace") for log in logs)
    assert ran.code == 0, ran.err + printed
    assert real.files()["hello.txt"] == "hello"
    assert [one["data"] for one in real.events("state.repaired")] == [], printed
    ended = [one["data"] for one in real.events("agent.ended")]
    leads = [one["signal"] for one in ended if one["role"] == "coordinator"]
    assert leads == ["WAVE_PASSED"], printed
