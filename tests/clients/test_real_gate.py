"""Claude Code as it is installed, with the gate's hook in the repository's settings."""

import json

import pytest

from client_table import CLAUDE
from client_world import COMMIT, HELLO, SIGNAL, ClientWorld
from model_server import Play, Shell, Write

pytestmark = [
    pytest.mark.real_clients,
    pytest.mark.parametrize("client", [CLAUDE], ids=["claude"], indirect=True),
]
FORCE = Shell("git push --force origin HEAD")


def prepare(real: ClientWorld, *steps: Write | Shell) -> None:
    """Commit the hook, and have the model take these steps before the story's own.

    The client's own permissions allow everything, so that the gate alone is asked.
    """
    real.configure('permissions = "full"\n')
    assert real.qloop("init", "--agents", "claude").code == 0
    real.repo.git("add", ".claude/settings.json")
    real.repo.git("commit", "--quiet", "-m", "the gate")
    real.server.plays = {"Say hello": Play((*steps, *HELLO.steps), SIGNAL)}


def test_a_denied_tool_does_nothing_and_an_allowed_one_works(real: ClientWorld) -> None:
    """The agent hears the rule and goes on; what it may write lands."""
    prepare(real, Write("quantum.json", "{}\n"), Shell("echo more > hello.txt"))

    ran = real.run()

    (ended,) = real.events("agent.ended")
    (denials,) = (real.path / ".qloop" / "logs").rglob("*.denied.jsonl")
    noted = [json.loads(line) for line in denials.read_text("utf-8").splitlines()]
    assert ran.code == 0, ran.err + real.logged()
    assert "qloop gate, protected" in real.logged()
    assert [one.get("rule") for one in noted if not one["allow"]] == ["protected"]
    assert ended["data"]["denied"] is None
    assert real.files()["hello.txt"] == "hello"
    assert "quantum.json" not in real.files()


def test_three_equal_denials_end_the_agent(real: ClientWorld) -> None:
    """The client stops at the third; the attempt fails, and names rule and command."""
    prepare(real, *[FORCE] * 5, COMMIT)

    ran = real.run("--max-retries", "1")

    (entry,) = real.story("A-1")["retries"]["failureLog"]
    (ended,) = real.events("agent.ended")
    assert ran.code == 1, ran.err + real.logged()
    assert entry["phase"] == "stuck", entry
    assert "stuck at the gate" in entry["reason"]
    assert "git push --force" in entry["reason"]
    assert ended["data"]["denied"]["rule"] == "destructive"
    assert ended["data"]["denied"]["count"] == 3
