"""`qloop recon`: the repository here, read by code from the commit that is checked out."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from qloop.cli.main import main
from qloop.state.codebase import facts_schema
from repository import Repo

Captured = pytest.CaptureFixture[str]


def test_what_a_newcomer_sees(
    repo: Repo, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands, documents and languages with the files they were read from; nothing is written."""
    commit = repo.commit(
        "Begin",
        {
            "pyproject.toml": '[project]\nname = "tea"\n[tool.pytest.ini_options]\n',
            "tea/a.py": "x = 1\n",
            "tests/test_a.py": "",
            "AGENTS.md": "# Rules\x1b[31m\n",
            "package.json": "{",
        },
    )
    before = sorted(repo.path.rglob("*"))
    monkeypatch.chdir(repo.path / "tea")

    assert main(["recon"]) == 0
    out = capsys.readouterr().out
    assert f"commit {commit[:12]}" in out
    assert "Python 100%" in out
    assert "python -m pytest" in out
    assert "pyproject.toml:3" in out
    assert "AGENTS.md:1" in out
    assert "package.json" in out.partition("not read")[2]
    assert "\x1b" not in out
    assert sorted(repo.path.rglob("*")) == before


def test_as_json(repo: Repo, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """The facts as facts.json has them, also in a worktree that stands on another commit."""
    repo.commit("Begin", {"a.py": ""})
    repo.git("worktree", "add", "--quiet", "--detach", "other")
    commit = Repo.commit(_at(repo.path / "other"), "More", {"b.go": "package b\n"})
    monkeypatch.chdir(repo.path / "other")

    assert main(["recon", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    Draft202012Validator(facts_schema()).validate(facts)
    assert facts["commit"] == commit
    assert {one["name"] for one in facts["languages"] if one["is_source"]} == {"Python", "Go"}


def test_without_a_commit(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository in which nothing is committed yet is a green field."""
    monkeypatch.chdir(Repo(tmp_path / "new").path)

    assert main(["recon"]) == 0
    assert "no commit yet\ngreenfield: 0 files, no source yet" in capsys.readouterr().out


def test_outside_of_a_repository(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is nothing to look at: exit code 66."""
    monkeypatch.chdir(tmp_path)

    assert main(["recon"]) == 66
    assert "error:" in capsys.readouterr().err


def _at(path: Path) -> Repo:
    """A repository that is there already."""
    found = Repo.__new__(Repo)
    found.path = path
    return found
