"""A mission of an intent that was made before: `qloop mission new --intent`."""

import json
from pathlib import Path

import pytest

from qloop.cli.main import main
from repository import Repo

Captured = pytest.CaptureFixture[str]
PRD = "# Tea site\n\nA site.\n\n## US-001: The page\n\n```sh run\necho tea > tea.txt\n```\n"


@pytest.fixture
def root(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository to stand in, and where its intents lie."""
    monkeypatch.chdir(repo.path)
    return repo.path / ".qloop" / "intents"


def test_an_intent_of_a_document_keeps_its_stories(root: Path, capsys: Captured) -> None:
    """Its stories are the plan's; it is wanted from now on, and has one mission only."""
    (root.parent.parent / "prd.md").write_text(PRD)
    main(["intent", "new", "--from", "prd.md", "--later"])
    assert main(["mission", "run", "1"]) == 66
    assert "qloop mission new --intent 1" in capsys.readouterr().err
    assert main(["mission", "new", "--intent", "tea", "--json"]) == 0
    folder = root / "1--tea-site"
    state = json.loads((folder / "state.json").read_text())

    assert (state["id"], state["slug"]) == (1, "tea-site")
    spec = (folder / "spec.md").read_text()
    assert "#### US-001: The page\n\n```sh run\necho tea > tea.txt\n```" in spec
    capsys.readouterr()
    main(["intent", "list", "--json"])
    assert [row["group"] for row in json.loads(capsys.readouterr().out)] == ["Active"]
    assert main(["mission", "new", "--intent", "1"]) == 65
    assert "qloop mission run 1" in capsys.readouterr().err
    assert [path.name for path in root.glob("*--*")] == [folder.name]


def test_an_intent_of_a_sentence_is_the_directive(root: Path, capsys: Captured) -> None:
    """With what was added as its context; a spec that is there already is not written over."""
    main(["intent", "new", "Export as CSV"])
    folder = root / "1--export-as-csv"
    document = folder / "1--export-as-csv.md"
    document.write_text(
        document.read_text().replace("## Context\n", "## Context\n\nWith quotes.\n")
    )
    (folder / "spec.md").write_text("By hand.\n")
    assert main(["mission", "new", "--intent", "1"]) == 0
    state = json.loads((folder / "state.json").read_text())

    assert state["directive"] == "Export as CSV\n\nWith quotes."
    assert (folder / "spec.md").read_text() == "By hand.\n"


def test_an_intent_that_is_over_has_no_mission(root: Path, capsys: Captured) -> None:
    """Nor has one that is not there, or two directives at once."""
    main(["intent", "new", "Export"])
    main(["intent", "end", "1", "--disposition", "abandoned"])
    capsys.readouterr()

    assert main(["mission", "new", "--intent", "1"]) == 65
    assert "--after 1" in capsys.readouterr().err
    assert main(["mission", "new", "--intent", "9"]) == 66
    assert main(["mission", "new", "Text", "--intent", "1"]) == 64


def test_a_document_is_named_by_its_title_not_by_its_front_matter(
    root: Path, capsys: Captured
) -> None:
    """What stands between the dashes is for the plan."""
    (root.parent.parent / "prd.md").write_text(f"---\ntestCommand: make\n---\n{PRD}")

    assert main(["mission", "new", "--from", "prd.md", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["slug"] == "tea-site"


def test_a_question_that_waits_is_not_forgotten(root: Path, capsys: Captured) -> None:
    """Another mission names it; watching shows it, and only names the plan beside it."""
    (root.parent.parent / "prd.md").write_text(PRD)
    main(["mission", "new", "--from", "prd.md", "--autonomy", "guided"])
    state = root / "1--tea-site" / "state.json"
    asked = {
        "id": "cp-1-1",
        "phase": "PLANNING",
        "type": "plan_approval",
        "question": "Carry it out?",
        "options": [{"id": "approve", "description": "do it"}],
        "opened_at": "2026-01-02T03:04:05.000Z",
    }
    state.write_text(json.dumps({**json.loads(state.read_text()), "checkpoints": [asked]}))
    main(["plan", "prd.md"])
    capsys.readouterr()

    assert main(["watch"]) == 0
    watched = capsys.readouterr().out
    main(["mission", "new", "Another wish"])

    assert "STOP cp-1-1 PLANNING: Carry it out?" in watched
    assert watched.endswith("there is a plan beside it: qloop watch --quantum quantum.json\n")
    assert (
        "mission 1 still waits for an answer to cp-1-1: qloop mission status 1"
        in capsys.readouterr().err
    )


def test_who_could_not_carry_it_out_is_told_at_once(root: Path, capsys: Captured) -> None:
    """Plain words need an agent; a document with its own commands needs none."""
    config = root.parent.parent / "qloop.toml"
    (root.parent.parent / "prd.md").write_text(PRD)
    config.write_text('runner = "shell"\n')
    main(["mission", "new", "Make tea"])
    plain = capsys.readouterr().err
    main(["mission", "new", "--from", "prd.md"])
    with_commands = capsys.readouterr().err
    config.write_text('[runners.own]\nargv = ["sh"]\n')
    main(["mission", "new", "Make tea"])

    assert "`qloop runners list` tells how to install one" in plain
    assert "runners list" not in with_commands + capsys.readouterr().err
