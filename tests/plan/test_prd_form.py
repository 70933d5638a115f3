"""What the parts of a requirements document become."""

from typing import Any

import pytest

from plan.prds import NOW, compiled, only_story
from qloop.plan.prd_names import prd_hash

WHOLE = """\
---
testCommand: make test
team: {name: Tea}
---
# The Größe of *tea*

What it
is about.

- a list

## User stories

An introduction that belongs to no story.

### US-001: First `thing`

Text of the first.
"""


def test_a_whole_document() -> None:
    """Front matter, title, its text and the stories become the plan, in a reader's order."""
    plan = compiled(WHOLE)

    assert list(plan) == [
        *("project", "branchName", "description", "prdPath", "prdHash", "createdAt", "updatedAt"),
        *("testCommand", "team", "stories", "progress", "codebasePatterns"),
    ]
    assert plan == {
        "project": "The Größe of *tea*",
        "branchName": "ql/the-grosse-of-tea",
        "description": "What it\nis about.\n\n- a list",
        "prdPath": "prd.md",
        "prdHash": prd_hash(WHOLE.encode()),
        "createdAt": NOW,
        "updatedAt": NOW,
        "testCommand": "make test",
        "team": {"name": "Tea"},
        "stories": [
            {
                "id": "US-001",
                "title": "First `thing`",
                "description": "Text of the first.",
                "acceptanceCriteria": [],
                "status": "pending",
                "dependsOn": [],
                "tasks": [],
                "verify": [],
                "review": {
                    "specCompliance": {"status": "pending", "issues": []},
                    "codeQuality": {"status": "pending", "issues": []},
                },
                "retries": {"attempts": 0, "maxAttempts": 3, "failureLog": []},
            }
        ],
        "progress": [],
        "codebasePatterns": [],
    }


@pytest.mark.parametrize(
    ("title", "branch"),
    [
        ("Todo API", "ql/todo-api"),
        ("  C++ & C#: a *guide* ", "ql/c-c-a-guide"),
        ("日本", "ql/feature"),
        ("x" * 200, "ql/" + "x" * 100),
    ],
)
def test_branch_name_comes_from_the_title(title: str, branch: str) -> None:
    """The branch is `ql/` and the title in plain letters."""
    plan = compiled(f"# {title}\n\n## A1: Story\n")

    assert plan["branchName"] == branch


def test_branch_name_comes_from_the_project_where_there_is_no_title() -> None:
    """Without a title the project in the front matter names the branch."""
    assert compiled("---\nproject: Tea shop\n---\n## A1: Story\n")["branchName"] == "ql/tea-shop"
    assert compiled("## A1: Story\n")["branchName"] == "ql/feature"


@pytest.mark.parametrize(
    ("heading", "story_id", "title"),
    [
        ("## US-001: Title", "US-001", "Title"),
        ("###### 7: Title", "7", "Title"),
        ("### `US-001`: Title", "US-001", "Title"),
        ("### **US-001: Title**", "US-001", "Title"),
        ("### **US-001:** The **Title**", "US-001", "The **Title**"),
        ("### **US-001**: Title ###", "US-001", "Title"),
        ("### [US-001](#us-001): Title", "US-001", "Title"),
        ('### <a name="us-001"></a>US-001: Title', "US-001", "Title"),
        ("### US-001 : Title: more", "US-001", "Title: more"),
        ("### US-001:Title", "US-001", "Title"),
        ("### story_2\\_b: Title", "story_2_b", "Title"),
        ("US-001: Title\n---", "US-001", "Title"),
    ],
)
def test_story_headings(heading: str, story_id: str, title: str) -> None:
    """An id with a digit and a colon make a heading below the first level a story."""
    (story,) = compiled(f"{heading}\n\ntext\n")["stories"]

    assert (story["id"], story["title"], story["description"]) == (story_id, title, "text")


@pytest.mark.parametrize(
    "text",
    [
        "# B1: the title",
        "## Overview: what it is",
        "## Phase 1: groundwork",
        "## 10:30 in the morning",
        "## US 2026",
        "#### A1 revisited",
        "#### On A1: a remark",
        "> ## B1: quoted",
        "- ## B1: in a list",
        "```\n## B1: in code\n```",
        "<!--\n## B1: in a comment\n-->",
    ],
)
def test_what_is_no_story_heading(text: str) -> None:
    """Other headings, the title, and text in quotations, code, lists and comments are none."""
    plan = compiled(f"{text}\n\n## A1: Story\n")

    assert [story["id"] for story in plan["stories"]] == ["A1"]


def test_a_heading_of_its_level_ends_a_story() -> None:
    """Headings as high as the story's end it, deeper ones belong to its description."""
    plan = compiled(
        "### A1: One\n\n#### Details\n\nmore\n\n## Non-goals\n\nnothing\n\n"
        "#### A2: Two\n\n### A3: Three\n\ntext\n\n#### A4: Four\n\ntext\n"
    )

    assert [(story["id"], story["description"]) for story in plan["stories"]] == [
        ("A1", "#### Details\n\nmore"),
        ("A2", ""),
        ("A3", "text"),
        ("A4", "text"),
    ]


def test_description_keeps_the_text_as_it_is_written() -> None:
    """Paragraphs, tables, code, quotations and lists stay; rules and comments do not."""
    kept = (
        "One\ntwo.",
        "| a | b |\n| --- | --- |\n| 1 | 2 |",
        "```python\n**Priority:** high\n```",
        "> quoted",
        "- a\n\n- b\n  - c",
        "    indented",
    )

    story = only_story("\n\n---\n\n".join([*kept, "<!-- left out -->"]))

    assert story["description"] == "\n\n".join(
        [*kept[:-1], "indented"]  # cut free from the margin
    )
    assert "priority" not in story


@pytest.mark.parametrize(
    "labels",
    [
        "**Depends on:** A1, A2\n**Priority:** 3\n**Files:** `a.py`, b/c.py\n"
        "**Runner:** `shell`\n**Model:** small\n**Timeout:** 90s",
        "**depends ON**: `A1` and A2\n\n__priority:__ `3`\n\n**FILES** a.py, b/c.py\n\n"
        "**Runner** shell\n\n**model:** small\n\n**Timeout** 90s\n",
        "- **Depends on:** A1; A2\n- **Priority:** 3\n- **Files:**\n  - `a.py` (new)\n  - b/c.py\n"
        "- **Runner:** shell\n- **Model:** small\n- **Timeout:** 90s",
        "**Priority:** 3 | **Runner:** shell | **Timeout:** 90s\\\n**Model:** small\n"
        "**Depends on:** A1,\nA2\n**Files:**\na.py,\nb/c.py",
        "#### Depends on\n\nA1, `A2`\n\n**Files:**\n\n`a.py` and b/c.py\n\n**Priority:** 3\n"
        "**Runner:** shell\n**Model:** small\n**Timeout:** 90s",
        "#### Depends on\n\n- A1: One\n- **A2** (the second)\n\n#### Files:\n\n- `a.py` - first\n"
        "- b/c.py: second\n\n**Priority:** 3\n**Runner:** shell\n**Model:** small\n"
        "**Timeout:** 90s\n---\n",
    ],
)
def test_labels(labels: str) -> None:
    """Labels are read as lines, items and headings, whatever their case and their colon."""
    story = compiled(f"## A1: One\n\n## A2: Two\n\n## A3: Three\n\n{labels}\n\ntext\n")["stories"][
        2
    ]

    assert story == story | {
        "description": "text",
        "dependsOn": ["A1", "A2"],
        "priority": 3,
        "runner": "shell",
        "model": "small",
        "timeout": "90s",
    }
    assert [task["filePaths"] for task in story["tasks"]] == [["a.py", "b/c.py"]]


@pytest.mark.parametrize("nothing", ["", "none", "None.", "-", "—", "n/a", "`none`"])
def test_labels_that_say_nothing(nothing: str) -> None:
    """An empty label, "none" and a dash are as good as no label."""
    names = ("Depends on", "Priority", "Files", "Runner", "Model", "Timeout")
    story = only_story("\n\n".join(f"**{name}:** {nothing}" for name in names))

    assert story == only_story("")


@pytest.mark.parametrize("whole", [".", "./", "`.`"])
def test_a_dot_names_the_whole_repository(whole: str) -> None:
    """It stands in no way for nothing, also beside other paths."""
    story = only_story(f"**Files:** {whole}, a.py")

    assert [path.rstrip("/") for task in story["tasks"] for path in task["filePaths"]] == [
        ".",
        "a.py",
    ]


def test_bold_words_in_prose_are_no_labels() -> None:
    """Without a colon a label needs single words behind it; in the midst of a line it is none."""
    text = (
        "**Files** are stored in a bucket.\n**Tasks** can\nSee **Priority:** 1\n\n"
        "- **Priority** may be any number"
    )

    story = only_story(text)

    assert story["description"] == text
    assert "priority" not in story
    assert story["tasks"] == []


def test_a_label_with_its_value_has_no_list() -> None:
    """A list after a label that has said its value, or after other text, is description."""
    story = only_story("**Files:** a.py\n\n- not a file\n\n**Depends on:**\n\nNo list.\n\n- no id")

    assert story["description"] == "- not a file\n\nNo list.\n\n- no id"
    assert story["tasks"][0]["filePaths"] == ["a.py"]
    assert story["dependsOn"] == []


@pytest.mark.parametrize(
    ("text", "criteria"),
    [
        (
            "**Acceptance criteria**\n\n- [ ] one\n- [x] two\n- [X] `three`",
            ["one", "two", "`three`"],
        ),
        ("**acceptance Criteria:**\n1. one\n2. two", ["one", "two"]),
        ("#### Acceptance criteria\n\n* one\n+ two", ["one", "two"]),
        ("**Acceptance criteria:** all in one", ["all in one"]),
        ("**Acceptance criteria**\n\nAll of:\n\n- one\n\nText.\n\n- no criterion", ["one"]),
        ("- **Acceptance criteria:**\n  - one\n  - two", ["one", "two"]),
        ("**Acceptance criteria**\n- when\n  so:\n  - [ ] a\n  - b\n-", ["when so: a; b"]),
        ("**Acceptance criteria**\n- prints\n  ```\n  x\n  ```", ["prints \n```\nx\n```"]),
        (
            "**Acceptance criteria**\n- **Files** come last\n- [x]: said",
            ["**Files** come last", "[x]: said"],
        ),
    ],
)
def test_acceptance_criteria(text: str, criteria: list[str]) -> None:
    """The list under the label, each item on one line, without its box."""
    assert only_story(text)["acceptanceCriteria"] == criteria


def task(task_id: str, title: str, **fields: Any) -> dict[str, Any]:
    """A task as the compiler gives it."""
    plain = {"filePaths": [], "run": [], "commands": [], "status": "pending"}
    return {"id": task_id, "title": title, **plain, **fields}


TASK_LIST = """\
**Tasks**

1. T-002: **Write** it
   in full
   **Files:** `a.py`

   Some words on it.

   - a remark

   ```sh run
   make a
   ```

   ```sh verify
   test -f a.py
   ```
2. [ ] Document it
3. **T-003:** Ship it
"""

TASK_HEADINGS = """\
#### T-002: **Write** it in full

**Files:** `a.py`

Some words on it.

- a remark

```sh run
make a
```

```sh verify
test -f a.py
```

#### Task-7: Document it

#### T-003: Ship it
"""


@pytest.mark.parametrize(("text", "second"), [(TASK_LIST, "T-001"), (TASK_HEADINGS, "Task-7")])
def test_tasks(text: str, second: str) -> None:
    """A list under the label and deeper headings give tasks, with files, text and commands."""
    assert only_story(text)["tasks"] == [
        task(
            "T-002",
            "**Write** it in full",
            description="Some words on it.\n\n- a remark",
            filePaths=["a.py"],
            run=["make a"],
            commands=["test -f a.py"],
        ),
        task(second, "Document it"),
        task("T-003", "Ship it"),
    ]


def test_another_heading_ends_a_task() -> None:
    """Deeper headings in a task are its text, one of the same level belongs to the story."""
    story = only_story(
        "#### T-001: One\n\n##### Deeper\n\na\n\n#### Notes\n\nb\n\n```verify\ntrue\n```\n\n"
        "#### T-002: Two\n\n**Acceptance criteria**\n- c\n\n**Priority:** 2"
    )

    assert story["tasks"] == [
        task("T-001", "One", description="##### Deeper\n\na"),
        task("T-002", "Two"),
    ]
    assert story["description"] == "#### Notes\n\nb"
    assert story["verify"] == ["true"]
    assert story["acceptanceCriteria"] == ["c"]
    assert story["priority"] == 2


def test_a_task_of_one_line() -> None:
    """A task may stand right behind the label."""
    assert only_story("**Tasks:** T-009: Do it")["tasks"] == [task("T-009", "Do it")]


def test_a_task_item_without_words() -> None:
    """An item that is only a command is a task under the story's title."""
    story = only_story("**Tasks**\n\n- ```run\n  make\n  ```\n-\n")

    assert story["tasks"] == [task("T-001", "A story", run=["make"]), task("T-002", "A story")]


@pytest.mark.parametrize(
    ("info", "run", "verify"),
    [
        ("run", ["a\n\n  b"], []),
        ("bash run", ["a\n\n  b"], []),
        ("bash Run title=x", ["a\n\n  b"], []),
        ("{.bash .run}", ["a\n\n  b"], []),
        ("bash verify", [], ["a\n\n  b"]),
        ("bash", [], []),
        ("bash dry-run", [], []),
    ],
)
@pytest.mark.parametrize("fence", ["```", "~~~~"])
def test_command_blocks(info: str, run: list[str], verify: list[str], fence: str) -> None:
    """The words run and verify make a code block one command, its lines kept."""
    story = only_story(f"{fence}{info}\na\n\n  b\n{fence}")

    assert [task["run"] for task in story["tasks"]] == ([run] if run else [])
    assert story["verify"] == verify
    assert bool(story["description"]) == (not run and not verify)


def test_commands_in_lists_belong_to_the_story() -> None:
    """A command under an item of a list is taken out of the text around it."""
    story = only_story(
        "- do it\n  ```run\n  a\n  ```\n- then\n\n**Acceptance criteria**\n- it works\n"
        "  ```verify\n  b\n  ```"
    )

    assert story["description"] == "- do it\n- then"
    assert story["acceptanceCriteria"] == ["it works"]
    assert story["tasks"] == [task("T-001", "A story", run=["a"])]
    assert story["verify"] == ["b"]


def test_run_blocks_outside_tasks_make_one_task() -> None:
    """It holds them all, stands where the first stands, and has an id that is free."""
    story = only_story(
        "```run\na\n```\n\n**Files:** x.sh\n\n**Tasks**\n- T-001: One\n- Two\n\n```run\nb\n```"
    )

    assert story["tasks"] == [
        task("T-002", "A story", filePaths=["x.sh"], run=["a", "b"]),
        task("T-001", "One"),
        task("T-003", "Two"),
    ]


def test_files_of_a_story_go_to_its_first_task() -> None:
    """They stand before the task's own, each once."""
    story = only_story("**Tasks**\n- One\n  **Files:** a, b\n- Two\n\n**Files:** c, a")

    assert [entry["filePaths"] for entry in story["tasks"]] == [["c", "a", "b"], []]


@pytest.mark.parametrize(
    ("value", "paths"),
    [
        ("src/__init__.py, src/\\_x\\_.py", ["src/__init__.py", "src/_x_.py"]),
        ("`a b.py`, `c,d.py`", ["a b.py", "c,d.py"]),
        ("`a.py` `b.py`", ["a.py", "b.py"]),
        ("[a.py](src/a.py), sand.py and andy.py", ["a.py", "sand.py", "andy.py"]),
        ("a.py (new), b.py — the other", ["a.py", "b.py"]),
        ("a.py, a.py,", ["a.py"]),
    ],
)
def test_lists_of_paths(value: str, paths: list[str]) -> None:
    """Backticks protect, links are their text, remarks are left out."""
    assert only_story(f"**Files:** {value}")["tasks"][0]["filePaths"] == paths


def test_line_ends_and_mark_do_not_matter() -> None:
    """A checkout with CRLF and a byte order mark is the same document."""
    text = WHOLE + "\n```bash run\na\nb\n```\n"
    other = "\ufeff" + text.replace("\n", "\r\n")

    assert compiled(other) == compiled(text)
    assert prd_hash(other.encode()) == prd_hash(text.encode())
    assert prd_hash(text.encode()) != prd_hash(text.encode() + b"\n")


def test_hash_names_its_kind() -> None:
    """The digest is SHA-256 in hexadecimal, as any tool would compute it."""
    digest = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"

    assert prd_hash(b"hello\n") == f"sha256:{digest}"
