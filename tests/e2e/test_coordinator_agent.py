"""`--coordinator-agent`: a wave that an agent leads by the toolkit, and is never believed."""

import json
import os
import shlex
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from world import QLOOP, Steps, World, processes_with, wait_until

TWO = ({"id": "A-1"}, {"id": "B-1"})
GOOD = """
cat > prompt.copy 2>/dev/null || cat > "$TMPDIR/prompt"
qloop attempt A-1 --start && qloop attempt B-1 --start
qloop attempt A-1 --wait 60s > "$FLAGS/a.json"
qloop attempt B-1 --wait 60s > "$FLAGS/b.json"
qloop wave complete "$QLOOP_WAVE" > "$FLAGS/wave.json"
echo "$?" > "$FLAGS/code"
echo '<quantum>WAVE_PASSED</quantum>'
"""


def led_by(world: World, script: str, extra: str = "") -> None:
    """A plan's waves are led by a script that bash runs."""
    path = world.flags.parent / "lead.sh"
    path.write_text(f"FLAGS={shlex.quote(str(world.flags))}\n{script}", encoding="utf-8")
    argv = json.dumps(["bash", str(path)])
    roles = '[roles.coordinator]\nrunner = "lead"\n'
    world.configure(f"{extra}\n{roles}[runners.lead]\nargv = {argv}\n")


def run(world: World, *words: str) -> Any:
    """A run whose waves an agent leads."""
    return world.run("--coordinator-agent", *words)


def told(world: World) -> str:
    """What the run noted beside the stories."""
    return "\n".join(str(one["data"].get("text", "")) for one in world.events("state.repaired"))


def test_an_agent_leads_a_wave_to_its_end(world: World) -> None:
    """It starts the stories, waits for them, learns the wave's signal, and says it."""
    led_by(world, GOOD)
    world.plan(*TWO)
    world.writes_own_file("A-1", "B-1")

    ran = run(world)

    assert (ran.code, ran.signal) == (0, "<quantum>COMPLETE</quantum>"), ran.err
    assert set(world.statuses().values()) == {"passed"}
    result = json.loads((world.flags / "a.json").read_text())
    assert (result["state"], result["status"]) == ("settled", "passed")
    wave = json.loads((world.flags / "wave.json").read_text())
    assert wave["signal"] == "WAVE_PASSED"
    assert all(wave["stories"].values())
    assert (world.flags / "code").read_text() == "0\n"
    assert [one["signal"] for one in world.document["execution"]["completedWaves"]] == [
        "WAVE_PASSED"
    ]
    assert world.document["execution"]["mode"] == "coordinator-agent"
    ended = [one for one in world.events("agent.ended") if one["data"]["role"] == "coordinator"]
    assert [(one["data"]["signal"], one.get("story")) for one in ended] == [("WAVE_PASSED", None)]
    assert "coordinator" in {one["data"]["role"] for one in world.events("budget.settled")}
    assert told(world) == ""
    assert world.worktrees() == []
    assert world.qloop("status").code == world.qloop("report").code == 0


def test_a_lie_passes_nothing(world: World) -> None:
    """A story that fails its command fails; the agent's signal and its verdict are refused."""
    script = """
    qloop attempt A-1 > "$FLAGS/a.json"
    qloop review set A-1 --spec passed --quality passed --evidence 'looks good' 2> "$FLAGS/no"
    echo '<quantum>WAVE_PASSED</quantum>'
    """
    led_by(world, script)
    world.plan({"id": "A-1", "verify": ["false"], "retries": {"maxAttempts": 1}})
    world.writes_own_file("A-1")

    ran = run(world)

    assert ran.code == 1, ran.err
    assert world.statuses() == {"A-1": "failed"}
    assert world.story("A-1")["review"]["specCompliance"]["status"] == "failed"
    assert "failed on evidence" in (world.flags / "no").read_text()
    assert "said WAVE_PASSED, but A-1 did not land" in told(world)
    assert world.files().keys() == {"README.md"}


@pytest.mark.parametrize(
    ("script", "extra", "signal"),
    [
        ("qloop attempt A-1 --start; kill -9 $$", "", "nothing"),
        ("qloop attempt A-1 --start; sleep 600", 'stale_after = "2s"', "nothing"),
        ("echo '<quantum>BLOCKED</quantum>'", "", ""),
        ("exit 7", "", "nothing"),
    ],
    ids=["dies", "hangs", "says that it is blocked", "does nothing"],
)
def test_what_it_does_not_start_is_started_without_it(
    world: World, script: str, extra: str, signal: str
) -> None:
    """However the agent ends, every story of its wave is tried, at nobody's charge."""
    led_by(world, script, extra)
    world.plan(*TWO)
    world.writes_own_file("A-1", "B-1")

    ran = run(world)

    assert ran.code == 0, ran.err
    assert set(world.statuses().values()) == {"passed"}
    assert "had not started" in told(world)
    assert (f"said {signal}" in told(world)) == bool(signal)
    assert world.worktrees() == []


def test_the_state_file_is_not_its_to_write(world: World) -> None:
    """A status that it writes by path is put back, and named."""
    forge = (
        "import json, pathlib; path = pathlib.Path(r'QUANTUM'); "
        "document = json.loads(path.read_text()); "
        "[one.update(status='passed') for one in document['stories']]; "
        "path.write_text(json.dumps(document))"
    ).replace("QUANTUM", str(world.quantum))
    script = f"""
    {shlex.join([sys.executable, "-c", forge])}
    qloop attempt A-1 > /dev/null
    {shlex.join([sys.executable, "-c", forge])}
    echo '<quantum>WAVE_PASSED</quantum>'
    """
    led_by(world, script)
    world.plan({"id": "A-1", "verify": ["false"], "retries": {"maxAttempts": 1}}, {"id": "B-1"})
    world.writes_own_file("A-1", "B-1")

    ran = run(world, "--max-parallel", "1")

    assert ran.code == 1, ran.err
    assert world.statuses() == {"A-1": "failed", "B-1": "passed"}
    assert "status" in told(world)


def test_what_its_git_does_to_the_repository_is_taken_back(world: World) -> None:
    """A line that it moves to a commit of its own is the line that was, and the story fails."""
    script = f"""
    cd {shlex.quote(str(world.path))}
    forged=$(git commit-tree -p HEAD -m 'forged' 'HEAD^{{tree}}')
    qloop attempt A-1 --start
    git update-ref refs/qloop/line/ql/feature "$forged"
    qloop attempt A-1 --wait 60s > /dev/null
    echo '<quantum>WAVE_PASSED</quantum>'
    """
    led_by(world, script)
    world.plan({"id": "A-1", "retries": {"maxAttempts": 1}})
    world.agent(A_1=[[["sleep", 1], ["say", "STORY_FAILED"]]])

    ran = run(world)

    assert ran.code == 1, ran.err
    assert world.statuses() == {"A-1": "failed"}
    breaches = [one["data"] for one in world.events("guard.breached")]
    assert [one["role"] for one in breaches] == ["coordinator"]
    assert "refs/qloop/line/ql/feature" in breaches[0]["reason"]
    assert world.log("refs/qloop/line/ql/feature") == ["start"]


def test_an_implementer_leads_nothing(world: World) -> None:
    """Whoever is not the agent that leads the wave is turned away at its door."""
    led_by(world, 'echo "$QLOOP_COORDINATOR" > "$FLAGS/door"; qloop attempt A-1 > /dev/null')
    said = world.flags / "said"
    wish = shlex.join([*QLOOP, "review", "set", "A-1", "--spec", "passed", "--evidence", "mine"])
    call = f"QLOOP_COORDINATOR=$(cat '{world.flags}/door') {wish} > '{said}' 2>&1"
    world.plan({"id": "A-1"})
    world.agent(A_1=[[["sh", call], ["write", "a.txt", "a"]]])

    ran = run(world)

    assert ran.code == 0, ran.err
    assert "only the agent that leads the wave" in said.read_text()


def test_it_cannot_be_had_without_an_agent(world: World) -> None:
    """Nor together with the other way to lead stories."""
    (world.path / "qloop.toml").write_text('runner = "shell"\n', encoding="utf-8")
    world.plan({"id": "A-1", "tasks": [{"id": "T-1", "run": ["true"]}], "allowEmpty": True})
    nowhere = Path(sys.executable).parent

    both = run(world, "--legacy-orchestrator")
    none = world.run("--coordinator-agent", PATH=f"{nowhere}:/usr/bin:/bin")

    assert both.code == 64
    assert (none.code, "no" in none.err) == (69, True), none.err
    assert world.statuses() == {"A-1": "pending"}


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_ended_takes_its_agent_along(world: World, signum: signal.Signals) -> None:
    """The next run takes the wave's stories up; nothing of the first one is left."""
    led_by(world, 'touch "$FLAGS/led"; qloop attempt A-1 --start; sleep 600')
    world.plan({"id": "A-1"})
    begun: Steps = [["touch", str(world.flags / "on")], ["sleep", 600]]
    world.agent(A_1=[begun, [["write", "a.txt", "a\n"]]])
    started = world.start("run", "--coordinator-agent")
    wait_until((world.flags / "on").exists)
    os.kill(started.pid, signum)
    if signum == signal.SIGINT:
        os.kill(started.pid, signal.SIGTERM)  # at once
    started.communicate()

    again = world.run()

    assert again.code == 0, again.err
    assert world.statuses() == {"A-1": "passed"}
    assert world.worktrees() == []
    assert not [*processes_with(str(world.flags.parent / "lead.sh"))]
