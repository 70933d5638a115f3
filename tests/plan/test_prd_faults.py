"""What is wrong in a requirements document is told all at once, with its lines."""

import pytest

from plan.prds import compiled, faults_of


def test_no_story_shows_the_form() -> None:
    """A document without a story is told what one looks like; that form compiles."""
    (fault,) = faults_of("# Title\n\nText.\n")

    assert fault.startswith("line 1: the PRD has no story")
    form = fault.partition("\n\n")[2]
    assert [story["id"] for story in compiled(form)["stories"]] == ["US-001"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("## A1: x\n\n## A1: y\n", 3, "the id A1 is taken, by line 1"),
        ("## A1:\n", 1, "A1 has no title"),
        (
            "## US-001: x\n\n**Depends on:** US-02\n",
            3,
            "'US-02', which is no story; did you mean US-001?",
        ),
        ("## US-001: x\n\n- **Depends on:**\n  - us-001\n", 4, "did you mean US-001?"),
        (
            "## A1: x\n\n**Depends on:** the login\n",
            3,
            "A1 depends on 'the login', which is no story",
        ),
        ("## A1: x\n\n**Depends on:** A1\n", 3, "depends on itself"),
        ("## A1: x\ntext\n**Priority:** high\n", 3, "the priority 'high' is not an integer"),
        ("## A1: x\n\n**Priority:** 1.5\n", 3, "the priority '1.5' is not an integer"),
        ("## A1: x\n\n**Priority:** 1\n**Priority:** 2\n", 4, "given twice: '1' and '2'"),
        ("## A1: x\n\n**Timeout:** soon\n", 3, "the timeout 'soon' is no duration"),
        ("## A1: x\n\n```run\n```\n", 3, "the `run` block is empty"),
        ("## A1: x\n\n- a\n\n  ```sh verify\n\n  ```\n", 5, "the `verify` block is empty"),
        ("## A1: x\n\n```run verify\na\n```\n", 3, "either `run` or `verify`, not both"),
        ("## A1: x\n\n```\na\n\n## A2: y\n", 3, "the code block that starts here is never closed"),
        ("## A1: x\n\n**Tasks**\n- T-1: a\n- T-1: b\n", 5, "the story has two tasks T-1"),
        ("## A1: x\n\n### T-1: a\n\n### T-1: b\n", 5, "the story has two tasks T-1"),
        ("## A1: x\n\n**Files:** a,\n../b\n", 3, "'../b'"),
        ("## A1: x\n\n### T-1: y\n\n- **Files:**\n  - /etc\n", 6, "'/etc'"),
        ("---\nbranchName: a..b\n---\n## A1: x\n", 2, "branchName: unsafe branch name 'a..b'"),
        ("---\nx: 1\nqualityCommands: make\n---\n## A1: x\n", 3, "qualityCommands"),
        ("---\nexecution:\n  maxParallel: 0\n---\n## A1: x\n", 2, "execution.maxParallel"),
        ("---\nstories: []\n---\n## A1: x\n", 2, "stories are headings"),
    ],
)
def test_faults(text: str, line: int, words: str) -> None:
    """Each fault is told once, with its line in the file."""
    (fault,) = faults_of(text)

    assert fault.startswith(f"line {line}: ")
    assert words in fault


def test_stories_in_a_circle() -> None:
    """A circle of dependencies is told where one of them is given."""
    (fault,) = faults_of("## A1: x\n\n**Depends on:** A2\n\n## A2: y\n\n**Depends on:** A1\n")

    assert fault.startswith("line 3: ")
    assert "A1 → A2 → A1" in fault


@pytest.mark.parametrize(
    "heading",
    [
        "### US 001: Title",
        "### US.001: Title",
        "### us#1: Title",
        "### Story 1: Title",
        "### User Story 1: Title",
        "### Story US-001: Title",
        "### 1. US-001: Title",
        "### (US-001): Title",
        "### US-001 - Title",
        "### US-001 Title",
        "### US-001",
        f"### US-1{'0' * 80}: Title",
        "### ab 7: Title",
        "#### AB-7 Title",
    ],
)
def test_headings_that_were_meant_as_stories(heading: str) -> None:
    """A heading that begins like the document's stories, or as usual, but is none is a fault."""
    (fault,) = faults_of(f"## AB-1: First\n\n{heading}\n")

    assert fault.startswith("line 3: ")
    assert "has the form `### US-001: Title`" in fault


def test_a_story_as_a_second_title() -> None:
    """A story's heading at the first level is a fault, but for the title."""
    (fault,) = faults_of("# US-1: title\n\n# US-2: x\n\n## A1: y\n")

    assert (
        fault == "line 3: 'US-2: x' looks like a story, whose heading must be below the first level"
    )


def test_all_faults_at_once_in_order() -> None:
    """Faults of every kind come together, by their lines, front matter counted."""
    told = faults_of(
        "---\ntestCommand: 5\n---\n# T\n\n## A1: x\n**Priority:** p\n\n## A 2: y\n\n"
        "## A3: z\n**Depends on:** A9, A1\n**Timeout:** t\n```run\n```\n"
    )

    assert [fault.partition(":")[0] for fault in told] == [
        f"line {number}" for number in (2, 7, 9, 12, 13, 14)
    ]


def test_lines_count_in_files_with_crlf() -> None:
    """Line numbers are those of the file, whatever ends its lines."""
    (fault,) = faults_of("---\r\nproject: x\r\n---\r\n\r\n## A1: x\r\n\r\n**Priority:** p\r\n")

    assert fault.startswith("line 7: ")
