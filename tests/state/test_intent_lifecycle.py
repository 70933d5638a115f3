"""How far an intent has come: its files, the savepoint ledger, and its insights."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qloop.state.insights import add_insight, read_insights
from qloop.state.intents import create_intent
from qloop.state.lifecycle import PLACEHOLDER, Disposition, Stage, read_lifecycle
from qloop.state.savepoints import (
    LEDGER,
    Savepoint,
    add_savepoint,
    last_stage,
    parse_ledger,
    parse_line,
    read_ledger,
    rebuild_ledger,
    weave,
)
from qloop.system.errors import InputMissing, UsageWrong
from state.crowd import crowd


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A new intent's folder, in a path with a space."""
    return create_intent(tmp_path / "my intents", "Export as CSV", author="ada").folder


def write(folder: Path, name: str, text: str = "words\n") -> None:
    """Put one file into an intent's folder."""
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(text.encode())


STEPS = [
    ("spec.md", Stage.HOW),
    ("plan.md", Stage.HOW),
    ("checklist.md", Stage.HOW),
    ("actions/ACTION_1.md", Stage.EXEC),
    ("outcome.md", Stage.DONE),
]


def test_the_stage_follows_the_files(folder: Path, tmp_path: Path) -> None:
    """Each lifecycle file brings the intent on; a placeholder of it does not."""
    reached = []
    for name, _ in STEPS:
        for mark in (PLACEHOLDER, f"\ufeff{PLACEHOLDER}\r\nwords\r\n", " \n", ""):
            before = read_lifecycle(folder).stage
            write(folder, name, mark)

            assert read_lifecycle(folder).stage is before
        write(folder, name)
        reached.append(read_lifecycle(folder).stage)

    assert reached == [stage for _, stage in STEPS]
    assert read_lifecycle(tmp_path).stage is Stage.WHAT


@pytest.mark.parametrize("name", [".gitkeep", "notes.md", "ACTION_x.md", "action_1.md"])
def test_only_an_action_is_one(folder: Path, name: str) -> None:
    """What else lies in `actions/` does not make a plan that can be carried out."""
    for other in ("spec.md", "plan.md", "checklist.md", f"actions/{name}"):
        write(folder, other)

    assert read_lifecycle(folder).stage is Stage.HOW


def test_links_are_not_followed(folder: Path, tmp_path: Path) -> None:
    """A lifecycle file, or the folder of actions, that leads elsewhere is not there."""
    write(tmp_path, "spec.md")
    write(tmp_path, "actions/ACTION_1.md")
    (folder / "spec.md").symlink_to(tmp_path / "spec.md")
    (folder / "actions").symlink_to(tmp_path / "actions")
    seen = read_lifecycle(folder)

    assert (seen.spec, seen.actions) == (None, {})


def test_boxes_and_disposition_are_read(folder: Path) -> None:
    """Boxes in code count for nothing; a disposition that is none is none."""
    write(folder, "checklist.md", "- [x] a\r\n * [ ] b\r\n1. [X] c\r\n```\r\n- [ ] code\r\n```\r\n")
    write(folder, "actions/ACTION_10.md")
    write(folder, "actions/ACTION_9.md")
    seen = read_lifecycle(folder)

    assert [(box.is_ticked, box.text) for box in seen.boxes] == [
        (True, "a"),
        (False, "b"),
        (True, "c"),
    ]
    assert list(seen.actions) == ["ACTION_9.md", "ACTION_10.md"]
    for text, found in {
        "---\ndisposition: abandoned\n---\n": Disposition.ABANDONED,
        "\ufeff---\r\ndisposition: delivered\r\n---\r\n": Disposition.DELIVERED,
        "---\ndisposition: [x\n---\n": None,
        "---\ndisposition: done\n---\n": None,
        "delivered": None,
    }.items():
        write(folder, "outcome.md", text)

        assert read_lifecycle(folder).disposition is found


def test_a_milestone_stands_in_the_ledger_once(folder: Path) -> None:
    """A stage's milestone is written once, what happened on the way each time, in one line each."""
    assert [(one.kind, one.milestone) for one in read_ledger(folder)] == [
        ("What", "1--export-as-csv.md"),
        ("Why", "started"),
    ]
    assert add_savepoint(folder, "Why", "started") is None
    for _ in range(2):
        assert add_savepoint(folder, "Lock", "takeover:\nb from  a")
    (folder / LEDGER).write_bytes((folder / LEDGER).read_bytes() + b"2026-01-01T00:00:00Z  How")
    add_savepoint(folder, "How", "started")
    lines = (folder / LEDGER).read_text().splitlines()

    assert [line.partition("  ")[2] for line in lines[2:]] == [
        "Lock  takeover: b from a",
        "Lock  takeover: b from a",
        "How",
        "How  started",
    ]


def test_the_last_line_of_a_stage_tells_the_stage() -> None:
    """Lines of other classes, and lines that are none, do not hide where an intent stands."""
    text = (
        "\ufeff2026-01-01T00:00:00Z  Exec  started\r\n"
        "2026-01-02T00:00:00Z  Lock  takeover: b from a\r\n"
        "2026-01-03T00:00:00Z Done delivered\r\nDone\r\n"
    )
    found = last_stage(parse_ledger(text))

    assert found is not None
    assert (found.stage, found.milestone) == (Stage.EXEC, "started")
    assert last_stage(parse_ledger("")) is None
    assert parse_line("a  Why  two  words") == Savepoint("a", "Why", "two  words")


def test_a_ledger_is_rebuilt_without_a_loss(folder: Path) -> None:
    """Lines that the files tell of go where they belong; all others stay; twice is once."""
    for name, _ in STEPS:
        write(folder, name)
    add_savepoint(folder, "Lock", "takeover: b from a")
    add_savepoint(folder, "Exec", "started")
    write(folder, LEDGER, (folder / LEDGER).read_text() + "not of the form")
    before = (folder / LEDGER).read_text().splitlines()

    assert rebuild_ledger(folder, Disposition.DELIVERED)
    assert not rebuild_ledger(folder, Disposition.DELIVERED)
    after = (folder / LEDGER).read_text().splitlines()
    assert [line for line in after if line in before] == before
    assert [line.partition("  ")[2].strip() for line in after] == [
        "What  1--export-as-csv.md",
        "Why  started",
        "Lock  takeover: b from a",
        "Why  spec.md created",
        "How  started",
        "How  plan.md created",
        "How  checklist.md created",
        "Exec  started",
        "",
        "Exec  outcome.md created",
        "Done  delivered",
    ]
    (folder / LEDGER).unlink()
    assert rebuild_ledger(folder)
    assert len(read_ledger(folder)) == 8


POINTS = [
    Savepoint("t", kind, milestone)
    for kind, milestone in [
        ("What", "a.md"), ("Why", "started"), ("Why", "spec.md created"), ("How", "started"),
        ("Exec", "started"), ("Done", "delivered"),
    ]
]  # fmt: skip


@given(
    st.lists(
        st.sampled_from([*(one.to_line() for one in POINTS), "t  Lock  x", "t  Exec  more", "odd"])
    ),
    st.lists(st.sampled_from(POINTS), unique=True),
)
def test_weaving_loses_nothing(lines: list[str], told: list[Savepoint]) -> None:
    """Whatever a ledger holds, its lines stay in their order, and all that is told is in it."""
    told = [point for point in POINTS if point in told]
    made = weave(lines, told)
    rest = iter(made)

    assert all(line in rest for line in lines)
    assert {point.to_line() for point in told} <= set(made)
    assert weave(made, told) == made


def test_processes_lose_no_line(folder: Path) -> None:
    """Six processes write at once: every line is there, a stage's once."""
    crowd(6, "write", folder)
    ledger = read_ledger(folder)
    told = read_insights(read_lifecycle(folder).document or "")

    for one in range(6):
        mine = [point.milestone for point in ledger if point.milestone.startswith(f"w{one} ")]
        assert mine == [f"w{one} {number}" for number in range(10)]
        assert len([line for line in told if f": w{one} " in line]) == 10
    assert len([point for point in ledger if point.kind == "Exec"]) == 10
    assert len((folder / LEDGER).read_text().splitlines()) == len(ledger) == 72


def test_an_insight_stands_last_in_its_section(folder: Path) -> None:
    """It keeps the document's form, and no text of it can open a section or a block of code."""
    add_insight(folder, "first", stage=Stage.WHY, author="ada")
    document = folder / f"{folder.name}.md"
    text = document.read_text("utf-8")
    document.write_bytes(f"\ufeff{text}".replace("\n", "\r\n").encode())
    nasty = "second\n## Outcome\n```\n\n- [ ] box"
    line = add_insight(folder, nasty, stage=Stage.EXEC, author="executor", is_autonomous=True)
    add_insight(folder, "third", stage=Stage.EXEC, author="executor")
    found = document.read_bytes().decode()

    assert " · Exec · executor (autonomous): second" in line
    assert found.startswith("\ufeff---\r\n")
    assert found.count("\n") == found.count("\r\n")
    lines = found.replace("\r\n", "\n").split("\n## ")
    assert [part.split("\n")[0] for part in lines[1:]] == [
        "Intent", "Context", "Insights", "Outcome", "Links",
    ]  # fmt: skip
    told = read_insights(found.replace("\r\n", "\n"))
    assert [one.rpartition(": ")[2] for one in told] == ["first", "second", "third"]


def test_an_insight_makes_its_section(folder: Path) -> None:
    """A document without the section gets one; without words or document nothing is written."""
    document = folder / f"{folder.name}.md"
    document.write_text("# Only words\n```\n## Insights\n")
    add_insight(folder, "a", stage=Stage.WHY, author="b")

    assert document.read_text().startswith("# Only words\n```\n## Insights\n\n## Insights\n\n- 2")
    with pytest.raises(UsageWrong):
        add_insight(folder, " \n ", stage=Stage.WHY, author="b")
    document.unlink()
    with pytest.raises(InputMissing, match="no document"):
        add_insight(folder, "a", stage=Stage.WHY, author="b")
