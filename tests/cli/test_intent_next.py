"""An intent says what comes next, a mission that its process is gone; a number names a folder."""

import json
from functools import partial
from pathlib import Path

import pytest

from mission.ended_mission import mission_at_its_end
from qloop.cli.main import main
from qloop.state.delivery_lock import LOCK, claim, make_lock
from qloop.state.mission import Checkpoint, Mission, MissionStatus
from qloop.state.mission_store import STATE, change_mission
from qloop.state.phase_events import Option
from qloop.state.phases import PhaseName
from qloop.system.identity import this_process
from repository import Repo

Captured = pytest.CaptureFixture[str]
OPTION = Option(id="retry", description="again")
QUESTION = Checkpoint(
    id="cp-1-1", phase=PhaseName.PLANNING, type="a", question="b?", options=(OPTION,), opened_at=""
)


@pytest.fixture
def folder(repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> Path:
    """A repository to stand in, and the folder of its intent."""
    monkeypatch.chdir(repo.path)
    assert main(["intent", "new", "Export"]) == 0
    capsys.readouterr()
    return repo.path / ".qloop/intents/1--export"


def next_of(capsys: Captured) -> str:
    """The last line of `intent show`."""
    assert main(["intent", "show", "1"]) == 0
    return capsys.readouterr().out.splitlines()[-1].removeprefix("  next  ")


def test_show_ends_with_what_comes_next(folder: Path, capsys: Captured) -> None:
    """By what stands in the folder, from the beginning to the end."""
    assert next_of(capsys) == "qloop auto 1"
    (folder / "outcome.md").write_text("---\ndisposition: abandoned\n---\n")
    assert next_of(capsys).endswith("qloop intent end 1 --disposition abandoned")
    (folder / "outcome.md").unlink()
    claim(folder, make_lock("team", is_process=True))
    assert next_of(capsys) == "it is being delivered: qloop mission status 1"
    (folder / LOCK).unlink()
    (folder / STATE).write_text("{")
    assert "cannot be used" in next_of(capsys)
    (folder / STATE).unlink()
    mission_at_its_end(folder)
    assert next_of(capsys) == "qloop auto 1"
    change_mission(folder, lambda one: one.model_copy(update={"is_team": False}))
    assert next_of(capsys) == "qloop mission run 1"
    change_mission(folder, lambda one: one.model_copy(update={"checkpoints": (QUESTION,)}))
    assert next_of(capsys) == "a question waits: qloop answer cp-1-1 retry"
    for status in (MissionStatus.ABANDONED, MissionStatus.COMPLETED):
        change_mission(folder, partial(with_status, status))
        assert " --disposition " in next_of(capsys)
    assert main(["intent", "end", "1", "--disposition", "delivered"]) == 0
    capsys.readouterr()
    assert next_of(capsys).endswith("qloop intent new TEXT --after 1")


def with_status(status: MissionStatus, mission: Mission) -> Mission:
    """The mission in another status."""
    return mission.model_copy(update={"status": status})


def test_what_comes_after_an_intent_is_made(folder: Path, capsys: Captured) -> None:
    """Wanted now or later; of one for a project it is `main`."""
    assert main(["intent", "new", "Import", "--later"]) == 0
    assert capsys.readouterr().err == "once it is wanted: qloop auto 2\n"
    assert main(["project", "add", "--name", "shop"]) == 0
    capsys.readouterr()
    assert main(["intent", "new", "Import", "--project", "shop"]) == 0
    assert capsys.readouterr().err == "next: qloop main\n"
    assert main(["intent", "new", "Import", "--project", "shop", "--later"]) == 0
    assert "INDEX.md, then: qloop main" in capsys.readouterr().err
    assert (folder / "1--export.md").exists()


def test_check_says_when_all_is_well(folder: Path, capsys: Captured) -> None:
    """Of the folder, and of a write."""
    assert main(["intent", "check", "export"]) == 0
    assert capsys.readouterr().out == "intent 1: nothing is there that should not be yet\n"
    (folder / "spec.md").write_text("words")
    assert main(["intent", "check", "1", "plan.md", "--text", str(folder / "spec.md")]) == 0
    assert capsys.readouterr().out == "plan.md: no rule is against it\n"


@pytest.mark.parametrize("word", ["1", "export", "1--export"])
def test_preamble_and_report_know_an_intent_by_its_name(
    folder: Path, capsys: Captured, word: str
) -> None:
    """The same bytes as by its folder; what is no intent is named."""
    for command in ("preamble", "report"):
        assert main([command, str(folder), "--role", "planner"]) == 0
        by_folder = capsys.readouterr().out
        assert main([command, word, "--role", "planner"]) == 0
        assert capsys.readouterr().out == by_folder
        assert main([command, "9", "--role", "planner"]) == 66
        assert "no intent '9'" in capsys.readouterr().err
        assert main([command, "no/where", "--role", "planner"]) == 66
        assert "no such folder" in capsys.readouterr().err


def test_a_killed_mission_is_not_told_as_active(folder: Path, capsys: Captured) -> None:
    """Its state still says so; it is interrupted, and how it goes on is said."""
    mission_at_its_end(folder, MissionStatus.ACTIVE)
    dead = {**this_process().to_json(), "pid": 2**22 + 1}
    change_mission(folder, lambda one: one.model_copy(update={"process": dead}))
    assert main(["mission", "status", "1"]) == 0
    told = capsys.readouterr().out
    assert "mission 1--export  interrupted" in told
    assert "its process is gone; go on with: qloop mission resume 1" in told
    assert main(["mission", "status", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "interrupted"

    living = this_process().to_json()
    change_mission(folder, lambda one: one.model_copy(update={"process": living}))
    assert main(["mission", "status", "1"]) == 0
    told = capsys.readouterr().out
    assert ("  active  " in told, "is gone" in told) == (True, False)
