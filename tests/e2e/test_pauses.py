"""Runners that cannot work: limits are waited for, faults of their services are not charged."""

import json
import os
import signal
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from world import AGENT, Steps, World, wait_until


def limited(seconds: int) -> Steps:
    """An agent that is told of a limit which ends so soon, after it has begun its work."""
    say = f'echo "Claude AI usage limit reached|$(($(date +%s) + {seconds}))"'
    return [["write", "half.txt", "half"], ["sh", say], ["quiet"], ["exit", 1]]


def refused(line: str, code: int = 1) -> Steps:
    """An agent that ends with an error's line."""
    return [["print", line], ["exit", code]]


def own(story: str) -> Steps:
    """An agent that writes a file of its story's name."""
    return [["write", f"{story}.txt", story], ["commit", f"add {story}"]]


def two_runners(world: World) -> None:
    """Beside `double` another runner `other`, of the same script."""
    argv = json.dumps([sys.executable, str(AGENT), str(world.script)])
    world.configure(f"[runners.other]\nargv = {argv}\n")


def reasons(world: World, story: str) -> list[tuple[str, int]]:
    """A story's failures: their phases, and what was charged in all."""
    retries = world.story(story)["retries"]
    return [(one["phase"], retries.get("attempts", 0)) for one in retries["failureLog"]]


def paused(world: World) -> list[dict[str, Any]]:
    """What the journal tells of pauses."""
    return [event["data"] for event in world.events("runner.paused")]


def test_a_usage_limit_is_waited_for_and_never_an_attempt(world: World) -> None:
    """The story is pending meanwhile, its work kept; then it goes on as if nothing had been."""
    world.plan({"id": "A-1"}, {"id": "B-1", "dependsOn": ["A-1"]})
    world.agent(A_1=[limited(3), own("A-1")], B_1=[own("B-1")])

    ran = world.run()

    assert ran.code == 0, ran.err
    assert world.statuses() == {"A-1": "passed", "B-1": "passed"}
    assert world.story("A-1")["retries"].get("attempts", 0) == 0
    assert world.failures("A-1") == ["interrupted"]
    assert [(one["runner"], one["cause"]) for one in paused(world)] == [("double", "usage_limit")]
    assert [one["data"]["runner"] for one in world.events("runner.resumed")] == ["double"]
    assert "double pauses for" in ran.err
    assert "double may work again" in ran.err
    kept = world.refs("refs/qloop/attempts/A-1")
    assert "half.txt" in world.files(kept["refs/qloop/attempts/A-1/1"])
    assert world.events("runner.resumed")[0]["ts"] >= paused(world)[0]["until"]


def test_no_wait_ends_the_run_where_only_a_limit_would_let_it_go_on(world: World) -> None:
    """Exit 3, WAITING, the story pending, at once; the next run does the work."""
    world.plan({"id": "A-1"})
    world.agent(A_1=[limited(3600), own("A-1")])

    ran = world.run("--no-wait")
    status = world.qloop("status")
    again = world.run("--no-wait")

    assert (ran.code, ran.signal) == (3, "<quantum>WAITING</quantum>")
    assert "usage limit reached" in ran.err
    assert "A-1" in ran.err
    assert "pending" in status.out
    assert "WAITING" in status.out
    assert again.code == 0, again.err
    assert world.statuses() == {"A-1": "passed"}
    assert world.story("A-1")["retries"].get("attempts", 0) == 0


def test_other_runners_go_on_while_one_pauses(world: World) -> None:
    """Only the stories of the runner that pauses wait, what needs them included."""
    two_runners(world)
    world.plan(
        {"id": "A-1"},
        {"id": "A-2"},
        {"id": "B-1", "runner": "other"},
        {"id": "B-2", "runner": "other", "dependsOn": ["B-1"]},
    )
    world.agent(A_1=[limited(3600)], A_2=[own("A-2")], B_1=[own("B-1")], B_2=[own("B-2")])

    ran = world.run("--no-wait", "--max-parallel", "1")

    assert ran.code == 3, ran.err
    assert world.statuses() == {
        "A-1": "pending",
        "A-2": "pending",
        "B-1": "passed",
        "B-2": "passed",
    }
    assert [one["runner"] for one in paused(world)] == ["double"]
    assert len([one for one in world.events("agent.started") if one["story"] == "A-2"]) == 0


def test_authentication_is_told_once_and_ends_the_run(world: World) -> None:
    """Three at work are refused: one pause, one notice, exit 3; the next run tries again."""
    names = ["A-1", "B-1", "C-1"]
    told = refused("Invalid API key · Fix external API key")
    script: dict[str, list[Steps]] = {}
    for name in names:
        meet: Steps = [["touch", str(world.flags / name)]]
        meet += [["wait-for", str(world.flags / other)] for other in names]
        script[name.replace("-", "_")] = [[*meet, *told], own(name)]
    world.plan(*({"id": name} for name in names))
    world.agent(**script)

    ran = world.run("--max-parallel", "3")
    left = world.statuses()
    again = world.run("--max-parallel", "3")

    assert (ran.code, ran.signal) == (3, "<quantum>WAITING</quantum>")
    assert set(left.values()) == {"pending"}
    assert again.code == 0, again.err
    assert [(one["cause"], one["until"]) for one in paused(world)] == [("authentication", None)]
    assert ran.err.count("double is not let in, log in or give its key") == 1
    assert all(world.story(name)["retries"].get("attempts", 0) == 0 for name in names)


def test_where_one_runner_is_locked_the_others_do_all_they_can(world: World) -> None:
    """Also after a limit of theirs; then the run ends for the person who can unlock it."""
    two_runners(world)
    world.plan({"id": "A-1"}, {"id": "B-1", "runner": "other"})
    world.agent(A_1=[refused("Invalid API key")], B_1=[limited(2), own("B-1")])

    ran = world.run()

    assert (ran.code, ran.signal) == (3, "<quantum>WAITING</quantum>"), ran.err
    assert world.statuses() == {"A-1": "pending", "B-1": "passed"}
    assert "double is not let in: Invalid API key; log in or give its key" in ran.err


def test_a_limit_whose_end_cannot_be_read_waits_for_some_minutes(world: World) -> None:
    """As long as the documentation says, rather than for a guess."""
    world.plan({"id": "A-1"})
    world.agent(A_1=[refused("You've hit your weekly limit · resets soon")])

    ran = world.run("--no-wait")

    (event,) = world.events("runner.paused")
    wait = datetime.fromisoformat(event["data"]["until"]) - datetime.fromisoformat(event["ts"])
    assert ran.code == 3, ran.err
    assert 295 <= wait.total_seconds() <= 300


def test_an_overloaded_service_is_tried_again_and_not_charged(world: World) -> None:
    """With waits that grow, each of them told."""
    busy = refused("API Error: 529 Overloaded. Try again later.")
    world.plan({"id": "A-1", "retries": {"maxAttempts": 1}})
    world.agent(A_1=[busy, refused("API Error: Connection dropped (ECONNRESET)"), own("A-1")])

    ran = world.run("--no-wait")

    assert ran.code == 0, ran.err
    assert world.statuses() == {"A-1": "passed"}
    assert reasons(world, "A-1") == [("infra", 0), ("infra", 0)]
    assert [one["cause"] for one in paused(world)] == ["overload", "network"]


def test_a_service_that_stays_overloaded_is_charged_in_the_end(world: World) -> None:
    """From the fourth time in a row on, so that a run ends; three uncharged ones stop nothing."""
    world.plan({"id": "A-1", "retries": {"maxAttempts": 1}})
    world.agent(A_1=[refused("API Error: 529 Overloaded. Try again later.")])

    ran = world.run()

    assert ran.code == 1, ran.err
    assert world.statuses() == {"A-1": "failed"}
    assert reasons(world, "A-1") == [*[("infra", 1)] * 3, ("agent_failed", 1)]
    assert "4 times in a row" in world.story("A-1")["retries"]["failureLog"][-1]["reason"]


def test_a_refused_model_stops_the_run_at_once(world: World) -> None:
    """It will be refused next time as well: exit 65, an error, every story pending again."""
    line = "There's an issue with the selected model (nope). It may not exist"
    two_runners(world)
    world.plan({"id": "A-1"}, {"id": "B-1", "runner": "other"}, {"id": "C-1"})
    at_work = str(world.flags / "at work")
    world.agent(
        A_1=[[["wait-for", at_work], *refused(line, 2)]],
        B_1=[[["touch", at_work], ["sleep", 600]]],
        C_1=[own("C-1")],
    )

    ran = world.run("--max-parallel", "2")

    assert (ran.code, ran.signal) == (65, "<quantum>BLOCKED</quantum>"), ran.err
    assert "error: the runner 'double' was refused its model or an option" in ran.err
    assert line in ran.err
    assert set(world.statuses().values()) == {"pending"}
    assert all(world.story(one)["retries"].get("attempts", 0) == 0 for one in ("A-1", "B-1"))
    assert not [one for one in world.events("agent.started") if one["story"] == "C-1"]


def test_what_a_successful_agent_says_of_limits_pauses_nothing(world: World) -> None:
    """Words about limits, and even an error's own words, are prose in a call that ended well."""
    said = "API Error: 429\nClaude AI usage limit reached|1999999999\nInvalid API key"
    world.plan({"id": "A-1"})
    world.agent(A_1=[[*own("A-1"), ["print", said], ["say", "STORY_PASSED"]]])

    ran = world.run()

    assert ran.code == 0, ran.err
    assert paused(world) == []


def test_a_pause_outlives_the_run_that_was_killed(world: World) -> None:
    """The next one knows it from the journal, and starts no agent before its end."""
    world.plan({"id": "A-1"})
    world.agent(A_1=[limited(6), own("A-1")])
    process = world.start("run")
    wait_until(lambda: paused(world))
    wait_until(lambda: world.statuses() == {"A-1": "pending"})
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()

    ran = world.run()

    first, second = world.events("runner.paused")
    started = [one["ts"] for one in world.events("agent.started")]
    assert ran.code == 0, ran.err
    assert second["data"] == {**first["data"], "kept": True}
    assert first["run"] != second["run"]
    assert len(started) == 2
    assert started[1] >= first["data"]["until"]


def test_a_waiting_run_sleeps_until_it_is_interrupted(world: World) -> None:
    """It is not woken while a limit lasts; a person can end it at once."""
    world.plan({"id": "A-1"})
    world.agent(A_1=[limited(3600)])
    process = world.start("run")
    wait_until(lambda: paused(world))
    wait_until(lambda: world.statuses() == {"A-1": "pending"})
    wait_until(lambda: _switches(process.pid) == _after(0.5, process.pid))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)

    assert process.returncode == 130, err
    assert out.strip().endswith("<quantum>INTERRUPTED</quantum>")


def _after(seconds: float, pid: int) -> int:
    time.sleep(seconds)
    return _switches(pid)


def _switches(pid: int) -> int:
    """How often a process went to sleep so far."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return sum(int(line.split()[1]) for line in text.splitlines() if "ctxt_switches" in line)
