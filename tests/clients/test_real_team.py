"""Claude Code as it is installed, in every role of an intent's gated team."""

import json
from pathlib import Path
from typing import Any

import pytest

from client_table import CLAUDE
from client_world import HELLO, ClientWorld
from model_server import Play, Shell
from model_server.play import SHELLS, WRITERS
from model_server.server import Seen
from qloop.state.savepoints import read_ledger

WALKERS = ("brainstorming", "spec-specialist", "planner")
pytestmark = pytest.mark.real_clients

LOOK = Shell("git log --oneline -3")
TASKS = {
    "brainstorming": "# Your task: think an intent over",
    "spec-specialist": "# Your task: specify an intent",
    "planner": "# Your task: make a plan of",
    "executor": "# Your task: story A-1",
    "reviewer": "# Your task: does what landed do what the intent asks?",
}
EDITORS = {*WRITERS, "Edit", "MultiEdit", "NotebookEdit", "replace", "apply_patch"}
MET = {"met": True, "evidence": ["hello.txt:1"]}
STORY = {"id": "A-1", "title": "Greet", "acceptanceCriteria": ["AC-1: hello.txt says hello"]}
SAID: dict[str, dict[str, Any]] = {
    "brainstorming": {"decisions": [{"text": "One file", "why": "two would differ"}]},
    "spec-specialist": {
        "title": "Hello",
        "problem": "Nobody is greeted.",
        "goals": [{"text": "Somebody says hello", "sentences": [1]}],
        "acceptanceCriteria": [{"text": "hello.txt says hello", "sentences": [2]}],
    },
    "planner": {"stories": [{**STORY, "verify": ["test -s hello.txt"]}]},
    "reviewer": {
        "verdict": "passed",
        "criteria": [{"criterion": 1, **MET}, {"criterion": 2, **MET}],
    },
}
REPORT = """\
=== completion report ===
Role: brainstorming
Intent: 1
Stage: Why
Status: delivered
Artifacts: ## Context
Verification: n/a
Checklist: n/a
Deviations: none
Blockers: none
Insights:
=== end of report ===

"""


def asked(real: ClientWorld, role: str) -> list[Seen]:
    """The requests of one of the team."""
    return [one for one in real.server.seen if TASKS[role] in one.text]


@pytest.mark.parametrize("way", ["each", "one"])
@pytest.mark.parametrize("client", [CLAUDE], ids=lambda client: client.name, indirect=True)
def test_a_team_takes_an_intent_from_wish_to_deed(real: ClientWorld, way: str) -> None:
    """Each is told where the intent stands, reads only, and hands on; the reviewer ends it.

    One that walks goes on in its session; the reviewer has another one.
    """
    real.quantum.unlink()
    answers = {role: json.dumps(said) for role, said in SAID.items()}
    answers["brainstorming"] = REPORT + answers["brainstorming"]
    steps = (LOOK,) if way == "each" else ()
    plays = {TASKS[role]: Play(steps, answers[role]) for role in reversed(SAID)}
    real.server.plays = {**plays, TASKS["executor"]: HELLO}
    wish = "Somebody should say hello. It goes into a file."
    folder = Path(json.loads(real.qloop("intent", "new", wish, "--json").out)["folder"])

    ran = real.qloop("auto", "1", "--non-interactive", "--team", way)

    assert ran.code == 0, ran.err + real.logged()
    for role, task in TASKS.items():
        first = asked(real, role)[-1 if role == "executor" else 0]
        before, _, _ = first.text.partition(task)
        *earlier, head = before.split("=== qloop preamble ===")[1:]
        turns = WALKERS.index(role) if way == "one" and role in WALKERS else 0
        assert len(earlier) == turns
        assert f"Cycle step / role: {role}" in head
        assert ("sub-agents of your own" in head) == (role != "executor")
        assert EDITORS.isdisjoint(first.tools) == (role != "executor"), first.tools
        assert set(SHELLS).intersection(first.tools)
        assert ("go on in the session" in head) == bool(turns)
    assert kinds(folder) == ["delivered"] + ["synthesized"] * 4
    ends = [one.milestone for one in read_ledger(folder) if one.kind == "Report"]
    assert ends == [f"{role}-1 finished" for role in TASKS]
    assert "the reviewer finds that it does what was asked" in (folder / "outcome.md").read_text()
    assert real.files(f"ql/{folder.name}")["hello.txt"] == "hello"


def kinds(folder: Path) -> list[str]:
    """By whom each of the team is accounted for."""
    reports = {path.name[4:-3]: path.read_text("utf-8") for path in folder.glob("reports/*")}
    return [reports[role].split("Status: ")[1].split()[0] for role in TASKS]
