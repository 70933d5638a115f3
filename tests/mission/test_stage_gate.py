"""What may be written into an intent's folder, by stage and role."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from qloop.cli.main import main
from qloop.mission.stage_gate import Write, deliverable_of, find_gaps, judge_write
from qloop.mission.team import TEAM
from qloop.state.intents import create_intent
from qloop.state.lifecycle import PLACEHOLDER, Lifecycle, read_lifecycle
from repository import Repo

DOCUMENT = "---\nid: 1\n---\n\n## Intent\n\nExport.\n\n## Context\n"
FULL = Lifecycle(
    document=DOCUMENT,
    spec="words",
    plan="words",
    actions={"ACTION_1.md": "words"},
    checklist="- [x] a\n",
    outcome="---\ndisposition: delivered\n---\n",
)
BOXES = "- [x] a\n- [ ] [ORCHESTRATOR] look at it\n- [x] [Orchestrator] name it\n- [ ] b\n"


def rule(files: Lifecycle, path: str, text: str = "words", role: str | None = None) -> str | None:
    """The rule against a write, if there is one."""
    refusal = judge_write(files, Write(path, text, role))
    return None if refusal is None else refusal.rule


NEEDS = {
    "spec.md": ["document"],
    "plan.md": ["spec"],
    "actions/ACTION_2.md": ["spec"],
    "checklist.md": ["plan", "actions"],
}


@pytest.mark.parametrize(
    ("path", "missing"), [(path, name) for path, names in NEEDS.items() for name in names]
)
def test_each_deliverable_needs_the_one_before(path: str, missing: str, tmp_path: Path) -> None:
    """Present it may be written; absent or a placeholder it may not, by whomever."""
    folder = create_intent(tmp_path, "Export", author="a").folder
    (folder / "spec.md").write_text(PLACEHOLDER)
    gone = {
        "document": replace(FULL, document=None),
        "spec": replace(FULL, spec=None),
        "plan": replace(FULL, plan=None),
        "actions": replace(FULL, actions={}),
    }[missing]

    assert rule(FULL, path) is None
    assert (rule(gone, path) or "").endswith("-too-early")
    assert rule(gone, path, PLACEHOLDER) is None
    assert rule(read_lifecycle(folder), "plan.md") == "plan-too-early"


@pytest.mark.parametrize("document", ["words", "## Intent\n", "## Intent\n\n## Context\nx\n"])
def test_a_spec_needs_words_of_intent(document: str) -> None:
    """A heading alone says nothing of what is wanted."""
    assert rule(Lifecycle(document=document), "spec.md") == "spec-too-early"


def test_an_outcome_needs_all_boxes_ticked() -> None:
    """Delivered it is not while one is open; abandoned it may be."""
    files = replace(FULL, checklist="- [x] a\n- [ ] b\n", outcome=None)

    assert rule(files, "outcome.md", "---\ndisposition: delivered\n---\n") == "open-box"
    assert rule(files, "outcome.md", "words") == "open-box"
    assert rule(files, "outcome.md", "---\ndisposition: abandoned\n---\n") is None
    assert rule(FULL, "outcome.md", "words") is None


ALLOWED = {
    ("brainstorming", "1--export.md"),
    ("executor", "1--export.md"),
    ("spec-specialist", "spec.md"),
    ("planner", "plan.md"),
    ("planner", "actions/ACTION_1.md"),
    ("planner", "checklist.md"),
    ("executor", "checklist.md"),
}
PATHS = ("1--export.md", "spec.md", "plan.md", "actions/ACTION_1.md", "checklist.md", "outcome.md")


@pytest.mark.parametrize(("role", "path"), list(product([one.name for one in TEAM], PATHS)))
def test_each_deliverable_is_its_roles(role: str, path: str) -> None:
    """A role writes what it hands over; one of a later stage is too early, others are not its."""
    found = rule(FULL, path, FULL.checklist or "", role)

    assert (found is None) == ((role, path) in ALLOWED)
    assert found in (None, "too-early", "not-yours")
    assert rule(FULL, path, FULL.checklist or "", "enforcer") is None
    if path == "outcome.md" or (role == "brainstorming" and path == "plan.md"):
        assert found == "too-early"


@pytest.mark.parametrize(
    ("before", "after", "is_refused"),
    [
        ("- [ ] b", "- [x] b", False),
        ("- [x] a", "- [ ] a", False),
        ("- [ ] [ORCHESTRATOR] look", "- [x] [ORCHESTRATOR] look", True),
        ("- [ ] [ORCHESTRATOR] look", "- [X]  **[orchestrator]** look", True),
        ("- [ ] [ORCHESTRATOR] look at it\n", "", True),
        ("- [ ] [ORCHESTRATOR] look", "- [x] look", True),
        ("- [ ] b", "- [ ] b\n- [x] [ORCHESTRATOR] new", True),
        ("- [ ] b", "- [ ] b\n- [ ] [ORCHESTRATOR] new", False),
        ("- [ ] [ORCHESTRATOR] look at it", "```\n- [ ] [ORCHESTRATOR] look at it\n```", True),
    ],
)
def test_a_persons_box_is_a_persons_to_tick(before: str, after: str, is_refused: bool) -> None:
    """No agent ticks, rewords, hides or removes one; a person does as they like."""
    files = replace(FULL, checklist=BOXES)
    text = BOXES.replace(before, after)

    assert text != BOXES
    assert rule(files, "checklist.md", text, "executor") == ("persons-box" if is_refused else None)
    assert rule(files, "checklist.md", PLACEHOLDER, "executor") == "persons-box"
    assert rule(files, "checklist.md", text) is None


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("spec.md", "spec.md"),
        ("1--a-b.md", "document"),
        ("actions/ACTION_7.md", "actions"),
        ("actions/notes.md", None),
        ("actions", None),
        ("recon/spec.md", None),
        ("notes.md", None),
    ],
)
def test_other_files_have_no_stage(path: str, name: str | None) -> None:
    """Only the lifecycle files are judged here."""
    assert deliverable_of(path) == name


def test_what_stands_there_too_early_is_named(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`qloop intent check` judges the folder as it is, and a write before it is done."""
    assert [gap.rule for gap in find_gaps(FULL)] == []
    monkeypatch.chdir(repo.path)
    main(["intent", "new", "Export"])
    folder = repo.path / ".qloop/intents/1--export"
    assert main(["intent", "check", "1"]) == 0
    (folder / "plan.md").write_text("words")
    (folder / "checklist.md").write_text("- [ ] [ORCHESTRATOR] look\n")
    (folder / "outcome.md").write_text("words")
    capsys.readouterr()
    assert main(["intent", "check", "1", "--json"]) == 1
    found = [gap["rule"] for gap in json.loads(capsys.readouterr().out)]
    early = ["plan-too-early", "checklist-too-early", "open-box", "outcome-too-early"]
    assert found == early

    text = repo.path / "text.md"
    text.write_bytes(b"- [x] [ORCHESTRATOR] look\r\n")
    words = ["intent", "check", "1", "./actions/../checklist.md", "--text", str(text)]
    assert main([*words, "--role", "planner", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["rule"] == "checklist-too-early"
    (folder / "spec.md").write_text("words")
    (folder / "actions").mkdir()
    (folder / "actions/ACTION_1.md").write_text("words")
    assert main([*words, "--role", "executor"]) == 1
    assert capsys.readouterr().out.startswith("persons-box: ")
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["allow"] is True
    assert main(["intent", "check", "1", "../x.md", "--text", str(text)]) == 64
    assert main(["intent", "check", "1", "--role", "planner"]) == 64
