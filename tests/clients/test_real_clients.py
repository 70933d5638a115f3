"""Whole runs with agent command lines as their makers ship them, against a model of the tests."""

import pytest

from client_world import KEY, ClientWorld

pytestmark = pytest.mark.real_clients


def test_a_story_is_written_committed_verified_and_landed(real: ClientWorld) -> None:
    """From a plan to a landed commit, with nothing of the person's but a key."""
    ran = real.run()

    assert ran.code == 0, ran.err + real.logged()
    assert real.files()["hello.txt"] == "hello"
    assert real.statuses() == {"A-1": "passed"}
    assert real.server.seen[0].key == KEY
