"""Review gates in whole runs: other agents judge what the commands found green."""

import json
import os
import signal
import sys
from typing import Any

import pytest

from world import AGENT, World, wait_until

SPEC, QUALITY = "spec-reviewer", "quality-reviewer"
BOTH = "[gates]\nspec_review = true\nquality_review = true"
CRITERIA = ["It says one", "It says two"]


def answer(verdict: str = "passed", *evidence: str, issues: Any = (), met: bool = True) -> str:
    """A reviewer's answer: one place for each criterion."""
    criteria = [
        {"criterion": number, "met": met, "evidence": [place], "note": "I looked"}
        for number, place in enumerate(evidence, start=1)
    ]
    review = {"verdict": verdict, "criteria": criteria, "issues": list(issues)}
    return f"I looked at it.\n```json\n{json.dumps(review)}\n```"


GOOD = answer("passed", "out.txt:1", "out.txt:2")
WELL = answer()


def reviewed(
    world: World, spec: list[Any], quality: list[Any] | None = None, settings: str = BOTH
) -> None:
    """A plan of one story that writes two lines; what its reviewers print, or do, per call."""
    world.configure(settings)
    world.plan({"id": "A-1", "acceptanceCriteria": CRITERIA, "verify": ["grep -q one out.txt"]})
    make = [["write", "out.txt", "one\ntwo\n"], ["commit", "add out"]]
    script = {
        "A-1": [make],
        SPEC: [steps_of(one) for one in spec],
        QUALITY: [steps_of(one) for one in quality or [WELL]],
    }
    world.script.write_text(json.dumps(script), encoding="utf-8")


def steps_of(one: Any) -> list[Any]:
    """The steps of a call: those given, or printing the text given."""
    return [["print", one]] if isinstance(one, str) else one


def calls(world: World) -> list[str]:
    """The roles of the agents that were started, in order."""
    return [one["data"]["role"] for one in world.events("agent.started")]


def prompt(world: World, name: str, attempt: int = 1) -> str:
    """A prompt as it was kept."""
    folder = world.path / ".qloop" / "logs" / "A-1" / str(attempt)
    return (folder / name).read_text("utf-8")


def test_a_story_lands_when_its_reviewers_find_it_good(world: World) -> None:
    """Each is told what it needs, works on the tip, and its word stands in the review."""
    look = f"git rev-parse HEAD > '{world.flags}/head'; cat out.txt > '{world.flags}/seen'"
    reviewed(world, [[["sh", look], ["print", GOOD]]])

    ran = world.run()

    spec, quality = world.story("A-1")["review"].values()
    told = prompt(world, f"{SPEC}.prompt.md")
    tip = world.refs("refs/qloop/attempts/A-1")["refs/qloop/attempts/A-1/1"]
    assert ran.code == 0, ran.err
    assert calls(world) == ["implementer", SPEC, QUALITY]
    assert (spec["status"], quality["status"]) == ("passed", "passed")
    assert "verify-1" in spec["evidence"]
    assert "2. met: out.txt:2" in spec["evidence"]
    assert f"{QUALITY} (double): passed" in quality["evidence"]
    assert "2. It says two" in told
    assert "+two" in told
    assert "> verify-1 `grep -q one out.txt`: exit 0" in told
    assert (world.flags / "head").read_text("utf-8").strip() == tip
    assert (world.flags / "seen").read_text("utf-8") == "one\ntwo\n"
    assert world.files()["out.txt"] == "one\ntwo"
    assert world.worktrees() == []


def test_findings_go_into_the_next_prompt_and_are_charged(world: World) -> None:
    """A review that fails is a failed attempt, and the next one is told what was found."""
    issue = {"severity": "major", "text": "two is missing an end", "evidence": ["out.txt:2"]}
    reviewed(world, [answer("failed", "out.txt:1", "out.txt:2", issues=[issue]), GOOD])

    ran = world.run()

    told = prompt(world, "prompt.md", attempt=2)
    first = next(one["data"] for one in world.events("review.ended") if "role" in one["data"])
    page = world.qloop("show", "A-1")
    assert ran.code == 0, ran.err
    assert world.failures("A-1") == ["review"]
    assert world.story("A-1")["retries"]["attempts"] == 1
    assert "major: two is missing an end (out.txt:2)" in told
    assert "Phase: review" in told
    assert "```json" not in told
    assert (first["role"], first["passed"]) == (SPEC, False)
    assert "spec-reviewer (double) not passed" in page.out
    assert "spec-reviewer (double): passed" in page.out


def test_the_quality_reviewer_is_not_asked_when_the_spec_is_not_met(world: World) -> None:
    """Nothing lands, the spec review is failed with its issues, the quality review pending."""
    reviewed(world, [answer("passed", "out.txt:1", "out.txt:3")])

    ran = world.run("--max-retries", "1")

    review = world.story("A-1")["review"]
    why = "the reviewer cites out.txt:3, and there is no such place"
    assert ran.code == 1
    assert calls(world) == ["implementer", SPEC]
    assert review["specCompliance"]["status"] == "failed"
    assert review["specCompliance"]["issues"] == [f"not met: It says two: {why}"]
    assert review["codeQuality"]["status"] == "pending"
    assert "out.txt" not in world.files()
    assert why in world.qloop("show", "A-1").out


def test_a_grave_finding_on_quality_fails_the_attempt(world: World) -> None:
    """The spec review stays passed."""
    issue = {"severity": "critical", "text": "it eats data"}
    reviewed(world, [GOOD], [answer(issues=[issue])])

    ran = world.run("--max-retries", "1")

    review = world.story("A-1")["review"]
    assert ran.code == 1
    assert review["specCompliance"]["status"] == "passed"
    assert review["codeQuality"]["issues"] == ["critical: it eats data"]
    assert world.failures("A-1") == ["review"]


def test_an_answer_that_cannot_be_read_is_asked_for_once_more(world: World) -> None:
    """By a fresh reviewer; its answer counts."""
    reviewed(world, ["It is fine.", GOOD])

    ran = world.run()

    assert ran.code == 0, ran.err
    assert calls(world) == ["implementer", SPEC, SPEC, QUALITY]
    assert world.story("A-1").get("retries") is None


def test_two_answers_that_cannot_be_read_are_a_failed_review(world: World) -> None:
    """Charged, with what is wrong in the answer."""
    reviewed(world, ["It is fine.", f"{GOOD}\n{answer('failed')}", GOOD])

    ran = world.run()

    log = world.story("A-1")["retries"]["failureLog"]
    assert ran.code == 0, ran.err
    assert [one["phase"] for one in log] == ["review"]
    assert "2 different reviews" in log[0]["reason"]
    assert log[0]["log"].endswith("spec-reviewer-2.log")
    assert world.story("A-1")["retries"]["attempts"] == 1


def test_a_reviewer_that_breaks_off_is_not_the_storys_fault(world: World) -> None:
    """It is tried once more, then the attempt is given up at nobody's charge."""
    gone = [["print", GOOD], ["exit", 3]]
    reviewed(world, [gone, gone, GOOD])

    ran = world.run()

    log = world.story("A-1")["retries"]["failureLog"]
    assert ran.code == 0, ran.err
    assert [one["phase"] for one in log] == ["infra"]
    assert "exit code 3" in log[0]["reason"]
    assert "The last attempt failed" not in prompt(world, "prompt.md", attempt=2)
    assert world.story("A-1")["retries"].get("attempts", 0) == 0


def test_what_a_reviewer_writes_is_thrown_away_and_noticed(world: World) -> None:
    """Its checkout is not the attempt's; the next reviewer sees a clean one."""
    write = 'chmod -R u+w . && echo no > out.txt && echo x > more.txt && git commit -qam "mine"'
    seen = f"git status --porcelain > '{world.flags}/state'; cat out.txt > '{world.flags}/seen'"
    reviewed(world, [[["sh", write], ["print", GOOD]]], [[["sh", seen], ["print", WELL]]])

    ran = world.run()

    told = [one["data"].get("text", "") for one in world.events("state.repaired")]
    assert ran.code == 0, ran.err
    assert world.files()["out.txt"] == "one\ntwo"
    assert "more.txt" not in world.files()
    assert any(SPEC in text and "more.txt, out.txt" in text for text in told)
    assert (world.flags / "state").read_text("utf-8") == ""
    assert (world.flags / "seen").read_text("utf-8") == "one\ntwo\n"


def test_a_reviewer_that_changes_the_persons_repository_is_a_breach(world: World) -> None:
    """As for an implementer: put back, named, and nothing lands."""
    stray = f"git -C '{world.path}' commit --quiet --allow-empty -m stray"
    reviewed(world, [[["sh", stray], ["print", GOOD]]])
    before = world.repo.git("rev-parse", "main")

    ran = world.run("--max-retries", "1")

    assert ran.code == 1
    assert world.failures("A-1") == ["guard"]
    assert world.repo.git("rev-parse", "main") == before
    assert len(world.refs("refs/qloop/escaped")) == 1
    assert "out.txt" not in world.files()


def test_reviewers_have_runners_and_models_of_their_own(world: World) -> None:
    """[roles.NAME] names them; the story's own runner and model are its maker's."""
    note = f"echo \"$1\" > '{world.flags}'/$QLOOP_ROLE; cat > /dev/null; cat '{world.flags}/say'"
    argv = json.dumps(["sh", "-c", note, "agent", "{model}"])
    settings = (
        f'models = ["small", "large"]\n{BOTH}\n[roles.{SPEC}]\nrunner = "judge"\nmodel = "own"\n'
        f'[roles.{QUALITY}]\nrunner = "judge"\n[runners.judge]\nargv = {argv}'
    )
    reviewed(world, [], settings=settings)
    (world.flags / "say").write_text(GOOD, encoding="utf-8")

    ran = world.run("--runner", "double")

    started = [
        (one["data"]["role"], one["data"]["runner"]) for one in world.events("agent.started")
    ]
    assert ran.code == 0, ran.err
    assert started == [("implementer", "double"), (SPEC, "judge"), (QUALITY, "judge")]
    assert (world.flags / SPEC).read_text("utf-8") == "own\n"
    assert (world.flags / QUALITY).read_text("utf-8") == "\n"


def test_commands_cannot_review(world: World) -> None:
    """Where only `shell` is there, a gate for reviewers is 69 before anything starts."""
    (world.path / "qloop.toml").write_text(f'runner = "shell"\n{BOTH}\n', encoding="utf-8")
    world.plan({"id": "A-1", "tasks": [{"id": "T-1", "run": ["echo x > x.txt"]}]})

    ran = world.run(PATH="/usr/bin:/bin")

    assert ran.code == 69
    assert "spec-reviewer" in ran.err
    assert "[gates]" in ran.err
    assert world.statuses() == {"A-1": "pending"}


@pytest.mark.parametrize("whom", ["coordinator", "driver"])
def test_a_run_that_is_killed_during_a_review_is_taken_up(world: World, whom: str) -> None:
    """Nothing of the review is left, and the story lands in the next run."""
    started = world.flags / "started"
    reviewed(world, [[["touch", str(started)], ["sleep", 600]], GOOD])
    run = world.start("run")
    wait_until(started.exists)
    kind = "wave.started" if whom == "coordinator" else None
    pid = world.events(kind)[0]["data"]["process"]["pid"] if kind else run.pid
    os.kill(pid, signal.SIGKILL)
    run.communicate(timeout=60)

    ran = world.run()

    assert ran.code == 0, ran.err
    assert world.statuses() == {"A-1": "passed"}
    assert world.worktrees() == []


def test_a_run_that_is_stopped_during_a_review_keeps_the_work(world: World) -> None:
    """Uncharged; nothing of the reviewer is left, and the next run lands the story."""
    started = world.flags / "started"
    reviewed(world, [[["touch", str(started)], ["sleep", 600]], GOOD])
    run = world.start("run")
    wait_until(started.exists)

    stop = world.qloop("stop", "--now")
    out, err = run.communicate(timeout=60)

    kept = world.refs("refs/qloop/attempts/A-1")
    assert stop.code == 0, stop.err
    assert run.returncode == 130, out + err
    assert world.statuses() == {"A-1": "pending"}
    assert world.worktrees() == []
    assert world.files(kept["refs/qloop/attempts/A-1/1"])["out.txt"] == "one\ntwo"
    assert world.run().code == 0
    assert world.story("A-1")["retries"].get("attempts", 0) == 0


def limited(seconds: int) -> list[Any]:
    """A reviewer that is told of a limit which ends so soon."""
    say = f'echo "Claude AI usage limit reached|$(($(date +%s) + {seconds}))"'
    return [["sh", say], ["quiet"], ["exit", 1]]


def test_a_reviewers_limit_is_its_runners_and_waited_for(world: World) -> None:
    """The story is ready again, nothing is charged, and it is not handed out meanwhile."""
    reviewed(world, [limited(3), GOOD])

    ran = world.run()

    assert ran.code == 0, ran.err
    assert calls(world) == ["implementer", SPEC, "implementer", SPEC, QUALITY]
    assert world.story("A-1")["retries"].get("attempts", 0) == 0
    assert len(world.events("runner.resumed")) == 1


def test_a_story_waits_where_only_its_reviewers_runner_pauses(world: World) -> None:
    """Its implementer is not started for a review that cannot be made."""
    argv = json.dumps([sys.executable, str(AGENT), str(world.script)])
    settings = f'{BOTH}\n[roles.{SPEC}]\nrunner = "judge"\n[runners.judge]\nargv = {argv}'
    reviewed(world, [limited(3600)], settings=settings)

    ran = world.run("--no-wait")

    assert (ran.code, ran.signal) == (3, "<quantum>WAITING</quantum>")
    assert calls(world) == ["implementer", SPEC]
    assert "judge pauses until" in ran.err


def test_a_stand_in_reviews_at_once(world: World) -> None:
    """In the same attempt: the work is not made again, and the runner pauses all the same."""
    argv = json.dumps([sys.executable, str(AGENT), str(world.script)])
    settings = f'fallback = "second"\n{BOTH}\n[runners.second]\nargv = {argv}'
    reviewed(world, [limited(3600), GOOD], settings=settings)

    ran = world.run()

    told = [one["data"] for one in world.events("agent.started")]
    evidence = world.story("A-1")["review"]["specCompliance"]["evidence"]
    assert ran.code == 0, ran.err
    assert [(one["role"], one["runner"]) for one in told] == [
        ("implementer", "double"),
        (SPEC, "double"),
        (SPEC, "second"),
        (QUALITY, "double"),
    ]
    assert "spec-reviewer (second): passed" in evidence
    assert [one["data"]["runner"] for one in world.events("runner.paused")] == ["double"]
