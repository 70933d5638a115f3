"""Whole runs with agent command lines as their makers ship them, against a model of the tests."""

import pytest

from client_world import KEY, ClientWorld

pytestmark = pytest.mark.real_clients


def test_a_story_is_written_committed_verified_and_landed(real: ClientWorld) -> None:
    """From a plan to a landed commit, with nothing of the person's but a key.

    Its signal is read, its model, its session where it has one, and the tokens of all its turns.
    """
    ran = real.run()
    shown = real.qloop("logs", "A-1")

    assert ran.code == 0, ran.err + real.logged()
    assert real.files()["hello.txt"] == "hello"
    assert real.statuses() == {"A-1": "passed"}
    assert "unverified" not in ran.err
    assert {seen.key for seen in real.server.seen} == {KEY}
    (ended,) = [event["data"] for event in real.events("agent.ended")]
    turns = len(real.server.seen)
    assert ended["signal"] == "STORY_PASSED"
    assert ended["input_tokens"] == 1000 * turns
    assert ended["output_tokens"] == 100 * turns
    assert real.server.seen[0].model in ended["model"]
    assert bool(ended["session"]) is (real.client.name != "mini")
    assert "hello.txt" in shown.out
    assert "STORY_PASSED" in shown.out
