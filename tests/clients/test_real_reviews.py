"""Agent command lines as they are installed, as reviewers of what they made."""

import json

import pytest

from client_table import CLAUDE, CODEX, GEMINI
from client_world import HELLO, ClientWorld
from model_server import Play, Shell, Write

pytestmark = pytest.mark.real_clients

MET = {"criterion": 1, "met": True, "evidence": ["hello.txt:1"]}
GOOD = json.dumps({"verdict": "passed", "criteria": [MET], "issues": []})
WELL = json.dumps({"verdict": "passed"})
LOOK = Shell("git log --oneline -3")
SCRIBBLE = (Shell("echo mine > mine.txt"), Write("more.txt", "more\n"))


@pytest.mark.parametrize(
    "client", [CLAUDE, CODEX, GEMINI], ids=lambda client: client.name, indirect=True
)
def test_reviewers_look_write_nothing_and_answer(real: ClientWorld) -> None:
    """Their answer is found; those that can be held to reading are, also as root."""
    real.configure("[gates]\nspec_review = true\nquality_review = true")
    tried = () if real.client.full else SCRIBBLE
    real.server.plays = {
        "does this change do what story": Play((LOOK, *tried), GOOD),
        "is the change for story": Play((), WELL),
        "Say hello": HELLO,
    }

    ran = real.run()

    roles = [one["data"]["role"] for one in real.events("agent.started")]
    repaired = [one["data"] for one in real.events("state.repaired")]
    assert ran.code == 0, ran.err + real.logged()
    assert roles == ["implementer", "spec-reviewer", "quality-reviewer"], repaired
    assert "1. met: hello.txt:1" in real.story("A-1")["review"]["specCompliance"]["evidence"]
    assert real.files()["hello.txt"] == "hello"
    assert repaired == []
