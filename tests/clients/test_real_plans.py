"""Agent command lines as they are installed, as planners of what they make then."""

import json

import pytest

from client_table import CLAUDE, CODEX, GEMINI
from client_world import HELLO, STORY, ClientWorld
from model_server import Play, Shell

pytestmark = pytest.mark.real_clients

WRONG = json.dumps({"stories": [{**STORY, "dependsOn": ["A-0"]}]})
RIGHT = json.dumps({"project": "Hello", "stories": [STORY]})


@pytest.mark.parametrize(
    "client", [CLAUDE, CODEX, GEMINI], ids=lambda client: client.name, indirect=True
)
def test_a_plan_is_made_corrected_and_carried_out(real: ClientWorld) -> None:
    """It looks around, is told what is wrong with its answer, and mends it."""
    real.quantum.unlink()
    (real.path / "wish.md").write_text("Somebody should say hello.\n", encoding="utf-8")
    real.server.plays = {
        "The last answer cannot be used": Play((), RIGHT),
        "make a plan of wish.md": Play((Shell("git log --oneline -3"),), WRONG),
        "Say hello": HELLO,
    }

    planned = real.qloop("plan", "--agent", "wish.md")
    ran = real.run()

    assert planned.code == 0, planned.err
    assert "correction 1 of 3" in planned.err
    assert "plan review: 1 story" in planned.out
    assert ran.code == 0, ran.err + real.logged()
    assert real.files("ql/hello")["hello.txt"] == "hello"
