"""`qloop show`: all that is known of one story."""

import json
from typing import Any

import pytest

from look_world import World, failed, story
from qloop.cli.main import main
from qloop.state.journal import EventKind
from repository import Repo

Captured = pytest.CaptureFixture[str]

TASK = {
    "id": "T-1",
    "title": "Write it",
    "description": "With care.\nAnd tests.",
    "filePaths": ["src/a.py"],
    "run": ["make a"],
    "commands": ["make check\nmake lint"],
    "status": "pending",
}


@pytest.fixture
def world(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> World:
    """A repository to stand in, with a story that failed once and is at work again."""
    monkeypatch.chdir(repo.path)
    made = World(repo)
    made.plan(
        story("N", "passed"),
        story(
            "A",
            "in_progress",
            "N",
            description="As a user\nI want it.",
            notes="Mind the gap.",
            acceptanceCriteria=["It works", "It is\nfast"],
            tasks=[TASK],
            verify=["test -f a"],
            runner="shell",
            timeout="5m",
            startedAt="2026-01-02T03:04:05Z",
            owner="Kim",
            retries=failed(1, "verify-1 red\nlast line", log=".qloop/logs/A/1/verify-1.log"),
            review={
                "specCompliance": {
                    "status": "failed", "evidence": "exit 1\ntail", "attempt": 1,
                    "reviewedAt": "2026-01-02T03:04:09Z",
                }
            },
        ),
        story("D", "pending", "A"),
    )  # fmt: skip
    where: Any = {"story": "A", "attempt": 1, "wave": "wave-1"}
    made.tell(EventKind.ATTEMPT_STARTED, **where, runner="shell")
    made.tell(EventKind.AGENT_STARTED, **where, worktree="/trees/A.1")
    told: Any = {"model": "large", "turns": 7, "input_tokens": 12_000, "session": "s-1"}
    made.tell(EventKind.AGENT_ENDED, **where, code=0, signal="STORY_PASSED", seconds=4.0, **told)
    gate: Any = {"gate": "verify-1", "command": "make check\nmake lint", "log": "v.log"}
    made.tell(EventKind.GATE_ENDED, **where, **gate, code=1, green=False, seconds=0.5)
    ended: Any = {"status": "failed", "phase": "verification", "charged": True}
    made.tell(EventKind.STORY_SETTLED, **where, **ended, reason="verify-1 red\nlast line")
    made.tell(EventKind.ATTEMPT_STARTED, story="A", attempt=2, wave="wave-2", runner="shell")
    made.tell(EventKind.AGENT_STARTED, story="A", attempt=2, worktree="/trees/A.2")
    repo.git("update-ref", "refs/qloop/attempts/A/1", "HEAD")
    return made


def page(capsys: Captured, story_id: str) -> Any:
    """What `show --json` prints."""
    assert main(["show", story_id, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_everything_as_json(world: World, capsys: Captured) -> None:
    """The JSON is the story as the file has it, with what journal and git know beside it."""
    head = world.repo.git("rev-parse", "HEAD")

    found = page(capsys, "A")
    first, second = found["attempts"]

    assert found["owner"] == "Kim"
    assert found["acceptanceCriteria"] == ["It works", "It is\nfast"]
    assert found["dependencies"] == [{"id": "N", "title": "The N", "status": "passed"}]
    assert found["dependants"] == [{"id": "D", "title": "The D", "status": "pending"}]
    assert found["review"]["specCompliance"]["evidence"] == "exit 1\ntail"
    assert (first["number"], first["wave"], first["runner"]) == (1, "wave-1", "shell")
    assert first["agent"] == {
        "code": 0, "signal": "STORY_PASSED", "timedOut": False, "stuck": False,
        "seconds": 4.0, "model": "large", "session": "s-1", "turns": 7,
        "inputTokens": 12_000, "cachedTokens": 0, "outputTokens": 0,
    }  # fmt: skip
    assert [(gate["name"], gate["green"]) for gate in first["gates"]] == [("verify-1", False)]
    assert (first["status"], first["phase"], first["charged"]) == ("failed", "verification", True)
    assert first["log"] == ".qloop/logs/A/1/verify-1.log"
    assert (first["salvageRef"], first["salvageCommit"]) == ("refs/qloop/attempts/A/1", head)
    assert first["seconds"] is not None
    assert (second["status"], second["endedAt"], second["worktree"]) == (None, None, "/trees/A.2")


@pytest.mark.parametrize(
    "words",
    [
        "A: The A",
        "status    in_progress",
        "attempts  1 of 3 charged",
        "since     2026-01-02T03:04:05Z",
        "runner    shell",
        "timeout   5m",
        "it used large, 7 turns, 12,000 tokens in, 0 out, session s-1",
        "As a user\nI want it.",
        "Mind the gap.",
        "  - It is\n    fast",
        "T-1: Write it [pending]",
        "    With care.\n    And tests.",
        "file: src/a.py",
        "run: make a",
        "    verify: make check\n            make lint",
        "  test -f a",
        "N: passed, The N",
        "D: pending, The D",
        "spec: failed, attempt 1, 2026-01-02T03:04:09Z\n    exit 1\n    tail",
        "quality: pending",
        "attempt 1 (wave-1, shell, r-20260102T030405Z-4f2a): failed (verification, charged)",
        "agent ended with 0 after 4.0s, STORY_PASSED",
        "verify-1 red (exit 1, 0.5s): make check …",
        "    reason: verify-1 red\n            last line",
        "log: .qloop/logs/A/1/verify-1.log",
        "kept in refs/qloop/attempts/A/1 (",
        "attempt 2 (wave-2, shell, r-20260102T030405Z-4f2a): not settled",
        "qloop logs A --follow",
        "cd /trees/A.2",
        "qloop logs A --attempt 1",
        "qloop salvage show A --attempt 1",
    ],
)
def test_everything_as_text(world: World, capsys: Captured, words: str) -> None:
    """The page tells what is asked, what was tried, and how to look further."""
    assert main(["show", "A"]) == 0
    assert words in capsys.readouterr().out


def test_a_story_that_landed(world: World, capsys: Captured) -> None:
    """A landed story leads to its commit, and says where no command judged it."""
    review = {"codeQuality": {"status": "passed", "evidence": "unverified: no command"}}
    world.plan(story("P", "passed", review=review))
    where: Any = {"story": "P", "attempt": 4}
    world.tell(EventKind.ATTEMPT_STARTED, **where)
    world.tell(EventKind.AGENT_ENDED, **where, code=None, timed_out=True, seconds=9.0)
    world.tell(EventKind.GATE_ENDED, **where, gate="test", command="", green=True, seconds=0.1)
    world.tell(EventKind.STORY_LANDED, **where, commit="0123456789abcdef")
    world.tell(EventKind.STORY_SETTLED, **where, status="passed")
    world.repo.git("update-ref", "refs/qloop/attempts/P/4", "HEAD")

    main(["show", "P"])
    out = capsys.readouterr().out

    assert "passed (unverified: no command judged all of it)" in out
    assert "attempt 4 (r-20260102T030405Z-4f2a): passed" in out
    assert "was out of time after 9.0s" in out
    assert "test green (0.1s): \n" in out
    assert "landed as 0123456789abcdef" in out
    assert "git show 0123456789" in out
    assert "salvage show" not in out


def test_failures_that_the_journal_does_not_know(world: World, capsys: Captured) -> None:
    """A failure log of another writer is told too, with or without numbers."""
    log = [{"phase": "odd", "reason": "who knows"}, {"attempt": 3, "reason": "third"}]
    world.plan(story("F", "failed", retries={"attempts": 2, "failureLog": log}))

    found = page(capsys, "F")["attempts"]
    main(["show", "F"])
    out = capsys.readouterr().out

    assert [(one["number"], one["reason"]) for one in found] == [(None, "who knows"), (3, "third")]
    assert "attempt ?: failed (odd)" in out
    assert "attempt 3: failed\n" in out
    assert "reason    third" in out


@pytest.mark.parametrize(
    ("needs", "words"),
    [(("B",), "blocked   W waits for B, which is blocked"), (("P",), "waits     for P")],
)
def test_what_a_story_waits_for(
    world: World, capsys: Captured, needs: tuple[str, ...], words: str
) -> None:
    """A story that cannot run yet, or ever, says for what or why."""
    world.plan(story("B", "blocked"), story("P"), story("W", "pending", *needs))

    main(["show", "W"])

    assert words in capsys.readouterr().out


@pytest.mark.parametrize(
    ("asked", "fix"), [("a", "did you mean A?"), ("Nonsense", "`qloop status` lists the stories")]
)
def test_an_unknown_story(world: World, capsys: Captured, asked: str, fix: str) -> None:
    """A story that is not in the plan is bad input; the nearest name is offered."""
    assert main(["show", asked]) == 65
    assert fix in capsys.readouterr().err


def test_without_a_repository(
    world: World, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan outside of any repository is shown by what its file says."""
    elsewhere = world.repo.path.parent
    monkeypatch.chdir(elsewhere)
    (elsewhere / "quantum.json").write_text('{"branchName": "b", "stories": [{"id": "A"}]}')

    assert page(capsys, "A")["attempts"] == []
