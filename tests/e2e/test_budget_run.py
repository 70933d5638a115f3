"""The budget, as whole runs: what may start, what is settled, and what a dead run had reserved."""

import json
import os
import signal
from typing import Any

import pytest

from world import Steps, World, wait_until

THREE = ({"id": "A-1"}, {"id": "B-1"}, {"id": "C-1"})


def budget_of(world: World) -> dict[str, Any]:
    """What `qloop budget --json` prints."""
    ran = world.qloop("budget", "--json")
    assert ran.code == 0, ran.err
    found: dict[str, Any] = json.loads(ran.out)
    return found


def test_a_budget_ends_dispatching(world: World) -> None:
    """What is spent comes to no more than the budget; the rest waits for a person, exit 3."""
    world.plan(*THREE)
    world.writes_own_file("A-1", "B-1", "C-1")

    ran = world.run("--budget", "2")

    assert (ran.code, ran.signal) == (3, "<quantum>WAITING</quantum>"), ran.err
    assert world.statuses() == {"A-1": "passed", "B-1": "passed", "C-1": "pending"}
    assert "$2.00 of the budget of $2.00 is spent" in ran.err
    assert "--budget" in ran.err
    assert "~$1.00" in ran.out
    assert "its agents cost ~$2.00" in ran.err
    settled = world.events("budget.settled")
    assert {one["data"]["call"] for one in settled} == {
        one["data"]["call"] for one in world.events("budget.reserved")
    }
    found = budget_of(world)
    assert (found["total"]["usd"], found["total"]["estimatedUsd"]) == (2.0, 2.0)
    assert [(row["name"], row["calls"]) for row in found["byStory"]] == [("A-1", 1), ("B-1", 1)]
    assert [row["name"] for row in found["byRole"]] == ["implementer"]
    assert [row["name"] for row in found["byRunner"]] == ["double"]
    assert found["lastLimitUsd"] == 2.0
    assert "~$2.00 of $2.00" in world.qloop("budget").out


def test_a_person_gives_more(world: World) -> None:
    """A run that was awaited by the budget is over; the next one has a budget of its own."""
    world.plan(*THREE)
    world.writes_own_file("A-1", "B-1", "C-1")
    world.run("--budget", "2")

    again = world.run("--budget", "1")

    assert again.code == 0, again.err
    assert budget_of(world)["lastRun"]["usd"] == 1.0
    assert "spent on this plan: ~$3.00" in world.qloop("budget").out


def test_a_storys_own_budget_stops_that_story(world: World) -> None:
    """Others go on; a limit below the default lets the first agent start all the same."""
    world.configure("[limits]\nstory_budget_usd = 0.5\n")
    world.plan({"id": "A-1"}, {"id": "B-1", "priority": 9})
    world.agent(A_1=[[["say", "STORY_FAILED"]]], B_1=[[["write", "b.txt", "b\n"]]])

    ran = world.run("--max-parallel", "1")

    assert (ran.code, ran.signal) == (3, "<quantum>WAITING</quantum>"), ran.err
    assert world.statuses() == {"A-1": "failed", "B-1": "passed"}
    assert world.story("A-1")["retries"]["attempts"] == 1
    assert "A-1: $0.50 of $0.50, a story's budget, is spent" in ran.err


def test_commands_of_a_story_cost_nothing(world: World) -> None:
    """The shell runner is no agent: nothing is reserved, nothing is settled."""
    world.plan({"id": "A-1", "runner": "shell", "tasks": [{"id": "T-1", "run": ["echo a > a"]}]})

    ran = world.run("--budget", "0.01")

    assert ran.code == 0, ran.err
    assert world.events("budget.reserved") == world.events("budget.settled") == []
    assert budget_of(world)["total"]["calls"] == 0


def test_what_a_dead_run_reserved_is_paid(world: World) -> None:
    """The next run goes on with its account, and each agent that died counts as estimated."""
    world.plan(*THREE)
    begun: Steps = [["touch", str(world.flags / "on")], ["sleep", 60]]
    world.agent(A_1=[begun, [["write", "a.txt", "a\n"]]])
    started = world.start("run", "--budget", "2", "--max-parallel", "1")
    wait_until((world.flags / "on").exists)
    os.killpg(started.pid, signal.SIGKILL)
    started.communicate()

    ran = world.run("--budget", "2", "--max-parallel", "1")

    assert (ran.code, ran.signal) == (3, "<quantum>WAITING</quantum>"), ran.err
    assert world.statuses() == {"A-1": "passed", "B-1": "pending", "C-1": "pending"}
    sources = [(one["story"], one["data"]["source"]) for one in world.events("budget.settled")]
    assert sources == [("A-1", "estimated"), ("A-1", "estimated")]
    assert budget_of(world)["lastRun"]["usd"] == 2.0


def test_an_agent_that_never_started_costs_nothing(world: World) -> None:
    """What was reserved for an attempt whose set-up failed is given back."""
    world.plan({"id": "A-1", "retries": {"maxAttempts": 1}}, setupCommands=["false"])
    world.writes_own_file("A-1")

    ran = world.run("--budget", "5")

    assert ran.code == 1, ran.err
    (settled,) = world.events("budget.settled")
    assert (settled["data"]["usd"], settled["data"]["source"]) == (0.0, "unused")
    assert budget_of(world)["total"]["calls"] == 0


@pytest.mark.parametrize("word", ["0", "-1", "much"])
def test_a_budget_that_is_none_is_wrong_usage(world: World, word: str) -> None:
    """It is refused before anything is done."""
    world.plan(*THREE)

    ran = world.run("--budget", word)

    assert ran.code == 64
    assert "--budget" in ran.err


def test_a_limit_that_is_none_is_bad_input(world: World) -> None:
    """The settings' file is named, and the key."""
    world.configure("[limits]\nbudget_usd = 0\n")
    world.plan(*THREE)

    ran = world.run()

    assert ran.code == 65
    assert "limits.budget_usd" in ran.err


def answer(cost: float | None, tokens: int = 0, model: str = "") -> str:
    """The last line of an agent that tells what it cost."""
    usage = {"input_tokens": tokens, "output_tokens": tokens}
    told = {"type": "result", "subtype": "success", "is_error": False, "usage": usage}
    told |= {"result": "<quantum>STORY_PASSED</quantum>"}
    told |= {} if cost is None else {"total_cost_usd": cost}
    begin = json.dumps({"type": "system", "subtype": "init", "model": model})
    return f"{begin}\n{json.dumps(told)}"


def test_what_an_agent_reports_is_what_the_next_is_taken_to_cost(world: World) -> None:
    """While one is at work the others wait; cheaper than thought, more can start than did."""
    world.output = "claude-stream-json"
    world.configure()
    world.plan(*THREE)
    story: Steps = [["sh", "echo > $QLOOP_STORY"], ["print", answer(0.4)]]
    world.agent(A_1=[story], B_1=[story], C_1=[story])

    ran = world.run("--budget", "1")

    assert (ran.code, ran.signal) == (3, "<quantum>WAITING</quantum>"), ran.err
    assert world.statuses() == {"A-1": "passed", "B-1": "passed", "C-1": "pending"}
    assert [one["data"]["usd"] for one in world.events("budget.reserved")] == [1.0, 0.4]
    assert [one["data"]["usd"] for one in world.events("budget.settled")] == [0.4, 0.4]
    assert "its agents cost $0.80" in ran.err


def test_tokens_without_a_cost_are_priced(world: World) -> None:
    """By the table that comes with qloop, by the model that the agent names."""
    world.output = "claude-stream-json"
    world.configure()
    world.plan({"id": "A-1"})
    said = answer(None, 100_000, "claude-sonnet-5-5")
    world.agent(A_1=[[["write", "a.txt", "a\n"], ["print", said]]])

    ran = world.run()

    assert ran.code == 0, ran.err
    (row,) = budget_of(world)["byModel"]
    assert (row["name"], row["usd"], row["estimatedUsd"]) == ("claude-sonnet-5-5", 1.2, 0.0)
    assert (row["inputTokens"], row["outputTokens"]) == (100_000, 100_000)
    assert "$1.20" in world.qloop("status").out
    assert "cost $1.20" in world.qloop("show", "A-1").out


def test_reviews_are_paid_as_well(world: World) -> None:
    """A reviewer is reserved for with its implementer; one that is asked again must be payable."""
    world.configure("[gates]\nspec_review = true\n[limits]\nbudget_usd = 1.25\n")
    world.plan({"id": "A-1"})
    world.agent(
        A_1=[
            [
                ["write", "a.txt", "a\n"],
                ["commit", "a"],
                ["print", "no review"],
                ["say", "STORY_PASSED"],
            ]
        ]
    )

    ran = world.run()

    assert (ran.code, ran.signal) == (3, "<quantum>WAITING</quantum>"), ran.err
    assert world.statuses() == {"A-1": "pending"}
    assert world.failures("A-1") == ["interrupted"]
    for kind in ("budget.reserved", "budget.settled"):
        found = [(one["data"]["role"], one["data"]["usd"]) for one in world.events(kind)]
        assert found == [("implementer", 1.0), ("spec-reviewer", 0.25)]


def test_stories_at_work_have_ports_of_their_own(world: World) -> None:
    """The agent and the commands that judge it have the same ones; two stories never share."""
    note = f"echo $QLOOP_PORT_BASE > '{world.flags}'/"
    both = f"until [ -e '{world.flags}/A-1' ] && [ -e '{world.flags}/B-1' ]; do sleep 0.05; done"
    stories = [
        {"id": one, "verify": [f"test $QLOOP_PORT_BASE = $(cat '{world.flags}/{one}')"]}
        for one in ("A-1", "B-1")
    ]
    world.plan(*stories, testCommand="test $QLOOP_PORT_BASE -ge 20000")
    steps: Steps = [["sh", f"{note}$QLOOP_STORY; {both}; touch $QLOOP_STORY.txt"]]
    world.agent(A_1=[steps], B_1=[steps])

    ran = world.run()

    assert ran.code == 0, ran.err
    first, second = ((world.flags / one).read_text() for one in ("A-1", "B-1"))
    assert abs(int(first) - int(second)) >= 100
