"""The phase REFINEMENT: an order in, one event out."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from qloop.mission.phase_desk import PhaseDesk
from qloop.mission.phase_order import PhaseOrder
from qloop.mission.refinement import coordinate
from qloop.repo.checkout import find_repository
from qloop.run.config import load_config
from qloop.run.forks import new_run_id
from qloop.run.holder import private_folder
from qloop.state.journal import Journal
from qloop.state.phase_events import PhaseCheckpoint, PhaseComplete, PhaseEvent, PhaseFailure
from qloop.state.phases import PhaseName
from qloop.system.cancel import Cancel
from qloop.system.clock import monotonic_s
from qloop.system.table import read_row
from repository import Repo
from world import PATIENCE_S, QLOOP

SETTINGS = 'runner = "shell"\n[refinement]\nscreenshots = false\n'
BROKEN = "<html lang='en'><head><title>x</title></head><body><a href='gone'>x</a></body></html>"


@pytest.fixture
def intent(repo: Repo) -> Path:
    """The folder of an intent, in a repository with a page."""
    repo.commit("page", {"index.html": BROKEN})
    repo.write({"qloop.toml": SETTINGS})
    folder = repo.path / ".qloop" / "intents" / "1--tea"
    folder.mkdir(parents=True)
    return folder


def ordered(intent: Path, plan: dict[str, Any], **order: Any) -> dict[str, Any]:
    """An order, once there is a plan."""
    quantum = intent / "quantum.json"
    if not quantum.exists():
        document = {"branchName": "ql/tea", "stories": [{"id": "US-001"}], **plan}
        quantum.write_text(json.dumps(document), encoding="utf-8")
    return {
        "phase": "REFINEMENT",
        "intent_dir": str(intent),
        "run_id": new_run_id("p-"),  # by which one that died is known, on the whole machine
        "phase_config": {"objectives": [], "agents": [], "output": []},
        "mission_context": {"directive": "tea", "autonomy": "AUTOPILOT"},
        **order,
    }


def say(intent: Path, plan: dict[str, Any], **order: Any) -> PhaseEvent:
    """The event of a coordinator with an order."""
    whole = ordered(intent, plan, **order)
    repository = find_repository(intent.parents[2])
    desk = PhaseDesk(
        order=PhaseOrder.model_validate_json(json.dumps(whole)),
        repository=repository,
        config=load_config(repository.root),
        journal=Journal(private_folder(repository) / "events.jsonl", whole["run_id"]),
        cancel=Cancel(),
        tell=lambda _: None,
        began_s=monotonic_s(),
    )
    return coordinate(desk)


def asked(autonomy: str) -> dict[str, Any]:
    """The part of an order that says how much may be asked."""
    return {"mission_context": {"directive": "tea", "autonomy": autonomy}}


def test_autopilot_ends_with_what_was_found(intent: Path) -> None:
    """Nobody is asked; the summary says what is left."""
    event = say(intent, {})

    assert isinstance(event, PhaseComplete)
    assert event.summary == (
        "visual: 1 critical, 1 minor; flows: none; personas: none declared; "
        "left as it is: 1 critical"
    )
    assert [one.path for one in event.outputs] == [
        "refinement/REFINEMENT_PLAN.md",
        "refinement/refinement-prd.md",
    ]
    assert event.next_phase is None


@pytest.mark.parametrize("autonomy", ["GUIDED", "HANDS-ON"])
def test_others_ask_and_mend_by_stories_that_are_added_once(intent: Path, autonomy: str) -> None:
    """Also where the coordinator dies before its event is heard."""
    question = say(intent, {}, **asked(autonomy))
    later = say(intent, {}, **asked(autonomy), round=1)
    answer = {"user_response": {"option": "fix"}, "checkpoint_context": {"checkpoint": "cp-1-1"}}
    events = [say(intent, {}, **asked(autonomy), **answer) for _ in range(2)]

    assert isinstance(question, PhaseCheckpoint)
    assert question.checkpoint_type == "findings"
    assert [one.id for one in question.options] == ["fix", "accept", "abandon"]
    assert isinstance(later, PhaseCheckpoint)
    assert [one.id for one in later.options] == ["accept", "abandon"]
    for event in events:
        assert isinstance(event, PhaseComplete)
        assert event.next_phase is PhaseName.EXECUTION
        assert event.summary.endswith("to be mended: REF-001")
    plan = json.loads((intent / "quantum.json").read_text("utf-8"))
    assert [story["id"] for story in plan["stories"]] == ["US-001", "REF-001"]
    assert plan["stories"][1]["tasks"][0]["filePaths"] == ["index.html"]


def test_what_cannot_be_set_up_is_a_failure_that_a_person_can_let_be(intent: Path) -> None:
    """The red command is the reason; accepted, the mission ends without REFINEMENT."""
    event = say(intent, {"setupCommands": ["echo lost; exit 4"]})
    answer = {
        "user_response": {"option": "accept"},
        "checkpoint_context": {"failure_type": "not_refined"},
    }
    accepted = say(intent, {}, **answer)

    assert isinstance(event, PhaseFailure)
    assert "exit 4" in event.reason
    assert [one.id for one in event.recovery_options] == ["accept"]
    assert isinstance(accepted, PhaseComplete)
    assert not list((intent.parents[2] / ".git" / "qloop").rglob("refinement.*"))


def test_killed_in_a_flow_it_goes_on_at_that_flow(repo: Repo, intent: Path, tmp_path: Path) -> None:
    """What was done is not done again; the rest is, on a server of its own."""
    flags = tmp_path / "flags"
    flags.mkdir()
    serve = (
        f"echo x >> '{flags}/served'; echo $$ > '{flags}/pid'; "
        f"exec '{sys.executable}' -m http.server --bind 127.0.0.1 $QLOOP_PORT"
    )
    flow = (
        f"test -e '{flags}/killed' || {{ touch '{flags}/killed'; kill -9 $PPID; sleep 600; }}; "
        f"echo x >> '{flags}/tried'"
    )
    text = f"{SETTINGS}serve = {json.dumps(serve)}\n[[refinement.flows]]\nname = 'once'\n"
    repo.write({"qloop.toml": f"{text}commands = [{json.dumps(flow)}]\n"})
    with subprocess.Popen(
        [*QLOOP, "phase", "REFINEMENT", "--intent", str(intent)],
        cwd=repo.path,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    ) as killed:
        assert killed.stdin is not None
        killed.stdin.write(json.dumps(ordered(intent, {})) + "\n")
        killed.stdin.flush()
        code = killed.wait(PATIENCE_S)
    done = json.loads((intent / "phases" / "REFINEMENT.json").read_text("utf-8"))
    left = read_row(int((flags / "pid").read_text("utf-8")))
    event = say(intent, {})
    gone = None if left is None else read_row(left.pid)

    assert code == -signal.SIGKILL
    assert list(done["steps"]) == ["visual-inspector"]
    assert isinstance(event, PhaseComplete)
    assert "flows: 1 of 1" in event.summary
    assert (flags / "tried").read_text("utf-8") == "x\n"
    assert (flags / "served").read_text("utf-8") == "x\nx\n"
    assert gone is None or not gone.living
