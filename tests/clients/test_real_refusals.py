"""Agent command lines that the service refuses for good: their runner pauses, nobody is charged."""

import time

import pytest

from client_table import CLAUDE, CODEX
from client_world import KEY, ClientWorld
from model_server import refuse, usage_limit
from qloop.system.clock import parse_utc
from world import PATIENCE_S, wait_until

pytestmark = pytest.mark.real_clients


LOGIN = {"CLAUDE_CODE_OAUTH_TOKEN": KEY, "ANTHROPIC_API_KEY": ""}
"""What makes Claude Code a subscriber."""


def pauses(real: ClientWorld) -> list[str]:
    """The causes for which its runner paused."""
    return [event["data"]["cause"] for event in real.events("runner.paused")]


def test_an_invalid_key_ends_the_run(real: ClientWorld) -> None:
    """With one clear line, exit 3, and the story as it was; a person has to come."""
    real.server.fault = refuse(401)

    ran = real.run()

    assert ran.code == 3, ran.err + real.logged()
    assert pauses(real) == ["authentication"], real.logged()
    assert f"{real.client.name} is not let in" in ran.err
    assert real.statuses() == {"A-1": "pending"}
    assert real.charged() == 0


def test_a_service_that_stays_away_is_waited_for(real: ClientWorld) -> None:
    """When the client itself has given up, its runner pauses, whatever it was told and as often as
    it takes; then the story lands, uncharged.
    """
    real.server.fault = refuse(429, retry_after_s=1)
    run = real.start("run")
    wait_until(lambda: pauses(real))
    before = len(pauses(real))
    real.server.fault = refuse(503, retry_after_s=1)
    wait_until(lambda: len(pauses(real)) > before)
    real.server.fault = None

    out, err = run.communicate(timeout=PATIENCE_S)

    assert run.returncode == 0, out + err + real.logged()
    assert set(pauses(real)) == {"overload"}, real.logged()
    assert {429, 503} <= {seen.status for seen in real.server.seen}
    assert real.files()["hello.txt"] == "hello"
    assert real.charged() == 0


@pytest.mark.parametrize("client", [CLAUDE, CODEX], ids=lambda client: client.name, indirect=True)
def test_a_usage_limit_lasts_until_its_reset(real: ClientWorld) -> None:
    """The instant that the service gave is the one until which the runner pauses."""
    resets_at_s = int(time.time()) + 7200
    real.server.fault = usage_limit(resets_at_s)

    ran = real.run("--no-wait", cwd=None, **LOGIN)

    (pause,) = real.events("runner.paused")
    assert ran.code == 3, ran.err + real.logged()
    assert pause["data"]["cause"] == "usage_limit", real.logged()
    assert abs(parse_utc(pause["data"]["until"]).timestamp() - resets_at_s) < 60
    assert real.charged() == 0
