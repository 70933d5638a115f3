"""The gate before each tool keeps to the stage of an intent's files."""

import json
from pathlib import Path
from typing import Any

import pytest

from qloop.cli.main import main
from qloop.mission.stage_call import text_after
from repository import Repo

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def folder(repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> Path:
    """The folder of a new intent, in a repository to stand in."""
    monkeypatch.chdir(repo.path)
    main(["intent", "new", "Export"])
    return Path(capsys.readouterr().out.strip())


def rule(capsys: Captured, role: str, tool: str, path: Path, **args: Any) -> str:
    """The rule by which the gate decides."""
    given = json.dumps({"file_path": str(path), **args})
    capsys.readouterr()
    main(["gate", "check", "--role", role, "--tool", tool, "--args", given, "--json"])
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return str(told["rule"])


def test_a_deliverable_is_not_written_too_early(folder: Path, capsys: Captured) -> None:
    """Whatever the path looks like; what the stage allows is the table's to decide."""
    assert rule(capsys, "planner", "Write", folder / "plan.md", content="words") == "plan-too-early"
    odd = folder / "actions" / ".." / "plan.md"
    assert rule(capsys, "planner", "Write", odd, content="words") == "plan-too-early"
    assert rule(capsys, "spec-specialist", "Write", folder / "spec.md", content="w") == "write"
    (folder / "spec.md").write_text("words")
    assert rule(capsys, "planner", "Write", folder / "plan.md", content="words") == "write"
    assert rule(capsys, "spec-specialist", "Write", folder / "plan.md", content="w") == "too-early"
    assert rule(capsys, "upscaler", "Write", folder / "plans" / "a.md", content="w") == "write"


def test_a_persons_box_is_not_ticked_by_an_edit(folder: Path, capsys: Captured) -> None:
    """What the file would hold afterwards counts, however it is brought about."""
    (folder / "spec.md").write_text("words")
    (folder / "plan.md").write_text("words")
    (folder / "actions").mkdir()
    (folder / "actions/ACTION_1.md").write_text("words")
    boxes = folder / "checklist.md"
    boxes.write_bytes(b"- [ ] [ORCHESTRATOR] look\r\n- [ ] b\r\n")
    tick = {"old_string": "- [ ] [ORC", "new_string": "- [x] [ORC"}
    other = {"old_string": "- [ ] b", "new_string": "- [x] b"}

    assert rule(capsys, "planner", "Edit", boxes, **tick) == "persons-box"
    assert rule(capsys, "planner", "MultiEdit", boxes, edits=[other, tick]) == "persons-box"
    assert rule(capsys, "planner", "Edit", boxes, **other) == "write"


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ({"content": "new\r\n"}, "new\n"),
        ({"old_string": "a", "new_string": "b"}, "b a\n"),
        ({"old_string": "a", "new_string": "b", "replace_all": True}, "b b\n"),
        ({"edits": [{"old_string": "a a", "new_string": "c"}, 7]}, "c\n"),
        ({"old_string": "", "new_string": "end"}, "a a\nend"),
        ({"old_string": 1}, "a a\n"),
    ],
)
def test_the_text_after_a_call(args: dict[str, Any], text: str) -> None:
    """All of it given, or places replaced as the tools do it."""
    assert text_after("a a\n", args) == text
