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
LOOK = Shell("git log --oneline -3")
MET = {"criterion": 1, "met": True, "evidence": ["hello.txt:1"]}
GOOD = json.dumps({"verdict": "passed", "criteria": [MET], "issues": []})
FORCE = Shell("git push --force origin HEAD")


def prepare(real: ClientWorld, *steps: Write | Shell, gates: str = "") -> None:
    """Commit the hook, and have the model take these steps before the story's own.

    The client's own permissions allow everything, so that the gate alone is asked.
    """
    real.configure(f'permissions = "full"\n{gates}')
    assert real.qloop("init", "--agents", "claude").code == 0
    real.repo.git("add", ".claude/settings.json")
    real.repo.git("commit", "--quiet", "-m", "the gate")
    review = Play((LOOK, Shell("echo mine > mine.txt")), GOOD)
    work = Play((*steps, *HELLO.steps), SIGNAL)
    real.server.plays = {"does this change do what story": review, "Say hello": work}


def denied(real: ClientWorld, log: str) -> list[str]:
    """The rules by which calls of one agent were denied."""
    (denials,) = (real.path / ".qloop" / "logs").rglob(f"{log}.denied.jsonl")
    noted = [json.loads(line) for line in denials.read_text("utf-8").splitlines()]
    return [one["rule"] for one in noted if not one["allow"]]


def test_a_denied_tool_does_nothing_and_an_allowed_one_works(real: ClientWorld) -> None:
    """The agent hears the rule and goes on; what it may write lands. A reviewer only looks."""
    steps = (Write("quantum.json", "{}\n"), Shell("echo more > hello.txt"))
    prepare(real, *steps, gates="[gates]\nspec_review = true\n")

    ran = real.run()

    ended = [one["data"] for one in real.events("agent.ended")]
    assert ran.code == 0, ran.err + real.logged()
    assert "qloop gate, protected" in real.logged()
    assert denied(real, "output") == ["protected"]
    assert denied(real, "spec-reviewer") == ["shell-redirect"]
    assert [one["denied"] for one in ended] == [None, None]
    assert real.events("state.repaired") == []
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
