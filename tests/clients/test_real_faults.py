"""Agent command lines whose model service fails, refuses, or does not answer; runs that end."""

import signal
from dataclasses import replace

import pytest

from client_table import CLAUDE, CODEX
from client_world import SIGNAL, ClientWorld
from model_server import Play, Shell, Write, cut, hang, refuse
from world import PATIENCE_S, wait_until

pytestmark = pytest.mark.real_clients

PASSING = replace(refuse(503, after=1, times=1), then=cut(after=3, times=1))
"""A refusal, then an answer that breaks off."""


def test_faults_that_pass_are_survived(real: ClientWorld) -> None:
    """Whether the client itself asks again or the run does, the story lands uncharged."""
    real.server.fault = PASSING

    ran = real.run()

    assert ran.code == 0, ran.err + real.logged()
    assert len(real.server.seen) > 4, "each fault was met, and another request made after it"
    assert real.files()["hello.txt"] == "hello"
    assert real.charged() == 0, real.logged()


def test_a_run_that_is_ended_in_mid_turn_is_taken_up(real: ClientWorld) -> None:
    """Nothing is left running, what was written is kept, and the next run lands the story."""
    real.server.fault = hang(after=1)
    ended = real.start("run")
    wait_until(lambda: len(real.server.seen) > 1)

    ended.send_signal(signal.SIGTERM)
    out, err = ended.communicate(timeout=PATIENCE_S)

    assert ended.returncode == 130, out + err
    (kept,) = real.refs("refs/qloop/attempts/").values()
    assert real.files(kept)["hello.txt"] == "hello"
    assert real.statuses() == {"A-1": "pending"}
    assert real.charged() == 0, real.logged()

    real.server.fault = None
    ran = real.run()

    assert ran.code == 0, ran.err + real.logged()
    assert real.files()["hello.txt"] == "hello"


@pytest.mark.parametrize("client", [CLAUDE, CODEX], ids=lambda client: client.name, indirect=True)
def test_a_run_that_is_ended_while_a_tool_works_leaves_nothing(real: ClientWorld) -> None:
    """Clients start commands in sessions of their own; these end with the run all the same."""
    real.client = replace(real.client, full=True)
    real.configure()
    script = Write("wait.sh", f"touch '{real.flags}/waits'\nsleep 600\n")
    real.server.plays = {"": Play((script, Shell("sh wait.sh")), SIGNAL)}
    ended = real.start("run")
    wait_until((real.flags / "waits").exists)

    ended.send_signal(signal.SIGTERM)
    out, err = ended.communicate(timeout=PATIENCE_S)

    (kept,) = real.refs("refs/qloop/attempts/").values()
    assert ended.returncode == 130, out + err
    assert "sleep 600" in real.files(kept)["wait.sh"]
    assert real.charged() == 0
