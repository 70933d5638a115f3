"""`qloop status`: every story, the run, branch and line."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from look_world import BRANCH, RUN, World, failed, story
from qloop.cli.main import main
from qloop.state.journal import EventKind
from repository import Repo

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def world(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> World:
    """A repository to stand in."""
    monkeypatch.chdir(repo.path)
    return World(repo)


def status(capsys: Captured, *args: str) -> Any:
    """What `status --json` prints."""
    assert main(["status", "--json", *args]) == 0
    return json.loads(capsys.readouterr().out)


def why(capsys: Captured, story_id: str) -> str:
    """The line of a story in the table."""
    assert main(["status"]) == 0
    lines = capsys.readouterr().out.splitlines()
    return next(line for line in lines if line.startswith(f"{story_id} "))


def test_stories_as_they_stand(world: World, capsys: Captured) -> None:
    """Each story comes with status, attempts, and why it has not passed."""
    world.plan(
        story("A", "passed", review={"specCompliance": {"evidence": "unverified: no command"}}),
        story("B", "failed", retries=failed(3, "red\nand more")),
        story("C", "pending", "A", "B"),
        story("D", "in_progress", startedAt="2026-01-02T03:04:05Z"),
        story("E", "stale"),
    )
    world.attempt("A", 1, status="passed", commit="abc123")
    world.attempt("D", 1, wave="wave-7")

    found = status(capsys)
    rows = {row["id"]: row for row in found["stories"]}

    assert found["state"] == "running"
    assert found["branch"] == BRANCH
    assert found["counts"] == {
        "passed": 1, "in_progress": 1, "pending": 1, "failed": 1, "blocked": 1,
    }  # fmt: skip
    assert rows["A"]["unverified"] is True
    assert rows["A"]["landed"] == "abc123"
    assert (rows["B"]["attempts"], rows["B"]["maxAttempts"]) == (3, 3)
    assert rows["B"]["reason"] == "red\nand more"
    assert rows["C"]["waitsFor"] == ["B"]
    assert rows["C"]["blockedBy"] == "C waits for B, which failed 3 of 3 attempts"
    assert rows["D"]["startedAt"] == "2026-01-02T03:04:05Z"
    assert rows["D"]["wave"] == "wave-7"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (story("A", "passed"), "0/3"),
        (story("A", "in_progress"), "its run is gone; the next one takes it up"),
        (story("A", "failed", retries=failed(3, "red\nmore")), "red; no attempt is left"),
        (story("A", "failed", retries=failed(1, "red\nmore")), "ready again; red"),
        (story("A", "blocked"), "until `qloop story unblock A`"),
        (story("A", "pending"), "ready"),
        (story("A", "pending", "B"), "waits for B"),
        (story("A", "pending", "C"), "waits for C, which is blocked"),
        (story("A", "failed", retries=failed(1, "x" * 500)), "…"),
        (
            story("A", "passed", review={"codeQuality": {"evidence": "unverified: none"}}),
            "unverified: no command judged all of it",
        ),
    ],
)
def test_why_in_the_table(world: World, capsys: Captured, row: Any, words: str) -> None:
    """The table says in a few words why a story stands where it does."""
    world.plan(row, story("B"), story("C", "blocked"))

    assert why(capsys, "A").endswith(words)


def test_landed_in_the_table(world: World, capsys: Captured) -> None:
    """A story that commands judged comes with its commit."""
    world.plan(story("A", "passed"))
    world.attempt("A", 1, status="passed", commit="0123456789abcdef")

    assert why(capsys, "A").endswith("landed as 0123456789")


def test_the_run_that_is_on(world: World, capsys: Captured) -> None:
    """The run that holds the repository is named with pid, start and mode."""
    world.plan(story("A", "in_progress", startedAt="2026-01-02T03:04:05Z"))
    pid = world.hold()

    found = status(capsys)
    line = why(capsys, "A")

    assert found["run"] == {
        "id": RUN, "pid": pid, "since": "2026-01-02T03:04:05.000Z", "mode": "coordinator",
    }  # fmt: skip
    assert found["interrupted"] is None
    assert "for " in line
    assert "gone" not in line


def test_a_run_that_is_gone(world: World, capsys: Captured) -> None:
    """A run whose process is no more holds nothing, and is said to be gone."""
    world.plan(story("A"))
    world.hold(dead=True)

    found = status(capsys)
    main(["status"])

    assert found["run"] is None
    assert found["interrupted"]["id"] == RUN
    assert f"run {RUN} is gone without an end" in capsys.readouterr().out


def test_a_runner_that_pauses(world: World, capsys: Captured) -> None:
    """Until when and why, for people and programs; not once it is over, or its run has ended."""
    world.plan(story("A"))
    world.hold()
    limit = {"runner": "claude", "cause": "usage_limit", "why": "resets 3pm"}
    locked: dict[str, Any] = {"runner": "codex", "cause": "authentication", "why": "no key"}
    locked["until"] = None
    world.tell(EventKind.RUNNER_PAUSED, **limit, until="2096-01-02T03:04:05.000Z")
    world.tell(EventKind.RUNNER_PAUSED, **locked)
    world.tell(EventKind.RUNNER_PAUSED, **{**limit, "runner": "past"}, until="2026-01-02T03:04:06Z")
    main(["status"])
    out = capsys.readouterr().out

    assert status(capsys)["pauses"] == [{**limit, "until": "2096-01-02T03:04:05.000Z"}, locked]
    assert "claude pauses for " in out
    assert "(usage limit): resets 3pm" in out
    assert "codex is not let in, log in or give its key: no key" in out
    assert "past" not in out
    world.tell(EventKind.RUN_ENDED, signal="WAITING", reasons=[])
    assert status(capsys)["pauses"] == []


def test_distance_of_branch_and_line(world: World, capsys: Captured) -> None:
    """Commits of the line that the branch lacks are counted, and the other way round."""
    world.plan(story("A"))
    start = world.repo.git("rev-parse", "HEAD")
    world.repo.git("branch", BRANCH, start)
    tip = world.land("one")
    assert status(capsys)["line"] == {"commit": tip, "ahead": 1, "behind": 0}
    world.repo.git("switch", "--quiet", BRANCH)
    world.commit("by a person")
    main(["status"])

    out = capsys.readouterr().out

    assert f"the line is 1 commit ahead of {BRANCH}" in out
    assert f"{BRANCH} has 1 commit that the line has not" in out


def test_branch_that_holds_the_line(world: World, capsys: Captured) -> None:
    """A branch at the line's tip is at no distance; one that is missing lacks all."""
    world.plan(story("A"))
    assert status(capsys)["line"] is None
    tip = world.land("one")
    assert status(capsys)["line"] == {"commit": tip, "ahead": 2, "behind": 0}
    world.repo.git("branch", BRANCH, tip)

    assert status(capsys)["line"] == {"commit": tip, "ahead": 0, "behind": 0}


def test_what_the_last_run_left_to_a_person(world: World, capsys: Captured) -> None:
    """The reasons of a run that could not go on are shown until another one is on."""
    world.plan(story("A"))
    world.tell(EventKind.RUN_ENDED, signal="WAITING", reasons=["testCommand is red"])

    assert status(capsys)["lastRun"]["signal"] == "WAITING"
    main(["status"])
    assert "the last run ended WAITING: testCommand is red" in capsys.readouterr().out
    world.hold()
    main(["status"])
    assert "WAITING" not in capsys.readouterr().out


@pytest.mark.parametrize("fields", [{"createdAt": "2026-01-01T00:00:00Z"}, {}])
def test_events_of_another_plan_do_not_count(
    world: World, capsys: Captured, fields: dict[str, str]
) -> None:
    """What happened on another branch is not told of this plan's stories."""
    world.plan(story("A"), **fields)
    world.tell(EventKind.RUN_STARTED, run="r-other", branch="ql/other")
    world.tell(EventKind.ATTEMPT_STARTED, run="r-other", story="A", attempt=1, wave="wave-9")

    assert status(capsys)["stories"][0]["wave"] is None


def test_events_before_the_plan_do_not_count(world: World, capsys: Captured) -> None:
    """What happened before the plan was made was about a plan that it replaced."""
    world.attempt("A", 1, wave="wave-9", status="passed", commit="abc")
    made = json.loads((world.private / "events.jsonl").read_text().splitlines()[-1])["ts"]
    time.sleep(0.002)
    world.attempt("A", 2, wave="wave-10")
    world.plan(story("A", "in_progress"), createdAt=made.replace("Z", "5Z"))

    row = status(capsys)["stories"][0]

    assert (row["wave"], row["landed"]) == ("wave-10", None)


def test_a_file_from_the_future_hides_nothing(world: World, capsys: Captured) -> None:
    """A plan cannot have been made later than now, so such a date says nothing."""
    world.plan(story("A"), createdAt="2999-01-01T00:00:00Z")
    world.attempt("A", 1)

    assert status(capsys)["stories"][0]["wave"] == "wave-1"


def test_another_state_file(world: World, capsys: Captured, tmp_path: Path) -> None:
    """--quantum names the file to look at."""
    world.plan(story("A"))
    other = tmp_path / "other.json"
    world.quantum.rename(other)

    assert [row["id"] for row in status(capsys, "--quantum", str(other))["stories"]] == ["A"]


def test_without_a_repository(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A state file can be looked at where there is no repository; without one it is missing."""
    monkeypatch.chdir(tmp_path)
    assert main(["status"]) == 66
    (tmp_path / "quantum.json").write_text('{"branchName": "b", "stories": [{"id": "A"}]}')

    assert status(capsys)["stories"][0]["id"] == "A"


def test_no_state_file(world: World, capsys: Captured) -> None:
    """A repository without a plan is an input that is missing, with the way to make one."""
    assert main(["status"]) == 66
    assert "qloop plan" in capsys.readouterr().err


def test_a_plan_with_faults(world: World, capsys: Captured) -> None:
    """The faults of a plan are named instead of a status."""
    world.plan(story("A", "pending", "A"))

    assert main(["status"]) == 65
    assert "dependsOn" in capsys.readouterr().err


def test_a_plan_without_stories(world: World, capsys: Captured) -> None:
    """No stories make no table."""
    world.plan()

    assert main(["status"]) == 0
    assert capsys.readouterr().out == f"{BRANCH}: complete, no stories\nno run is on\n"


def test_reasons_cannot_steer_a_terminal(world: World, capsys: Captured) -> None:
    """Control characters of an agent's making do not reach the screen."""
    world.plan(story("A", "failed", retries=failed(1, "\x1b]0;owned\x07red")))
    world.tell(EventKind.RUN_ENDED, signal="BLOCKED", reasons=["\x1b[2Jgone"])

    main(["status"])

    assert "\x1b" not in capsys.readouterr().out
