"""A run that was killed is taken up by the next one, with the same tree and statuses."""

import contextlib
import random
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from victims import (
    FOUR,
    FOUR_FILES,
    agents,
    check_nothing_left,
    check_uncharged,
    coordinators,
    gone,
    kill,
    plan_four,
    send,
)
from world import World, wait_until

WHO = ("driver", "coordinators too", "agents too", "all")
PLACES = ("agent", "verify", "test")


def pause_at(world: World, place: str) -> None:
    """A plan of one story that waits at one place until `go`, and touches `there` when it does."""
    there, go = world.flags / "there", world.flags / "go"
    waiting = f"touch '{there}'; until test -e '{go}'; do sleep 0.02; done"
    story: dict[str, Any] = {"id": "A-1"}
    top: dict[str, Any] = {}
    steps = [["write", "A-1.txt", "A-1\n"], ["commit", "one"], ["write", "loose.txt", "loose\n"]]
    if place == "agent":
        steps += [["touch", str(there)], ["wait-for", str(go)]]
    elif place == "verify":
        story["verify"] = [waiting]
    else:
        top["testCommand"] = f"test ! -e A-1.txt || {{ {waiting}; }}"
    world.plan(story, {"id": "B-1", "dependsOn": ["A-1"]}, **top)
    world.agent(A_1=[steps], B_1=[[["write", "B-1.txt", "B-1\n"], ["commit", "two"]]])


def go_on(world: World) -> None:
    """Let nothing wait any more."""
    (world.flags / "go").touch()


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("place", PLACES)
def test_what_a_dead_run_began_is_done_again_at_nobodys_charge(
    world: World, place: str, who: str
) -> None:
    """Killed while an agent works or a gate runs: same end, no charge, the work kept."""
    pause_at(world, place)
    process = world.start("run")
    wait_until((world.flags / "there").exists)
    kill(process, world, who)
    (world.flags / "there").unlink()

    again = world.start("run")
    wait_until((world.flags / "there").exists)
    go_on(world)
    out, err = again.communicate()

    assert (again.returncode, out.strip().splitlines()[-1]) == (
        0,
        "<quantum>COMPLETE</quantum>",
    ), err
    assert world.statuses() == {"A-1": "passed", "B-1": "passed"}
    assert world.files() == {
        "README.md": "start",
        "A-1.txt": "A-1",
        "B-1.txt": "B-1",
        "loose.txt": "loose",
    }
    assert world.failures("A-1") == ["interrupted"], world.story("A-1")
    assert world.files("refs/qloop/attempts/A-1/1").keys() >= {"A-1.txt", "loose.txt"}
    check_uncharged(world)
    check_nothing_left(world)


@pytest.mark.parametrize("place", PLACES)
def test_a_coordinator_that_is_killed_costs_its_stories_an_attempt(
    world: World, place: str
) -> None:
    """Under a living driver: charged as a crash, its work kept, tried again in the same run."""
    pause_at(world, place)
    process = world.start("run")
    wait_until((world.flags / "there").exists)
    left = agents(world)
    (world.flags / "there").unlink()
    send(signal.SIGKILL, *coordinators(process.pid))
    wait_until((world.flags / "there").exists)
    ended = gone(left)
    go_on(world)
    out, err = process.communicate()

    assert (process.returncode, out.strip().splitlines()[-1]) == (
        0,
        "<quantum>COMPLETE</quantum>",
    ), err
    assert ended
    assert world.failures("A-1") == ["crash"]
    assert world.story("A-1")["retries"]["attempts"] == 1
    assert world.files("refs/qloop/attempts/A-1/1").keys() >= {"A-1.txt", "loose.txt"}
    assert len({event["run"] for event in world.events()}) == 1
    check_nothing_left(world)


def test_a_run_killed_over_and_over_comes_to_the_same_end(world: World) -> None:
    """Whatever is killed, and whenever: the tree and the statuses of an undisturbed run."""
    plan_four(world, testCommand="sleep 0.1")
    dice = random.Random(20)
    for number in range(20):
        process = world.start("run")
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(dice.uniform(0.3, 3.0))
        kill(process, world, WHO[number % 4])

    ran = world.run()

    assert (ran.code, ran.signal) == (0, "<quantum>COMPLETE</quantum>"), ran.err
    assert world.statuses() == dict.fromkeys(FOUR, "passed")
    assert world.files() == FOUR_FILES
    assert sorted(world.log()[1:]) == sorted(FOUR)
    check_uncharged(world)
    check_nothing_left(world)
    for one in FOUR:
        assert world.story(one)["review"]["specCompliance"]["status"] == "passed"
        assert world.story(one)["tasks"][0]["status"] == "passed"


def stopped_while_a_story_lands(world: World) -> "subprocess.Popen[str]":
    """A driver that is stopped while its coordinator, which goes on, lands the first story."""
    plan_four(world, [["wait-for", str(world.flags / "go")]])
    process = world.start("run", "--max-iterations", "1")
    wait_until(lambda: world.events("agent.started"))
    send(signal.SIGSTOP, process.pid)
    go_on(world)
    wait_until(lambda: world.events("story.landed"))
    return process


def landed_but_not_settled(world: World) -> None:
    """One story stands on the line, but the driver never came to write it."""
    process = stopped_while_a_story_lands(world)
    kill(process, world, "coordinators too")
    assert world.statuses()["A-1"] == "in_progress"


def test_what_landed_before_the_driver_died_is_passed(world: World) -> None:
    """It is not done again: one attempt, one commit; reviews and tasks are filled in."""
    landed_but_not_settled(world)
    document = world.document
    story = document["stories"][0]
    evidence = story["review"]["specCompliance"]["evidence"]
    story["review"] = {
        "specCompliance": {"status": "pending"},
        "codeQuality": {"status": "pending"},
    }
    story["tasks"][0]["status"] = "pending"
    world.write_document(document)

    ran = world.run("--max-iterations", "0")

    assert ran.code == 2, ran.err
    assert world.statuses() == {
        "A-1": "passed",
        "B-1": "pending",
        "C-1": "pending",
        "D-1": "pending",
    }
    assert world.story("A-1")["review"]["specCompliance"]["status"] == "passed"
    assert world.story("A-1")["review"]["specCompliance"]["evidence"] == evidence
    assert world.story("A-1")["review"]["codeQuality"]["status"] == "passed"
    assert world.story("A-1")["tasks"][0]["status"] == "passed"
    assert "retries" not in world.story("A-1")
    assert len(world.events("attempt.started")) == 1
    assert world.log() == ["start", "A-1"]
    check_nothing_left(world)


def test_a_coordinator_that_died_after_landing_leaves_a_passed_story(world: World) -> None:
    """Git counts, not the process: nothing is charged, reviews and tasks are written."""
    process = stopped_while_a_story_lands(world)
    send(signal.SIGKILL, *coordinators(process.pid))
    send(signal.SIGCONT, process.pid)
    process.communicate()

    assert process.returncode == 2
    assert world.statuses()["A-1"] == "passed"
    assert world.story("A-1")["review"]["specCompliance"]["status"] == "passed"
    assert world.story("A-1")["tasks"][0]["status"] == "passed"
    check_uncharged(world)
    check_nothing_left(world)


def killed_at_work(world: World) -> str:
    """A run killed while its one agent works; the attempt's id."""
    pause_at(world, "agent")
    process = world.start("run")
    wait_until((world.flags / "there").exists)
    kill(process, world, "agents too")
    go_on(world)
    found: str = world.events("attempt.started")[0]["data"]["attempt_id"]
    return found


def commit_with_trailers(world: World, attempt_id: str) -> str:
    """A commit on the feature branch's tip whose message says that the attempt landed."""
    tip = world.repo.git("rev-parse", "ql/feature")
    message = f"A-1\n\nQloop-Story: A-1\nQloop-Attempt: 1 {attempt_id}\n"
    return world.repo.git("commit-tree", f"{tip}^{{tree}}", "-p", tip, "-m", message)


def test_a_trailer_alone_proves_nothing(world: World) -> None:
    """A commit on the line that names the attempt, without its marker, passes no story."""
    attempt_id = killed_at_work(world)
    forged = commit_with_trailers(world, attempt_id)
    for ref in ("refs/heads/ql/feature", "refs/qloop/line/ql/feature"):
        world.repo.git("update-ref", ref, forged)

    ran = world.run()

    assert ran.code == 0, ran.err
    assert len([e for e in world.events("attempt.started") if e["story"] == "A-1"]) == 2
    assert world.files().keys() >= {"A-1.txt", "B-1.txt"}


def test_a_marker_whose_commit_is_not_on_the_line_proves_nothing(world: World) -> None:
    """That is what a crash in the midst of the transaction leaves: not landed."""
    attempt_id = killed_at_work(world)
    forged = commit_with_trailers(world, attempt_id)
    world.repo.git("update-ref", f"refs/qloop/landed/{attempt_id}", forged)

    ran = world.run()

    assert ran.code == 0, ran.err
    assert len([e for e in world.events("attempt.started") if e["story"] == "A-1"]) == 2
    assert world.log() == ["start", "A-1", "B-1"]


def test_living_orphans_are_ended_before_anything_starts(world: World) -> None:
    """An agent and what it detached outlive driver and coordinator, but not the next start."""
    pids, alive = world.flags / "pids", world.flags / "alive"
    runs = "grep -qs 'State:[[:space:]][RSDT]' /proc/$pid/status"
    look = f"for pid in $(cat '{pids}'); do {runs} && touch '{alive}'; done"
    world.plan({"id": "A-1"})
    world.agent(
        A_1=[
            [
                ["sh", f"setsid sh -c 'echo $$ >> \"{pids}\"; exec sleep 600' &"],
                ["sh", f"echo $PPID >> '{pids}'"],
                ["ignore", "SIGTERM"],
                ["sleep", 600],
            ],
            [["sh", look], ["write", "A-1.txt", "A-1\n"], ["commit", "one"]],
        ]
    )
    process = world.start("run")
    wait_until(lambda: len(pids.read_text("utf-8").split()) == 2)
    orphans = [int(word) for word in pids.read_text("utf-8").split()]
    kill(process, world, "coordinators too")
    assert not gone(orphans)

    ran = world.run()

    assert ran.code == 0, ran.err
    assert gone(orphans)
    assert not alive.exists()
    check_nothing_left(world)


def test_the_locks_of_killed_git_commands_are_removed(world: World) -> None:
    """Those on qloop's references and on the feature branch; one elsewhere is left alone."""
    world.plan({"id": "A-1"})
    world.writes_own_file("A-1")
    git = world.path / ".git"
    dead = [
        git / "refs/qloop/line/ql/feature.lock",
        git / "refs/qloop/lease.lock",
        git / "refs/heads/ql/feature.lock",
    ]
    others = [git / "refs/heads/main.lock", git / "index.lock", git / "packed-refs.lock"]
    for path in (*dead, *others):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    ran = world.run()

    assert ran.code == 0, ran.err
    assert not any(path.exists() for path in dead)
    assert all(path.exists() for path in others)
    told = [event["data"].get("text", "") for event in world.events("state.repaired")]
    assert any("refs/qloop/line/ql/feature.lock" in text for text in told), told
    for path in others:
        path.unlink()


def test_another_plans_attempt_of_the_same_story_is_no_proof(world: World) -> None:
    """Two plans with a story of one name: what landed for each is told apart by branch."""
    landed_but_not_settled(world)
    other = Path("other.json")
    (world.path / other).write_text(
        '{"branchName": "ql/other", "stories": [{"id": "A-1"}]}', encoding="utf-8"
    )
    assert world.run("--quantum", str(other)).code == 0

    ran = world.run("--max-iterations", "0")

    assert ran.code == 2, ran.err
    assert world.statuses()["A-1"] == "passed"
