"""`qloop preamble DIR`: a function of the intent's folder, and of nothing else."""

import os
import shutil
from pathlib import Path

import pytest

from qloop.cli.main import main
from qloop.mission.preamble import render_preamble
from qloop.state.intents import create_intent
from qloop.state.savepoints import LEDGER, add_savepoint

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A new intent's folder, in a path with a space."""
    return create_intent(tmp_path / "my intents", "Export as CSV", author="ada").folder


def head(folder: Path) -> list[str]:
    """The lines that tell where the intent stands."""
    return render_preamble(folder, "planner").splitlines()[1:5]


def test_it_tells_where_the_intent_stands(folder: Path, capsys: Captured) -> None:
    """Folder, intent, stage and role, how to honour them, and the report to end with."""
    assert main(["preamble", str(folder), "--role", "Implementer", "--step", "action 1"]) == 0
    told = capsys.readouterr().out
    assert told.splitlines()[:5] == [
        "=== qloop preamble ===",
        "Intent folder: 1--export-as-csv",
        "Active intent: 1 - Export as CSV",
        "Current stage: Why - started",
        "Cycle step / role: executor / action 1",
    ]
    assert "invent no intents" in told
    assert "\nVerification: " in told
    assert "\nTests: " in told
    assert told.endswith("=== end of preamble ===\n")
    assert "Cycle step / role: Why\n" in render_preamble(folder)
    assert main(["preamble", str(folder), "--role", "planner", "--sub-agents"]) == 0
    assert "hand parts of your task to sub-agents" in capsys.readouterr().out
    assert "sub-agents" not in told


def test_the_same_files_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    """Wherever they lie, whenever they were written, whoever asks from where."""
    before = render_preamble(folder, "planner")
    copy = tmp_path / "elsewhere" / folder.name
    shutil.copytree(folder, copy)
    os.utime(copy / f"{folder.name}.md", (1, 1))

    assert render_preamble(copy, "planner") == before


def test_each_file_changes_its_own_line(folder: Path) -> None:
    """The document changes the intent's line, ledger and files the stage's, and nothing else."""
    place, intent, stage, role = head(folder)
    document = folder / f"{folder.name}.md"
    document.write_bytes(b"\xef\xbb\xbf" + document.read_bytes().replace(b"\n", b"\r\n"))
    assert head(folder) == [place, intent, stage, role]

    document.write_text(document.read_text().replace('intent: "Export as CSV"', "intent: XML"))
    assert head(folder) == [place, "Active intent: 1 - XML", stage, role]
    add_savepoint(folder, "How", "started")
    add_savepoint(folder, "Lock", "takeover: b from a")
    assert head(folder)[2] == "Current stage: How - started"
    (folder / LEDGER).unlink()
    assert head(folder)[2] == "Current stage: Why"
    (folder / "spec.md").write_text("words")
    assert head(folder) == [place, "Active intent: 1 - XML", "Current stage: How", role]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("no front matter\n", "(unknown) - (unknown)"),
        ("---\nid: 1\nintent: [a\n---\n", "(unknown) - (unknown)"),
        ("---\nid: 1\nintent: never closed\n", "(unknown) - (unknown)"),
        ("---\nid: {a: b}\nintent: [a]\n---\n", "(unknown) - (unknown)"),
        ("---\nid: 7\n---\n", "7 - (unknown)"),
        ("---\nintent: |\n  two\n  lines\x1b[31m\n---\n", "(unknown) - (unknown)"),
        ('---\nintent: "two\\nlines\\e[31m"\n---\n', "(unknown) - two lines [31m"),
        ("---\nid: 1\nid: 2\n---\n", "(unknown) - (unknown)"),
        ("\x00\udcff", "(unknown) - (unknown)"),
    ],
)
def test_a_broken_document_is_unknown(folder: Path, text: str, line: str) -> None:
    """Whatever is wrong with the front matter, nothing is raised and no line is torn."""
    document = folder / f"{folder.name}.md"
    document.write_bytes(text.encode("utf-8", "surrogateescape"))

    assert head(folder)[1] == f"Active intent: {line}"


def test_what_is_asked_wrongly_is_refused(folder: Path, capsys: Captured) -> None:
    """An unknown role, a step of two lines, and a folder that is not there."""
    assert main(["preamble", str(folder), "--role", "plannr"]) == 64
    assert "did you mean 'planner'" in capsys.readouterr().err
    assert main(["preamble", str(folder), "--step", "a\nb"]) == 64
    assert main(["preamble", str(folder / "none")]) == 66
