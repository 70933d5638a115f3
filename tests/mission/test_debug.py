"""Looking into a failure: what code tells, what an agent adds, and that nothing is changed."""

import json
from pathlib import Path
from typing import Any

import pytest

from world import World

RED = "echo 'tea.py:7: too cold'; exit 3"
ANSWER = {
    "cause": "the water is too cold",
    "evidence": ["README.md:1", "no-such.py:4"],
    "fix": "heat it",
    "files": ["tea.py"],
}
DEBUGGER = """#!/bin/sh
cat > "$QLOOP_WORKTREE.prompt" || cat > /dev/null
echo '%s'
"""


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A plan whose only story fails at its command."""
    made = World(tmp_path)
    made.plan({"id": "US-001", "title": "Tea", "verify": [RED], "retries": {"maxAttempts": 1}})
    made.writes_own_file("US-001")
    assert made.run().code == 1
    return made


def debug(world: World, *words: str) -> dict[str, Any]:
    """What `debug --json` tells."""
    ran = world.qloop("debug", "US-001", "--json", *words)
    assert ran.code == 0, ran.err
    told: dict[str, Any] = json.loads(ran.out)
    return told


def test_code_tells_what_was_red_and_where_it_began(world: World) -> None:
    """The red command, the first place in its log, and what the attempt changed; no agent."""
    before = world.quantum.read_bytes()

    told = debug(world, "--facts")

    assert told["phase"] == "verification"
    assert told["firstPlace"] == "tea.py:7"
    assert [one["command"] for one in told["red"]] == [RED]
    assert "US-001.txt" in told["patch"]
    assert told["diagnosis"] is None
    page = Path(told["page"]).read_text("utf-8")
    assert page.startswith("# Why US-001 failed\n")
    assert "tea.py:7" in page
    assert world.quantum.read_bytes() == before


def test_an_agent_adds_a_cause_that_places_show(world: World, tmp_path: Path) -> None:
    """Places that do not exist are dropped; its cost is booked."""
    agent = tmp_path / "debugger.sh"
    agent.write_text(DEBUGGER % json.dumps(ANSWER), encoding="utf-8")
    agent.chmod(0o755)
    argv = json.dumps([str(agent)])
    world.configure(f'[roles.debugger]\nrunner = "d"\n[runners.d]\nargv = {argv}')

    told = debug(world)

    assert told["diagnosis"]["cause"] == ANSWER["cause"]
    assert told["diagnosis"]["evidence"] == ["README.md:1"]
    assert "debugger" in {
        row["name"] for row in json.loads(world.qloop("budget", "--json").out)["byRole"]
    }


def test_a_story_that_never_failed_cannot_be_looked_into(world: World) -> None:
    """The error says where to look instead."""
    world.plan({"id": "US-002"})

    ran = world.qloop("debug", "US-002")

    assert ran.code == 65
    assert "qloop show US-002" in ran.err
