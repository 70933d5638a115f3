"""Agent command lines as they are installed, as reviewers of what they made."""

import json

import pytest

from client_world import HELLO, ClientWorld
from model_server import Play, Shell, Write
from qloop.agents.shipped import load_shipped

pytestmark = pytest.mark.real_clients

MET = {"criterion": 1, "met": True, "evidence": ["hello.txt:1"]}
GOOD = json.dumps({"verdict": "passed", "criteria": [MET], "issues": []})
WELL = json.dumps({"verdict": "passed"})
GATES = "[gates]\nspec_review = true\nquality_review = true"


def test_a_reviewer_may_look_and_not_write(real: ClientWorld) -> None:
    """As it comes with qloop, where its command line can be held to that, also as root."""
    shipped = load_shipped(real.client.name)
    assert shipped is not None
    if shipped.read is None:
        pytest.skip(f"{real.client.name} cannot be held to reading")
    real.configure(GATES)
    look, write = Shell("git log --oneline -3"), Shell("echo mine > mine.txt")
    real.server.plays = {
        "does this change do what story": Play((look, write, Write("more.txt", "more\n")), GOOD),
        "is the change for story": Play((), WELL),
        "Say hello": HELLO,
    }

    ran = real.run()

    repaired = [one["data"] for one in real.events("state.repaired")]
    runners = [one["data"]["runner"] for one in real.events("agent.started")]
    assert ran.code == 0, ran.err + real.logged()
    assert runners == [real.client.name] * 3
    assert repaired == []


def test_reviewers_look_at_the_change_and_answer(real: ClientWorld) -> None:
    """They work in a checkout that they may only read, and their answer is found."""
    real.configure(GATES)
    real.server.plays = {
        "does this change do what story": Play((Shell("git log --oneline -3"),), GOOD),
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
