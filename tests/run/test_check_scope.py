"""Which landed work is compared, and whose names ought to be in use."""

from typing import Any

from qloop.plan.model import Plan, parse_plan
from qloop.run.check_scope import due_for_use, wave_mates


def entry(wave: str, story: str, landed: str | None = None) -> dict[str, Any]:
    """A note of progress as coordinators write it."""
    action = "story_passed" if landed else "story_failed"
    return {"iteration": wave, "storyId": story, "action": action, "details": landed or "why"}


def plan(*progress: Any, **needs: list[str]) -> Plan:
    """A plan with these stories, those with a landed entry passed."""
    passed = {one["storyId"] for one in progress if one.get("action") == "story_passed"}
    stories = [
        {"id": name, "dependsOn": on, "status": "passed" if name in passed else "pending"}
        for name, on in needs.items()
    ]
    return parse_plan({"branchName": "b", "stories": stories, "progress": list(progress)})


def test_mates_are_those_of_every_wave_that_tried_the_story() -> None:
    """What landed in this wave, and in earlier ones that the story failed in; never itself."""
    notes = [
        entry("wave-1", "A", "a1"),
        entry("wave-1", "B"),
        entry("wave-2", "C", "c1"),
        entry("wave-3", "D", "d1"),
        entry("wave-3", "E"),
    ]

    assert wave_mates(plan(*notes), "B", "wave-3") == {"A": "a1", "D": "d1"}
    assert wave_mates(plan(*notes), "F", "wave-2") == {"C": "c1"}
    assert wave_mates(plan(*notes), "D", "wave-3") == {}


def test_names_are_due_once_no_story_may_come_to_use_them() -> None:
    """A story's names are due when all that build on it, directly or not, have landed."""
    needs: dict[str, list[str]] = {"A": [], "B": ["A"], "C": ["B"], "D": []}
    first = plan(**needs)
    last = plan(entry("wave-1", "A", "a1"), entry("wave-2", "B", "b1"), **needs)

    assert due_for_use(first, {"A": "a1", "D": "d1"}) == {"D": "d1"}
    assert due_for_use(last, {"C": "c1"}) == {"A": "a1", "B": "b1", "C": "c1"}
    assert due_for_use(last, {"D": "d1"}) == {"D": "d1"}
