"""Missions from outside: phases by fresh coordinators, questions, answers, crashes."""

import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from loaded import Loaded
from world import Ran, World, wait_until

PRD = """# Tea site

A site about tea.

## US-001: The page

**Runner:** shell

```sh run
echo tea > tea.txt
```

```sh verify
grep -q tea tea.txt
```
"""


@pytest.fixture
def world(tmp_path: Path, loaded: Loaded) -> World:
    """A repository with a document of one story."""
    made = World(tmp_path, loaded)
    made.configure()
    made.repo.commit("prd", {"prd.md": PRD, "app.py": ""})
    return made


def begin(world: World, *words: str) -> Path:
    """Begin a mission of the document; its folder."""
    ran = world.qloop("mission", "new", "--from", "prd.md", "--json", *words)
    assert ran.code == 0, ran.err
    return Path(json.loads(ran.out)["folder"])


def status(world: World) -> dict[str, Any]:
    """What `mission status --json` says."""
    value: dict[str, Any] = json.loads(world.qloop("mission", "status", "--json").out)
    return value


def landed(world: World) -> list[str]:
    """Subjects on the mission's feature branch that are not on main."""
    return world.repo.git("log", "--format=%s", "main..ql/1--tea-site").splitlines()


def coordinator(world: World, phase: str, command: str) -> None:
    """Let a program of the person's own coordinate a phase."""
    world.configure(f"[phases.{phase}]\ncommand = {json.dumps(command)}")


def test_an_autopilot_mission_lands_its_plan_without_a_question(world: World) -> None:
    """RECON, PLANNING, EXECUTION and what follows are done by coordinators of their own."""
    folder = begin(world, "--autonomy", "autopilot")

    ran = world.qloop("mission", "run")

    assert ran.code == 0, ran.err
    assert landed(world) == ["US-001: The page"]
    known = status(world)
    assert known["status"] == "completed"
    assert {run["status"] for run in known["phases"]} <= {"complete", "skipped"}
    assert "EXECUTION" in (folder / "STATE.md").read_text("utf-8")
    assert f"## Completed\n\n- [1 — Tea site]({folder.name}/" in (
        folder.parent / "INDEX.md"
    ).read_text("utf-8")
    ledger = (folder / "savepoint.md").read_text("utf-8")
    assert "  Exec  started\n" in ledger
    assert ledger.endswith("  Done  delivered\n")
    assert not (folder / "delivery.lock").exists()
    again = world.qloop("mission", "run", "1")
    assert again.code == 65
    assert not (world.path / "quantum.json").exists()
    watched = world.qloop("watch").out
    assert "COMPLETE" in watched or "complete" in watched
    assert "gone without an end" not in watched


def test_a_guided_mission_asks_and_goes_on_by_the_answer(world: World) -> None:
    """The plan waits for a person; a fresh coordinator of the same phase takes the answer."""
    begin(world, "--autonomy", "guided", "--skip", "RECON", "--skip", "REFINEMENT")

    asked = world.qloop("mission", "run")

    assert asked.code == 3
    assert "cp-1-1" in asked.err
    assert world.qloop("answer", "cp-1-1", "no-such").code == 65
    assert world.qloop("answer", "cp-1-1", "approve").code == 0
    assert world.qloop("answer", "cp-1-1", "approve").code == 65
    again = world.qloop("mission", "resume")
    assert again.code == 3  # the end of EXECUTION
    assert landed(world) == ["US-001: The page"]
    assert world.qloop("answer", "cp-1-2", "go-on").code == 0
    assert world.qloop("mission", "resume").code == 0
    planning = next(run for run in status(world)["phases"] if run["phase"] == "PLANNING")
    assert planning["spawns"] == 2


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("cat > /dev/null & exit 0", "missing_event"),
        ("echo hello", "malformed_event"),
        ('echo \'{"event": "phase.complete", "phase_id": "RECON"}\'', "malformed_event"),
        (
            'for i in 1 2; do echo \'{"event": "phase.complete", "phase_id": "RECON", '
            '"summary": "s"}\'; done',
            "doubled_event",
        ),
        ("kill -9 $$", "crash"),
    ],
)
def test_what_is_not_one_whole_event_is_a_failure_with_a_reason(
    world: World, command: str, kind: str
) -> None:
    """The person is asked how to go on, and can have the phase tried again."""
    coordinator(world, "RECON", command)
    begin(world, "--autonomy", "autopilot")

    ran = world.qloop("mission", "run")

    assert ran.code == 3
    known = status(world)
    assert known["phases"][0]["failure_type"] == kind
    assert known["phases"][0]["note"]
    options = [option["id"] for option in known["checkpoints"][0]["options"]]
    assert options == ["retry", "abandon"]
    assert not landed_branch(world)


def landed_branch(world: World) -> bool:
    """Whether the mission's feature branch is there."""
    return bool(world.repo.git("branch", "--list", "ql/1--tea-site").strip())


def test_the_status_of_a_mission_without_a_plan_is_that_of_the_mission(world: World) -> None:
    """Before there are stories the phases are what stands somewhere."""
    begin(world, "--autonomy", "guided")

    shown, told = world.qloop("status"), world.qloop("status", "--json")

    assert (shown.code, told.code) == (0, 0), shown.err
    assert "RECON" in shown.out
    assert json.loads(told.out)["status"] == "initialized"


def test_a_coordinator_of_ones_own_is_told_of_the_mission(world: World) -> None:
    """Directive, autonomy, budget and what was learned go down; its event comes up."""
    event = {
        "event": "phase.complete",
        "phase_id": "RECON",
        "summary": "seen",
        "warmth": {"patterns": ["tabs"], "gotchas": [], "user_preferences": []},
    }
    coordinator(world, "RECON", f"head -1 > order.json; echo '{json.dumps(event)}'")
    begin(world, "--autonomy", "autopilot", "--budget", "5", "--constraint", "no network")

    assert world.qloop("mission", "run").code == 0

    order = json.loads((world.path / "order.json").read_text("utf-8"))
    context = order["mission_context"]
    assert context["autonomy"] == "AUTOPILOT"
    assert context["budget"] == {"remaining": 5.0, "limit": 5.0}
    assert context["constraints"] == ["no network"]
    assert status(world)["warmth"]["patterns"] == ["tabs"]


@pytest.mark.parametrize("phase", ["RECON", "PLANNING", "EXECUTION", "REFINEMENT"])
def test_a_mission_killed_in_any_phase_goes_on_there(world: World, phase: str) -> None:
    """The mission process and its coordinator are killed at once; the next one takes it up."""
    held = world.flags / "held"
    real = 'exec "$QLOOP_TEST" -P -m qloop phase ' + phase + ' --intent "$QLOOP_INTENT_DIR"'
    wait = f"test -e '{held}' && {real} || {{ touch '{held}'; kill -9 $PPID; kill -9 $$; }}"
    coordinator(world, phase, wait)
    folder = begin(world, "--autonomy", "autopilot")

    killed = world.qloop("mission", "run", QLOOP_TEST=sys.executable)

    assert killed.code == -signal.SIGKILL
    again: Ran = world.qloop("mission", "resume", QLOOP_TEST=sys.executable)
    assert again.code == 0, again.err
    known = {run["phase"]: run for run in status(world)["phases"]}
    assert known[phase]["spawns"] == 2
    assert landed(world) == ["US-001: The page"]
    assert (folder / "savepoint.md").read_text("utf-8").count("  Lock  takeover: m-") == 1


def test_answers_are_refused_to_what_a_mission_started(world: World) -> None:
    """A coordinator, and whatever it starts, cannot answer for the person."""
    coordinator(
        world,
        "PLANNING",
        'qloop() { "$QLOOP_TEST" -P -m qloop "$@"; }; '
        "qloop answer cp-1-1 go-on 2> refused.txt; echo $? > code.txt",
    )
    begin(world, "--autonomy", "guided")
    assert world.qloop("mission", "run").code == 3
    assert world.qloop("answer", "cp-1-1", "go-on").code == 0

    world.qloop("mission", "resume", QLOOP_TEST=sys.executable)

    assert (world.path / "code.txt").read_text("utf-8").strip() == "64"


def test_a_mission_is_watched_and_stopped_from_elsewhere(world: World) -> None:
    """`watch` prints its feed as it comes, `stop` ends it, and it is taken up again."""
    coordinator(world, "RECON", f"touch '{world.flags}/on'; sleep 600")
    begin(world, "--autonomy", "autopilot")
    running = world.start("mission", "run")
    wait_until((world.flags / "on").exists)
    watching = world.start("watch")
    assert watching.stdout is not None
    assert "RECON: coordinator 1 started" in watching.stdout.readline()

    assert world.qloop("stop").code == 0

    assert running.communicate()[0] is not None
    assert running.returncode == 130
    assert watching.wait() == 0
    watching.communicate()
    overview = world.qloop()
    assert "qloop mission run" in overview.out
    assert status(world)["status"] == "interrupted"


def test_two_missions_keep_out_of_each_others_way(world: World) -> None:
    """Each has its folder, plan and branch; stories of one name are not taken for each other."""
    first = begin(world, "--autonomy", "autopilot", "--skip", "REFINEMENT")
    second = begin(world, "--autonomy", "autopilot", "--skip", "REFINEMENT")
    before = {path: path.read_bytes() for path in first.rglob("*") if path.is_file()}

    assert world.qloop("mission", "run", "2").code == 0
    after = {path: path.read_bytes() for path in first.rglob("*") if path.is_file()}
    assert world.qloop("mission", "run", "1").code == 0

    assert after == before
    assert landed(world) == ["US-001: The page"]
    other = world.repo.git("log", "--format=%s", "main..ql/2--tea-site").splitlines()
    assert other == ["US-001: The page"]
    assert (
        json.loads((second / "quantum.json").read_text("utf-8"))["branchName"] == "ql/2--tea-site"
    )
