"""A mission's money from outside: its limit holds over all phases, a person changes it."""

import json
from pathlib import Path
from typing import Any

import pytest

from qloop.cli.mission_budget import begun_anew
from qloop.mission.budget import find_budget_question
from qloop.state.mission import Mission, Triage
from qloop.state.phases import Autonomy, PhaseName
from world import World

COSTLY = """#!/bin/sh
cat > /dev/null
echo tea > tea.txt
git add tea.txt
git commit -qm tea
echo '<quantum>STORY_PASSED</quantum>'
"""


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A repository whose agent tells no cost: a call of it counts as 1 USD."""
    made = World(tmp_path)
    agent = tmp_path / "agent.sh"
    agent.write_text(COSTLY, encoding="utf-8")
    agent.chmod(0o755)
    made.configure()
    text = f'runner = "costly"\n[runners.costly]\nargv = [{json.dumps(str(agent))}]\n'
    (made.path / "qloop.toml").write_text(text, encoding="utf-8")
    return made


def money(world: World) -> dict[str, Any]:
    """What `budget --json` tells of the mission."""
    value: dict[str, Any] = json.loads(world.qloop("budget", "--json").out)["mission"]
    return value


def test_a_quick_mission_is_one_story_and_its_cost_is_the_missions(world: World) -> None:
    """No phase but EXECUTION runs; limit, reset and no limit are a person's to say."""
    ran = world.qloop("quick", "Make tea", "--budget", "4")

    assert ran.code == 0, ran.err
    assert "RECON skipped: quick" in ran.err
    assert (
        world.repo.git("log", "--format=%s", "main..ql/1--make-tea").strip() == "US-001: Make tea"
    )
    assert money(world) == {"id": 1, "limitUsd": 4.0, "spentUsd": 1.0, "estimatedUsd": 1.0}
    assert world.qloop("budget", "set", "0.5").code == 0
    file = json.loads((world.path / ".qloop/intents/1--make-tea/budget.json").read_text("utf-8"))
    assert (file["limit"], file["spent"], file["remaining"]) == (0.5, 1.0, 0.0)
    assert world.qloop("budget", "reset").code == 0
    assert money(world)["spentUsd"] == 0.0
    assert world.qloop("budget", "reset").code == 66
    assert world.qloop("budget", "unlimited").code == 0
    assert money(world)["limitUsd"] is None
    assert world.qloop("budget", "set", "0").code == 64


def test_the_mission_that_is_named_is_the_one_whose_money_changes(world: World) -> None:
    """The active one is the newest; another keeps what it has."""
    for _ in range(2):
        assert world.qloop("mission", "new", "Make tea", "--budget", "4").code == 0

    assert world.qloop("budget", "set", "7", "--mission", "1").code == 0
    assert [limit(world, one) for one in "12"] == [7.0, 4.0]
    assert world.qloop("budget", "unlimited", "--mission", "1").code == 0
    assert [limit(world, one) for one in "12"] == [None, 4.0]
    spent_nothing = world.qloop("budget", "reset", "--mission", "1")
    assert spent_nothing.code == 66
    assert "1--make-tea" in spent_nothing.err


def limit(world: World, intent: str) -> float | None:
    """What a mission may cost."""
    found: float | None = json.loads(world.qloop("mission", "status", intent, "--json").out)[
        "limit_usd"
    ]
    return found


def test_a_mission_without_a_plan_yet_has_its_money_all_the_same(world: World) -> None:
    """There is nothing else to tell, and nothing to miss."""
    assert world.qloop("mission", "new", "Make tea", "--budget", "4").code == 0

    assert money(world) == {"id": 1, "limitUsd": 4.0, "spentUsd": 0.0, "estimatedUsd": 0.0}
    assert "mission 1: $0.00 of $4.00" in world.qloop("budget").out


def test_nothing_is_estimated_for_what_is_done_and_a_mean_for_what_is_left(world: World) -> None:
    """An estimate names each story that is left, its runner, and whether the cost is known."""
    world.plan({"id": "US-001"}, {"id": "US-002", "status": "passed"}, {"id": "US-003"})

    told = json.loads(world.qloop("budget", "estimate", "--json").out)

    assert [one["story"] for one in told["stories"]] == ["US-001", "US-003"]
    assert (told["usd"], told["is_known"]) == (2.0, False)


def test_where_nothing_is_left_there_is_nothing_to_pay_for(world: World) -> None:
    """It is said, instead of a table without a row."""
    world.plan({"id": "US-002", "status": "passed"})

    told = world.qloop("budget", "estimate").out

    assert told.startswith("nothing is left to pay for")
    assert len(told.splitlines()) == 1


def test_a_limit_without_a_mission_names_the_limits_of_a_run(world: World) -> None:
    """There is nothing to set; the error says what there is instead."""
    ran = world.qloop("budget", "set", "5")

    assert ran.code == 66
    assert "--budget" in ran.err


def test_a_budget_that_begins_anew_is_warned_and_asked_of_anew() -> None:
    """What was confirmed of the old one does not hold for the new one."""
    one = Mission(
        id=1,
        slug="tea",
        directive="tea",
        autonomy=Autonomy.GUIDED,
        triage=Triage(complexity="SIMPLE"),
        started_at="2026-01-02T03:04:05.000Z",
        updated_at="2026-01-02T03:04:05.000Z",
        limit_usd=0.002,
        warned=True,
        confirmed_usd=0.002,
    )
    assert find_budget_question(one, PhaseName.EXECUTION, 0.0019) is None

    one = begun_anew(one, 0.0019)

    assert one.written_off_usd == 0.0019
    asked = find_budget_question(one, PhaseName.EXECUTION, 0.0019)
    assert asked is not None
    assert asked.options
    assert asked.text.startswith("$0.0019 of the mission's $0.0020 are spent")
    guessed = find_budget_question(one, PhaseName.EXECUTION, 0.0019, 0.0001)
    assert guessed is not None
    assert guessed.text.startswith("~$0.0019 of")
