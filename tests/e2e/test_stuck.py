"""An agent that does nothing any more is ended, and one that is merely silent is not."""

import pytest

from world import World

LIMIT = "2s"


@pytest.mark.parametrize("how", ["flag", "setting", "variable"])
def test_a_stuck_agent_costs_an_attempt(world: World, how: str) -> None:
    """Its processes are ended, its work is kept, the next attempt goes on."""
    world.configure(f'stale_after = "{LIMIT}"' if how == "setting" else "")
    world.plan({"id": "A-1", "timeout": "10m"})
    world.agent(
        A_1=[
            [["write", "half.txt", "half\n"], ["spawn", 600], ["sleep", 600]],
            [["write", "A-1.txt", "A-1\n"], ["commit", "whole"]],
        ]
    )

    words = ["--stale-after", LIMIT] if how == "flag" else []
    ran = world.run(*words, QLOOP_STALE_AFTER=LIMIT if how == "variable" else "")

    assert (ran.code, ran.signal) == (0, "<quantum>COMPLETE</quantum>"), ran.err
    assert world.failures("A-1") == ["stuck"]
    assert world.story("A-1")["retries"]["attempts"] == 1
    assert "2.0s" in world.story("A-1")["retries"]["failureLog"][0]["reason"]
    assert world.files("refs/qloop/attempts/A-1/1")["half.txt"] == "half"
    assert [event["data"]["stuck"] for event in world.events("agent.ended")] == [True, False]
    assert "A-1 attempt 1: stuck, ended after" in ran.err


def test_a_silent_agent_that_works_is_let_be(world: World) -> None:
    """Neither one that only computes nor one that only writes is stuck."""
    world.plan({"id": "A-1"}, {"id": "B-1"})
    writes = "for i in 1 2 3 4 5; do sleep 1; echo $i >> B-1.txt; done"
    world.agent(
        A_1=[[["spin", 5], ["write", "A-1.txt", "A-1\n"], ["commit", "one"]]],
        B_1=[[["sh", writes], ["commit", "two"]]],
    )

    ran = world.run("--stale-after", LIMIT)

    assert ran.code == 0, ran.err
    assert all("retries" not in world.story(one) for one in ("A-1", "B-1"))
