"""The actions of an intent's plan as a document of stories."""

import pytest

from qloop.plan.actions import parse_actions, render_actions
from qloop.plan.model import Json
from qloop.plan.prd import compile_prd
from qloop.system.errors import Faults

FULL = """\
---
id: CSV-1
title: "Rows: all of them"
depends_on: []
files: [src/a.py, "src/b c.py"]
priority: 2
test:
  - sh test.sh
  - |
    echo '```'
    true
runner: shell
destructive: true
---
# A heading that the title replaces

What it is about.

**Acceptance criteria**

- [ ] A row for each item

```sh run
echo hi
```
"""


def compiled(texts: dict[str, str], front: str = "") -> Json:
    """The plan that actions make."""
    text = render_actions("Export", front, parse_actions(texts))
    return compile_prd(text, path="plans/ACTIONS.md", now="2026-01-01T00:00:00.000Z")


def test_an_action_is_a_story() -> None:
    """Front matter and body come to the story's fields."""
    made = compiled({"ACTION_1.md": FULL}, "testCommand: make test\n")
    story = made["stories"][0]

    assert (made["project"], made["testCommand"]) == ("Export", "make test")
    assert (story["id"], story["title"]) == ("CSV-1", "Rows: all of them")
    assert (story["priority"], story["runner"]) == (2, "shell")
    assert story["description"] == "What it is about."
    assert story["acceptanceCriteria"] == ["A row for each item"]
    assert story["verify"] == ["sh test.sh", "echo '```'\ntrue"]
    assert story["tasks"][0]["filePaths"] == ["src/a.py", "src/b c.py"]
    assert story["tasks"][0]["run"] == ["echo hi"]
    assert parse_actions({"ACTION_1.md": FULL})[0].is_destructive


def test_without_a_word_actions_follow_each_other() -> None:
    """A plain text is an action; one that says on what it depends depends on that alone."""
    made = compiled(
        {
            "ACTION_1.md": "# First\n\nDo it.\n",
            "ACTION_2.md": "Then this.\n",
            "ACTION_3.md": "---\ndepends_on: 1\n---\nWith the first.\n",
            "ACTION_9.md": "---\nid: LAST-9\ndepends_on: [ACTION_2, ACTION-3, ACTION_3.md]\n---\n",
        }
    )
    told = [(one["id"], one["title"], one.get("dependsOn", [])) for one in made["stories"]]

    assert told == [
        ("ACTION-1", "First", []),
        ("ACTION-2", "ACTION-2", ["ACTION-1"]),
        ("ACTION-3", "ACTION-3", ["ACTION-1"]),
        ("LAST-9", "LAST-9", ["ACTION-2", "ACTION-3"]),
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("---\ndepend_on: []\n---\n", "unknown key 'depend_on', did you mean 'depends_on'?"),
        ("---\nid: no number\n---\n", "id 'no number' must be"),
        ("---\npriority: high\n---\n", "priority must be a whole number, not 'high'"),
        ("---\ndestructive: perhaps\n---\n", "destructive must be true or false"),
        ("---\ntitle: [a]\n---\n", "title must be one line of text"),
        ("---\nfiles: [{a: b}]\n---\n", "files must be a text or a list of texts"),
        ("---\ndepends_on: [7]\n---\n", "depends_on '7' is no action"),
        ("---\nid: [\n---\n", "line"),
        ("---\nid: A-1\n", "never closed"),
        ("---\nid: ACTION-2\n---\n", "id 'ACTION-2' is that of ACTION_1.md too"),
    ],
)
def test_all_faults_are_named_with_their_files(text: str, fault: str) -> None:
    """Each says which file and what."""
    with pytest.raises(Faults) as raised:
        parse_actions({"ACTION_1.md": text, "ACTION_2.md": "fine"})

    assert any(fault in one for one in raised.value.faults)
    assert all(one.startswith("ACTION_") for one in raised.value.faults)
