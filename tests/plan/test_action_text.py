"""A story as an action: what is read from it is the story again."""

from typing import Any

from qloop.plan.action_text import render_action
from qloop.plan.actions import parse_actions, render_actions
from qloop.plan.prd import compile_prd
from qloop.plan.prose import content_of
from qloop.state.intent import demoted

STORIES: list[dict[str, Any]] = [
    {
        "id": "US-001",
        "title": "Leaves: green ones",
        "description": "Buy them.\n\n- not the old ones",
        "acceptanceCriteria": ["They smell"],
        "priority": 2,
        "verify": ["test -e leaves", "grep -c '```' notes.md\necho \"two\""],
        "runner": "shell",
        "timeout": "90s",
        "tasks": [
            {
                "title": "Pick",
                "description": "By hand.",
                "filePaths": ["a leaf.txt", "b.txt"],
                "run": ["printf '# x\\n' > b.txt"],
                "commands": ["test -e b.txt"],
            }
        ],
    },
    {"id": "US-002", "title": "Water", "dependsOn": ["US-001"], "description": "Hot."},
]


def test_a_story_comes_back() -> None:
    """With its order, commands, criteria and tasks; what follows nothing stays so."""
    numbers = {"US-001": 1, "US-002": 2}
    texts = {
        f"ACTION_{numbers[one['id']]}.md": demoted(
            render_action(one, numbers, is_destructive=one["id"] == "US-002")
        )
        for one in STORIES
    }
    actions = parse_actions(texts)
    made = compile_prd(
        render_actions("Tea", "", actions), path="tea.md", now="2026-01-01T00:00:00Z"
    )
    told = [content_of(story) for story in made["stories"]]
    first = {**STORIES[0], "tasks": [{**STORIES[0]["tasks"][0], "id": "T-001"}]}
    runs = [task.get("run") for task in made["stories"][0]["tasks"]]

    assert [one.is_destructive for one in actions] == [False, True]
    for name, value in told[0].items():
        if name != "tasks":
            assert value == first[name]
    assert made["stories"][0]["verify"] == STORIES[0]["verify"]
    assert (made["stories"][0]["runner"], made["stories"][0]["timeout"]) == ("shell", "90s")
    assert runs == [["printf '# x\\n' > b.txt"]]
    assert told[0]["tasks"][0]["filePaths"] == ["a leaf.txt", "b.txt"]
    assert told[0]["tasks"][0]["commands"] == ["test -e b.txt"]
    assert made["stories"][0]["dependsOn"] == []
    assert told[1]["dependsOn"] == ["US-001"]
