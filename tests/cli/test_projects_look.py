"""`qloop project`: registered repositories, and how they stand."""

import json
import shutil
from pathlib import Path

import pytest

from qloop.cli.main import main
from repository import Repo

Captured = pytest.CaptureFixture[str]


def test_projects_are_registered_and_looked_at(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Their intents are counted; one whose folder is gone is told, and can be dropped."""
    repo.git("remote", "add", "origin", "https://me:secret@example.org/tea.git")
    monkeypatch.chdir(repo.path)
    main(["intent", "new", "One"])
    main(["intent", "new", "Two", "--later"])
    other = Repo(tmp_path / "other")
    other.commit("start", {"a": "1"})
    (other.path / "below").mkdir()
    capsys.readouterr()

    assert main(["project", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert main(["project", "add", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["name"], made["remote"]) == ("a-repo", "https://example.org/tea.git")
    assert (made["active"], made["future"], made["waiting"]) == (1, 1, [])
    assert main(["project", "add", str(other.path / "below"), "--name", "tea"]) == 0
    assert main(["project", "add"]) == 64
    shutil.rmtree(other.path)
    capsys.readouterr()
    assert main(["project", "list"]) == 0
    out = capsys.readouterr().out
    assert f"{other.path} (its folder is not there)" in out
    assert main(["project", "drop", "tea"]) == 0
    assert main(["project", "drop", "tea"]) == 66
    capsys.readouterr()
    main(["project", "list", "--json"])
    assert [row["path"] for row in json.loads(capsys.readouterr().out)] == [str(repo.path)]


def test_what_is_no_repository_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that is not there, or that git does not know."""
    monkeypatch.chdir(tmp_path)

    assert main(["project", "add", "none"]) == 66
    assert main(["project", "add"]) == 66
