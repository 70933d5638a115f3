"""Claude Code as it is installed, in the roles of a mission's phases that only read."""

import json
from pathlib import Path

import pytest

from client_table import CLAUDE
from client_world import ClientWorld
from model_server import Play, Shell, Write

pytestmark = pytest.mark.real_clients

PATTERN = {"text": "All is said in the README", "evidence": ["README.md:1"]}
SURVEY = json.dumps({"patterns": [PATTERN, {"text": "Made up", "evidence": ["no.py:3"]}]})
SPECIFICATION = {
    "title": "Hello",
    "problem": "Nobody is greeted.",
    "goals": [{"text": "Somebody says hello", "sentences": [1]}],
    "acceptanceCriteria": [{"text": "hello.txt says hello", "sentences": [2]}],
}
DONE = '{"event": "phase.complete", "phase_id": "EXECUTION", "summary": "done"}'
ALONE = f"""
[roles.planner]
runner = "shell"
[phases.EXECUTION]
command = {json.dumps(f"echo '{DONE}'")}
"""


@pytest.mark.parametrize("client", [CLAUDE], ids=lambda client: client.name, indirect=True)
def test_a_scout_and_an_upscaler_read_and_add(real: ClientWorld) -> None:
    """They look around, can change nothing, and what they answer counts where it can be shown."""
    real.repo.commit("source", {"app.py": "print('hi')\n"})
    real.configure(ALONE)
    look, scribble = Shell("git log --oneline -3"), Write("app.py", "gone\n")
    real.server.plays = {
        "who is going to change this repository": Play((look, scribble), SURVEY),
        "make a specification of a directive": Play((look,), json.dumps(SPECIFICATION)),
    }
    words = ("Somebody should say hello. It goes into a file.", "--autonomy", "autopilot")
    begun = real.qloop("mission", "new", *words, "--skip", "REFINEMENT", "--json")

    ran = real.qloop("mission", "run")

    folder = Path(json.loads(begun.out)["folder"])
    report = (folder / "recon/RECON_REPORT.md").read_text("utf-8")
    plan = json.loads((folder / "quantum.json").read_text("utf-8"))
    assert ran.code == 0, ran.err
    assert "All is said in the README (`README.md:1`)" in report
    assert "Made up" not in report
    assert plan["stories"][0]["acceptanceCriteria"] == ["hello.txt says hello"]
    assert "- Somebody says hello" in (folder / "spec.md").read_text("utf-8")
    assert (real.path / "app.py").read_text("utf-8") == "print('hi')\n"
