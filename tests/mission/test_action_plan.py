"""An intent whose folder has a plan of actions: they are carried out, and their boxes ticked."""

import json
from pathlib import Path

import pytest

from loaded import Loaded
from qloop.mission.action_plan import plan_of_actions, tick_done
from qloop.mission.persons_boxes import reopen
from qloop.state.intents import create_intent
from world import World

FIRST = """\
---
test: grep -q tea tea.txt
runner: shell
---
# Tea

```sh run
echo tea > tea.txt
```
"""
SECOND = "---\nrunner: shell\n---\n# More\n\n```sh run\ncat tea.txt tea.txt > more.txt\n```\n"
BOXES = (
    "- [ ] ACTION_1: tea\r\n- [ ] ACTION-2 and ACTION_1\r\n- [ ] [ORCHESTRATOR] taste ACTION-1\r\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An intent's folder with a plan of two actions."""
    made = create_intent(tmp_path / "my intents", "Tea site", author="ada").folder
    fill(made)
    return made


def fill(folder: Path) -> None:
    """Put a specification, a plan, actions and a checklist into a folder."""
    (folder / "actions").mkdir()
    (folder / "spec.md").write_text("---\ntestCommand: test -e README.md\n---\n# Tea\n")
    (folder / "plan.md").write_text("words\n")
    (folder / "actions/ACTION_1.md").write_text(FIRST)
    (folder / "actions/ACTION_2.md").write_text(SECOND)
    (folder / "checklist.md").write_bytes(BOXES.encode())


def test_what_destroys_waits_for_a_person(folder: Path) -> None:
    """In a repository with something to destroy; the document says what the plan was made of."""
    path = folder / "actions/ACTION_2.md"
    path.write_text(SECOND.replace("runner:", "destructive: true\nrunner:"))
    made = plan_of_actions(folder, folder.parent, is_greenfield=False)
    fresh = plan_of_actions(folder, folder.parent, is_greenfield=True)

    assert [one.get("status", "pending") for one in made["stories"]] == ["pending", "blocked"]
    assert "qloop story unblock" in made["stories"][1]["notes"]
    assert {one.get("status", "pending") for one in fresh["stories"]} == {"pending"}
    assert made["testCommand"] == "test -e README.md"
    assert made["prdPath"].endswith("1--tea-site/plans/ACTIONS.md")
    assert "## ACTION-2: More" in (folder / "plans/ACTIONS.md").read_text()


def test_boxes_are_ticked_by_what_passed(folder: Path) -> None:
    """One that names several waits for all of them, and a person's waits for the person."""
    ticked = [tick_done(folder, passed) for passed in ([], ["ACTION-1"], ["ACTION-1", "ACTION-2"])]

    assert ticked == [0, 1, 1]
    expected = BOXES.replace("[ ] ACTION", "[x] ACTION")
    assert (folder / "checklist.md").read_bytes() == expected.encode()
    (folder / "actions/ACTION_1.md").unlink()
    (folder / "actions/ACTION_2.md").unlink()
    assert tick_done(folder, ["ACTION-1"]) == 0


def test_boxes_of_a_person_are_opened_again(folder: Path) -> None:
    """Ticked, reworded or removed; all else stays, byte by byte."""
    path, box = folder / "checklist.md", "[ORCHESTRATOR] taste ACTION-1"
    assert reopen(folder, [box]) == []
    assert path.read_bytes() == BOXES.encode()

    path.write_bytes(BOXES.replace("[ ] [ORCH", "[x] [ORCH").encode())
    assert reopen(folder, [box]) == [box]
    assert path.read_bytes() == BOXES.encode()

    path.write_text("- [x] ACTION_1: tea\n- [x] [ORCHESTRATOR] nothing\n")
    assert reopen(folder, [box]) == [box]
    assert path.read_text().splitlines()[1:] == ["- [x] [ORCHESTRATOR] nothing", f"- [ ] {box}"]

    path.unlink()
    assert reopen(folder, [box]) == [box]
    assert path.read_text() == f"- [ ] {box}\n"


def test_a_mission_carries_out_the_actions(tmp_path: Path, loaded: Loaded) -> None:
    """They land one after the other, and the intent is over once a person ticked their box."""
    world = World(tmp_path, loaded)
    world.configure()
    made = world.qloop("intent", "new", "Tea site", "--json")
    folder = Path(json.loads(made.out)["folder"])
    fill(folder)
    boxes = folder / "checklist.md"
    forged = f"sed -i 's/\\[ \\] \\[ORCH/[x] [ORCH/' '{boxes}'\necho tea >"
    (folder / "actions/ACTION_1.md").write_text(FIRST.replace("echo tea >", forged))
    begun = world.qloop("mission", "new", "--intent", "1", "--autonomy", "autopilot")
    assert begun.code == 0, begun.err
    ran = world.qloop("mission", "run")

    assert ran.code == 0, ran.err
    subjects = world.repo.git("log", "--format=%s", "main..ql/1--tea-site").splitlines()
    assert subjects == ["ACTION-2: More", "ACTION-1: Tea"]
    assert "open again, since ticked or changed while agents were at work" in ran.err
    assert "[ORCHESTRATOR] taste" in ran.err
    document = (folder / f"{folder.name}.md").read_text("utf-8")
    assert " · Why · qloop (autonomous): RECON skipped: greenfield" in document
    assert (folder / "checklist.md").read_bytes() == BOXES.replace(
        "[ ] ACTION", "[x] ACTION"
    ).encode()
    boxes.write_text("- [x] all\n")
    ended = world.qloop("intent", "end", "1", "--disposition", "delivered")
    assert ended.code == 0, ended.err
