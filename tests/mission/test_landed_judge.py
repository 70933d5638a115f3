"""A recognizer that is an agent: its word on all that landed stands beside the evidence."""

import json
from typing import Any

from mission.execution_world import Execution
from qloop.mission.landed_judge import render_recognition
from world import World

UNMET = {"criterion": 1, "met": True, "evidence": ["A-1.txt:1", "gone.txt:1"]}
FLAW = {"severity": "major", "text": "Nobody drinks it", "evidence": ["A-1.txt:1"]}
WANTING = {"verdict": "failed", "criteria": [UNMET], "issues": [FLAW]}
STRANGE = {"verdict": "passed", "criteria": [{"criterion": 7, "met": True}]}


def test_its_word_is_told_and_decides_nothing(world: World) -> None:
    """An answer about something else is sent back once; a fresh coordinator asks no more."""
    execution = Execution(world)
    world.plan({"id": "A-1", "title": "leaves", "verify": ["grep -q tea A-1.txt"]})
    world.agent(
        A_1=[[["write", "A-1.txt", "tea\n"]]],
        recognizer=[[["print", json.dumps(one)]] for one in (STRANGE, WANTING)],
    )

    said = execution.run(execution.order())
    again = execution.run(execution.order())

    page = (execution.folder / "execution/RECOGNITION.md").read_text("utf-8")
    logs = execution.folder / "logs/execution/recognizer-1"
    prompt = (logs / "recognizer-1.prompt.md").read_text("utf-8")
    corrected = (logs / "recognizer-2.prompt.md").read_text("utf-8")
    assert (said.code, said.event["event"]) == (0, "phase.complete")
    assert "the recognizer finds 1 thing wanting" in said.event["summary"]
    assert "finds 1 thing wanting" in again.event["summary"]
    assert said.event["metrics"]["agents_spawned"] == 3  # an implementer, and two answers
    assert "judged as a whole: found wanting" in page
    assert "Nobody drinks it" in page
    assert "1. A-1: The story is done as it is described." in prompt
    assert "- `grep -q tea A-1.txt`" in prompt
    assert "criterion 7 is not among those given" in corrected
    assert len(world.script.with_suffix(".recognizer").read_text("utf-8").split()) == 2
    assert world.log() == ["start", "A-1: leaves"]


def test_where_nobody_judged_the_page_says_why() -> None:
    """Nothing is called passed then."""
    found: dict[str, Any] = {"passed": None, "lines": [], "issues": [], "note": "no agent is set"}

    assert render_recognition(found) == (
        "# What landed, judged as a whole: not judged\n\nno agent is set.\n"
    )
