"""An intent whose files come from other editors, and half made: a team takes it to its end."""

import json
from pathlib import Path

from loaded import Loaded
from qloop.state.intent import BYTE_ORDER_MARK
from qloop.state.lifecycle import PLACEHOLDER
from world import World

FRONT = "---\ntestCommand: test -e README.md\n---\n"
SPEC = f"{FRONT}# Tea\n\n## Acceptance criteria\n\n- [ ] It is hot\n"
ACTION = "---\ncovers: [AC-1]\n---\n# Brew\n\n```sh run\necho tea > tea.txt\n```\n"
BOXES = "# Boxes\n\n- [ ] ACTION_1\n- [ ] [ORCHESTRATOR] taste it\n"


def write(folder: Path, name: str, text: str) -> None:
    """A file with the mark and the line ends of another system."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes((BYTE_ORDER_MARK + text).replace("\n", "\r\n").encode())


def write_all(folder: Path) -> None:
    """A broken document, a plan that lacks something, an outcome that is none, a torn ledger."""
    document = folder / f"{folder.name}.md"
    write(folder, document.name, document.read_text("utf-8").replace("id: 1", "id: ["))
    write(folder, "spec.md", SPEC)
    write(folder, "plan.md", "# Plan\n")
    write(folder, "actions/ACTION_1.md", ACTION.replace("[AC-1]", "[]"))
    write(folder, "checklist.md", BOXES)
    write(folder, "outcome.md", f"{PLACEHOLDER}\nlater\n")
    ledger = folder / "savepoint.md"
    lines = f"{ledger.read_text('utf-8')}2026-01-01T00:00:00Z  Lock  takeover: b from a\n"
    ledger.write_bytes(lines.replace("\n", "\r\n").encode())


def test_files_of_other_editors(tmp_path: Path, loaded: Loaded) -> None:
    """Marks and line ends stay; a broken front matter and placeholders do no harm.

    Nor does a ledger whose last line tells of no stage. What is asked about: a criterion that a
    person's actions do not cover, and a box that is open at the end.
    """
    world = World(tmp_path, loaded)
    (world.path / "qloop.toml").write_text('runner = "shell"\n')
    folder = Path(json.loads(world.qloop("intent", "new", "Tea", "--json").out)["folder"])
    write_all(folder)
    lacking = world.qloop("auto", "1")

    assert lacking.code == 3, lacking.err
    assert "the planner hands nothing on: no story covers AC-1: It is hot" in lacking.err
    write(folder, "actions/ACTION_1.md", ACTION)
    assert world.qloop("answer", "cp-1-1", "retry").code == 0
    stopped = world.qloop("auto", "1")

    assert stopped.code == 3, stopped.err
    assert "Open in checklist.md: [ORCHESTRATOR] taste it." in stopped.err
    ticked = BOXES.replace("- [ ] ACTION", "- [x] ACTION")
    write(folder, "expected", ticked)
    assert (folder / "checklist.md").read_bytes() == (folder / "expected").read_bytes()
    write(folder, "checklist.md", ticked.replace("- [ ]", "- [x]"))
    assert world.qloop("answer", "cp-1-2", "go-on").code == 0
    ran = world.qloop("auto", "1")

    assert ran.code == 0, ran.err
    document = folder / f"{folder.name}.md"
    assert document.read_bytes().startswith(b"\xef\xbb\xbf---\r\nid: [\r\n")
    assert document.read_bytes().count(b"\n") == document.read_bytes().count(b"\r\n")
    assert "later" not in (folder / "outcome.md").read_text("utf-8")
    assert json.loads((folder / "quantum.json").read_text())["testCommand"] == "test -e README.md"
    assert (folder / "savepoint.md").read_text("utf-8").splitlines()[-1].endswith("Done  delivered")
