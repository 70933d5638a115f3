"""RECON by code alone: what it writes, what it hands on, and when the next mission skips it."""

import json
from pathlib import Path

import pytest

from loaded import Loaded
from qloop.state.codebase import parse_facts
from world import World

FILES = {
    "Makefile": "test:\n\tpython -m pytest\nbuild:\n\ttrue\n",
    "pyproject.toml": '[project]\nname = "tea"\n[project.scripts]\ntea = "tea:main"\n',
    "tea/__init__.py": "",
    "tests/test_tea.py": "",
    "AGENTS.md": "# Rules\n",
    "web/package.json": "{",
}


@pytest.fixture
def world(tmp_path: Path, loaded: Loaded) -> World:
    """A repository with a test suite, and a file that is broken."""
    made = World(tmp_path, loaded)
    made.configure()
    made.repo.commit("code", FILES)
    return made


def begin(world: World, text: str) -> Path:
    """Begin a mission; its folder."""
    ran = world.qloop("mission", "new", text, "--autonomy", "guided", "--json")
    assert ran.code == 0, ran.err
    return Path(json.loads(ran.out)["folder"])


def test_recon_names_real_commands_with_their_files(world: World) -> None:
    """Report, drawing and facts lie in the intent's folder; what was seen goes to later phases.

    The next mission skips RECON where its fingerprint is the same, and not after a change of it.
    """
    folder = begin(world, "Let orders have a colour")

    assert world.qloop("mission", "run").code == 3
    report = (folder / "recon/RECON_REPORT.md").read_text("utf-8")
    assert "| test | `make test` | `.` | declared | `Makefile:1 (test)` |" in report
    assert "| build | `make build` | `.` | declared | `Makefile:3 (build)` |" in report
    assert "| command | tea | `tea:main` | `pyproject.toml:4 (project.scripts.tea)` |" in report
    assert "`AGENTS.md`" in report
    assert "```mermaid" in (folder / "recon/ARCHITECTURE.md").read_text("utf-8")
    facts = parse_facts((folder / "recon/facts.json").read_text("utf-8"), "facts.json")
    assert facts.commit == world.repo.git("rev-parse", "HEAD")
    state = json.loads((folder / "state.json").read_text("utf-8"))
    assert "test by `make test` (Makefile:1 (test))" in state["warmth"]["patterns"]
    assert state["warmth"]["gotchas"][0].startswith("web/package.json cannot be read")

    world.repo.commit("more code", {"tea/__init__.py": "x = 1\n"})
    begin(world, "Let orders have a size")
    ran = world.qloop("mission", "run")
    assert "RECON skipped: known codebase: the fingerprint is that of 1--" in ran.err

    world.repo.commit("another command", {"Makefile": "test:\n\ttrue\n"})
    third = begin(world, "Let orders have a taste")
    assert world.qloop("mission", "run").code == 3
    assert "`make build`" not in (third / "recon/RECON_REPORT.md").read_text("utf-8")
