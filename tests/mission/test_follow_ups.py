"""What an intent leaves to be done stands in its outcome, and comes back as intents of the hub."""

import json
from pathlib import Path
from typing import Any

import pytest

from mission.ended_mission import mission_at_its_end
from qloop.mission.action_plan import WAITS
from qloop.mission.completion import CLOSING, ENVELOPE, OPENING
from qloop.mission.follow_ups import LONGEST, find_follow_ups
from qloop.mission.hub import Shelf, give_back
from qloop.mission.intent_end import Ending, end_intent
from qloop.state.intent import Intent
from qloop.state.intents import create_intent
from qloop.state.lifecycle import Disposition
from qloop.state.sections import section_text

LOG = {"attempt": 1, "phase": "verification", "reason": "red: make test\nmore", "timestamp": ""}
STORIES: list[dict[str, Any]] = [
    {"id": "US-001", "title": "Rows", "status": "passed"},
    {"id": "US-002", "title": "Quotes", "status": "failed", "retries": {"failureLog": [LOG]}},
    {"id": "US-003", "title": "Old ones", "status": "blocked", "notes": f"{WAITS} (rm -rf old)"},
    {"id": "US-004", "title": "Dates", "status": "blocked", "notes": "no zone is known\nat all"},
    {"id": "US-005", "title": "Sums", "dependsOn": ["US-004"]},
]


def report(role: str, blockers: str) -> str:
    """A report of its own."""
    said = {"Role": role, "Intent": "1", "Stage": "Why", "Status": "delivered"}
    said["Blockers"] = blockers
    lines = [f"{key}: {said.get(key, 'none')}" for key in ENVELOPE]
    return "\n".join([OPENING, *lines, CLOSING, ""])


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """A project's intents, in a path with a space."""
    return Shelf(tmp_path / "a b/.qloop/intents", "shop", tmp_path / "a b/.qloop")


@pytest.fixture
def intent(shelf: Shelf) -> Intent:
    """One of which a good deal is left to do."""
    made = create_intent(shelf.root, "Export", author="ada")
    mission_at_its_end(made.folder)
    plan = {"branchName": "ql/1--export", "testCommand": "make test", "stories": STORIES}
    (made.folder / "quantum.json").write_text(json.dumps(plan))
    issue = "minor: the header is in English (csv.py:3)"
    found = {"passed": True, "note": "reviewer: double", "issues": [issue]}
    step = {"about": "1", "result": found}
    (made.folder / "phases").mkdir()
    (made.folder / "phases/EXECUTION.json").write_text(
        json.dumps({"round": 0, "steps": {"reviewer": step}})
    )
    (made.folder / "refinement").mkdir()
    (made.folder / "refinement/refinement-prd.md").write_text(
        "# Improve it\n\n## R-001: Give pages a title\n\nWords.\n"
    )
    (made.folder / "spec.md").write_text(
        "# S\n\n## Open Questions\n\n- Which time zone?\n- None.\n"
    )
    made.document.write_text(
        made.document.read_text().replace(
            "## Context\n",
            "## Context\n\n### Open questions\n\n* Who reads it?\n\n### Decisions\n\n- no\n",
        )
    )
    (made.folder / "reports").mkdir()
    for name, text in {
        "001-planner.md": report("planner", "an old one"),
        "002-planner.md": report("planner", "a licence is needed\nfor the font"),
        "003-executor.md": report("executor", "None."),
        "004-reviewer.md": "no report",
    }.items():
        (made.folder / "reports" / name).write_text(text)
    return made


LEFT = (
    "Quotes (US-002, failed: red: make test)",
    "Old ones (US-003, which destroys something and nobody allowed)",
    "Dates (US-004, blocked: no zone is known)",
    "Sums (US-005, never begun)",
    "minor: the header is in English (csv.py:3)",
    "Give pages a title",
    "Which time zone?",
    "Who reads it?",
    "a licence is needed for the font",
)


def test_what_is_left_comes_back_as_intents_for_later(
    shelf: Shelf, intent: Intent, tmp_path: Path
) -> None:
    """A line each in the outcome, an intent each in the hub, once."""
    hub = tmp_path / "hub/intents"
    list(end_intent(Ending(shelf.private, intent, Disposition.DELIVERED)))
    outcome = (intent.folder / "outcome.md").read_text("utf-8")
    made = give_back(shelf, hub, print)

    assert section_text(outcome, "Delivered") == "- US-001: Rows"
    assert "the reviewer: passed (double)" in (section_text(outcome, "Verification") or "")
    assert "`make test`: run on each tree" in (section_text(outcome, "Verification") or "")
    assert "`git merge ql/1--export`" in (section_text(outcome, "Needs you") or "")
    assert find_follow_ups(intent.folder) == LEFT
    assert section_text(outcome, "Follow-ups") == "\n".join(f"- {one}" for one in LEFT)
    assert [one.title for one in made] == list(LEFT)
    assert give_back(shelf, hub, print) == []


@pytest.mark.parametrize("how", Disposition)
def test_nothing_left_is_no_intent(shelf: Shelf, tmp_path: Path, how: Disposition) -> None:
    """And said so; of what nobody wants any more nothing is to be done."""
    intent = create_intent(shelf.root, "Export", author="ada")
    if how is Disposition.ABANDONED:
        plan = {"branchName": "ql/1--export", "stories": STORIES}
        (intent.folder / "quantum.json").write_text(json.dumps(plan))
    list(end_intent(Ending(shelf.private, intent, how)))
    told = section_text((intent.folder / "outcome.md").read_text("utf-8"), "Follow-ups")

    assert told == "None."
    assert give_back(shelf, tmp_path / "hub", print) == []


def test_what_cannot_be_read_is_left_out(intent: Intent) -> None:
    """An end is not kept up by it; a long line is cut."""
    for name in ("quantum.json", "phases/EXECUTION.json", "state.json"):
        (intent.folder / name).write_text('{"stories": 3, "steps": [')
    (intent.folder / "refinement/refinement-prd.md").write_bytes(b"\xff\x00")
    (intent.folder / "spec.md").write_text(f"## Open questions\n- {'long ' * 200}\n")
    found = find_follow_ups(intent.folder)

    assert [len(one) <= LONGEST for one in found] == [True, True, True]
    assert found[1:] == LEFT[-2:]
