"""The front matter of a requirements document."""

from typing import Any

import pytest

from plan.prds import NOW, compiled, faults_of

STORY = "## A1: Story\n"


def front(text: str) -> Any:
    """The plan of a document with this front matter and one story."""
    return compiled(f"---\n{text}\n---\n{STORY}")


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("2026-01-02", "2026-01-02"),
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("'7'", "7"),
        ("7", 7),
        ("0x10", 16),
        ("1.5", 1.5),
        ("true", True),
        ("[a, {b: [c, null]}]", ["a", {"b": ["c", None]}]),
        ("|\n  a\n  b", "a\nb\n"),
        ("=", "="),
    ],
)
def test_values(written: str, value: Any) -> None:
    """Any field is taken over as JSON; dates stay as they are written."""
    assert front(f"extra: {written}")["extra"] == value


def test_front_matter_wins_over_the_text() -> None:
    """Project, description, branch and creation time may be given."""
    plan = compiled(
        "---\nproject: P\ndescription: D\nbranchName: b\ncreatedAt: 2026-01-01\n"
        f"progress: [a]\ncodebasePatterns: [b]\n...\n# Title\n\nText.\n\n{STORY}"
    )

    assert plan == plan | {
        "project": "P",
        "description": "D",
        "branchName": "b",
        "createdAt": "2026-01-01",
        "progress": ["a"],
        "codebasePatterns": ["b"],
    }


def test_what_the_compiler_knows_better() -> None:
    """Path, hash and time of the last writing are the compiler's."""
    plan = front("prdPath: x\nprdHash: y\nupdatedAt: z")

    assert plan["prdPath"] == "prd.md"
    assert plan["prdHash"].startswith("sha256:")
    assert plan["updatedAt"] == NOW


@pytest.mark.parametrize("text", ["", "# a comment", "testCommand:\nbranchName: null"])
def test_front_matter_that_says_nothing(text: str) -> None:
    """An empty front matter, and fields without a value, are as good as none."""
    plan = front(text)

    assert plan == compiled(STORY) | {"prdHash": plan["prdHash"]}


def test_unknown_fields_stand_before_the_stories() -> None:
    """Known fields come in their order, unknown ones in the author's."""
    plan = front("zeta: 1\nexecution: {mode: x}\nalpha: 2\ncontracts: {}\ntestCommand: t")

    assert list(plan)[-8:] == [
        *("testCommand", "zeta", "alpha", "stories", "progress", "codebasePatterns"),
        *("contracts", "execution"),
    ]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("just words", 2, "no `field: value`"),
        ("\n- a\n- b", 3, "no `field: value`"),
        ("a: 1\nb: [", 3, "is not YAML"),
        ("a: 1\nb: \x07", 3, "is not YAML"),
        ("a: 1\nb: *c", 3, "is not YAML"),
        ('a: "\\U00110000"', 2, "is broken"),
        ("a: " + "[" * 60 + "]" * 60, 2, "nested too deeply"),
        ("a: " + "[" * 5000, 2, "nested too deeply"),
        ("a: 1\na: 2", 3, "the field 'a' is given twice"),
        ("a:\n  b: 1\n  b: 2", 4, "the field 'b' is given twice"),
        ("[a]: 1", 2, "a field's name must be a plain word"),
        ("a: &x [1]\nb: *x", 2, "cannot be repeated by an anchor"),
        ("a: &x [*x]", 2, "cannot be repeated by an anchor"),
        ("a: !!set {x}", 2, "no form in JSON"),
        ("a: !!binary eA==", 2, "no form in JSON"),
        ("a: !!python/object:os.x {}", 2, "no form in JSON"),
        ("a: .nan", 2, "'.nan' has no form in JSON"),
        ("a: 99999999999999999999", 2, "has no form in JSON"),
        ("a: !!int ''", 2, "'' has no form in JSON"),
        ("a: !!bool x", 2, "'x' has no form in JSON"),
        ('a: "\\ud800"', 2, "has no form in JSON"),
    ],
)
def test_broken_front_matter(text: str, line: int, words: str) -> None:
    """What is no YAML, no mapping, or has no form in JSON is a fault with its line."""
    (fault,) = faults_of(f"---\n{text}\n---\n{STORY}")

    assert fault.startswith(f"line {line}: ")
    assert words in fault


def test_front_matter_that_never_ends() -> None:
    """An opening line without its partner is a fault, and no story is looked for behind it."""
    (fault,) = faults_of(f"---\na: 1\n\n{STORY}")

    assert fault == "line 1: the front matter that starts here is never closed"


def test_a_rule_further_down_is_no_front_matter() -> None:
    """Front matter starts in the first line or not at all."""
    assert compiled(f"\n---\na: 1\n---\n{STORY}")["stories"][0]["id"] == "A1"
