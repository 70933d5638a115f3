"""Whatever a document holds: a plan or Faults, the same for any line ends."""

from hypothesis import example, given
from hypothesis import strategies as st

from plan.plans import unhurried
from plan.prds import compiled
from qloop.plan.document import parse_document, render_document
from qloop.plan.model import Json
from qloop.plan.validate import find_faults
from qloop.system.errors import Faults

LINES = [
    *("---", "...", "a: 1", "b: [", "- x: {y: z}", "# Title", "## US-001: One", "### US-002: Two"),
    *(
        "#### T-001: Task",
        "#### Notes",
        "## Non-goals",
        "### US 3: x",
        "",
        "",
        "text",
        "  indented",
    ),
    *("```bash run", "```verify", "```", "~~~", "> quote", "- item", "  - nested", "1. [ ] first"),
    *("**Depends on:** US-001", "**Depends on**", "- US-002", "**Priority:** 1", "**Priority:** x"),
    *("**Files:** `a`, b", "**Timeout:** 5m", "**Acceptance criteria**", "**Tasks**", "- T-1: x"),
    *("  ```run", "  make", "  ```", "\t- tab", "<!-- c", "-->", "| a |", "| - |", "[a]: b", "=="),
]


def outcome(text: str) -> Json | tuple[str, ...]:
    """The plan, or the faults."""
    try:
        return compiled(text)
    except Faults as error:
        return error.faults


def check(text: str) -> None:
    """What holds for every text."""
    first = outcome(text)

    assert first == outcome(text)
    if "\r" not in text:
        assert first == outcome(text.replace("\n", "\r\n"))
    if isinstance(first, dict):
        assert find_faults(first) == ()
        assert parse_document(render_document(first), "x") == first
    else:
        assert all(line.startswith("line ") for line in first)


@unhurried
@given(st.lists(st.sampled_from(LINES) | st.text(max_size=12), max_size=25).map("\n".join))
@example("## A1: x\n\n**Files:** `\x00`, a\x00b")
@example("---\n? ")
@example("---\n\x00: 1\n---\n## A1: x")
@example("- " * 100 + "## A1: x")
def test_documents_of_odd_lines(text: str) -> None:
    """Lines that mean something, in any order."""
    check(text)


@unhurried
@given(st.text())
def test_any_text(text: str) -> None:
    """No text ends in anything but a plan or Faults."""
    check(text)


@unhurried
@given(st.text())
def test_any_front_matter(text: str) -> None:
    """Nor does any front matter."""
    check(f"---\n{text}\n---\n## A1: Story\n")


@unhurried
@given(st.text())
def test_any_text_in_a_story(text: str) -> None:
    """Nor does any text of a story."""
    check(f"## A1: Story\n\n{text}\n")
