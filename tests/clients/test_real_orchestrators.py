"""Agent command lines as they are installed, with a whole feature in one context."""

import pytest

from client_table import CLAUDE, CODEX, GEMINI
from client_world import COMMIT, STORY, ClientWorld
from model_server import Play, Shell, Write

pytestmark = pytest.mark.real_clients

PATHLESS = ("codex",)
"""Their shell begins with a PATH of its own; the prompt tells where qloop lies."""
CHECK = "git hash-object bye.txt"
BYE_HASH = "b023018cabc396e7692c70bbf5784a93d3f738ab"
"""What the second story's check prints, which no client runs unless it is allowed to."""


def feature(client: str) -> Play:
    """What an agent does: its first story twice, since it is red at first, then the second."""
    qloop = '"$TMPDIR/programs/qloop"' if client in PATHLESS else "qloop"

    def hands_in(story: str) -> tuple[Shell, ...]:
        done = f"{qloop} orchestrator done {story} --signal passed --wait 50"
        return Shell(done), Shell(f"{qloop} orchestrator next --wait 50")

    return Play(
        (
            Write("hello.txt", "good morning\n"),
            COMMIT,
            *hands_in("A-1"),
            Write("hello.txt", "hello\n"),
            COMMIT,
            *hands_in("A-1"),
            Write("bye.txt", "bye\n"),
            Shell(CHECK),
            COMMIT,
            *hands_in("B-1"),
        ),
        "Both stories have landed.",
    )


@pytest.mark.parametrize(
    "client", [CLAUDE, CODEX, GEMINI], ids=lambda client: client.name, indirect=True
)
def test_an_agent_takes_story_after_story(real: ClientWorld) -> None:
    """With the manifest that comes with qloop and the least rights: one context for all, in which
    a red story is mended, and each story's checks may be run.
    """
    second = {"id": "B-1", "title": "Say goodbye", "verify": [CHECK], "dependsOn": ["A-1"]}
    real.plan(STORY, second, testCommand="test -s README.md")
    real.server.plays = {"You carry out all stories of a feature": feature(real.client.name)}

    ran = real.run("--legacy-orchestrator")

    printed = ran.err + real.logged()
    assert ran.code == 0, printed
    assert real.files().items() >= {"hello.txt": "hello", "bye.txt": "bye"}.items(), printed
    assert real.failures("A-1") == ["verification"], printed
    assert real.log()[1:] == ["A-1: Say hello", "B-1: Say goodbye"]
    assert real.events("run.handed_over") == []
    started = [one["data"]["process"]["pid"] for one in real.events("agent.started")]
    assert len(started) == 3, "A-1 twice, B-1 once"
    assert len({*started}) == 1
    assert any(BYE_HASH in seen.text for seen in real.server.seen), printed
