"""`qloop init --agents`: role files in the places of agent command lines."""

import json
import tomllib
from pathlib import Path

import pytest
import yaml

from qloop.agents.roles import load_role, role_names
from world import World


@pytest.mark.parametrize(
    ("name", "folder", "suffix"),
    [
        ("claude", ".claude/agents", ".md"),
        ("qwen", ".qwen/agents", ".md"),
        ("gemini", ".gemini/agents", ".md"),
        ("opencode", ".opencode/agents", ".md"),
        ("copilot", ".github/agents", ".agent.md"),
    ],
)
def test_markdown_with_front_matter(world: World, name: str, folder: str, suffix: str) -> None:
    """Each role is there, with the front matter that the command line knows, and no open place."""
    ran = world.qloop("init", "--agents", name)

    assert ran.code == 0, ran.err
    files = {path.name.removesuffix(suffix): path for path in (world.path / folder).iterdir()}
    assert set(files) == set(role_names())
    for role, path in files.items():
        _, front, body = path.read_text("utf-8").split("---\n", 2)
        assert yaml.safe_load(front)["description"] == load_role(role).description
        assert "model" not in yaml.safe_load(front)
        assert "${" not in body
    assert "<story>" in files["implementer"].read_text("utf-8")


def test_codex_reads_toml(world: World) -> None:
    """Codex gets a table for each role, the prompt among its keys."""
    ran = world.qloop("init", "--agents", "codex", "--agents", "claude")
    table = tomllib.loads((world.path / ".codex/agents/implementer.toml").read_text("utf-8"))

    assert ran.code == 0, ran.err
    assert table.keys() == {"name", "description", "developer_instructions"}
    assert "exactly one story" in table["developer_instructions"]
    assert (world.path / ".claude/agents/implementer.md").exists()


def test_a_file_of_the_persons_own_is_kept(world: World) -> None:
    """One that differs is named and left; --force replaces it; a second time nothing is done."""
    mine = world.path / ".claude/agents/implementer.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine\n", encoding="utf-8")

    kept = world.qloop("init", "--agents", "claude")
    text = mine.read_text("utf-8")
    forced = world.qloop("init", "--agents", "claude", "--force")
    again = world.qloop("init", "--agents", "claude")

    assert kept.code == 65
    assert ".claude/agents/implementer.md" in kept.err
    assert "--force" in kept.err
    assert text == "mine\n"
    assert (world.path / ".claude/agents/spec-reviewer.md").exists()
    assert forced.code == again.code == 0
    assert "replaced" in forced.err
    assert "name: implementer" in mine.read_text("utf-8")
    assert "there already" in again.err


@pytest.mark.parametrize("name", ["nobody", "aider"])
def test_a_runner_without_a_place_is_65(world: World, name: str, tmp_path: Path) -> None:
    """Those that have one are named, and nothing is done."""
    ran = world.qloop("init", "--agents", name)

    assert ran.code == 65
    for word in (name, "claude", "codex"):
        assert word in ran.err
    assert not (world.path / ".qloop").exists()


def test_force_alone_is_64(world: World) -> None:
    """There is nothing to force."""
    assert world.qloop("init", "--force").code == 64


def test_a_table_may_name_its_place(world: World) -> None:
    """A runner of one's own says where it looks, and what it understands."""
    text = '[runners.own]\nargv = ["own"]\nrole_files = {folder = "own roles", keys = ["name"]}\n'
    (world.path / "qloop.toml").write_text(text, encoding="utf-8")

    ran = world.qloop("init", "--agents", "own")

    assert ran.code == 0, ran.err
    front = (world.path / "own roles/implementer.md").read_text("utf-8").split("---\n")[1]
    assert yaml.safe_load(front) == {"name": "implementer"}


def test_claudes_settings_get_the_gates_hook(world: World) -> None:
    """Beside what stands there, through a link too, and once."""
    folder = world.path / ".claude"
    folder.mkdir()
    kept = world.path / "settings of mine.json"
    kept.write_text('{"model": "opus"}', encoding="utf-8")
    (folder / "settings.json").symlink_to(kept)

    first = world.qloop("init", "--agents", "claude")
    text = kept.read_text("utf-8")
    again = world.qloop("init", "--agents", "claude")

    assert first.code == again.code == 0, first.err + again.err
    assert json.loads(text)["model"] == "opus"
    assert "gate hook" in text
    assert "commit .claude/settings.json" in first.err
    assert (folder / "settings.json").is_symlink()
    assert kept.read_text("utf-8") == text
    assert ".claude/settings.json: there already" in again.err


def test_settings_that_are_no_json_are_left_and_named(world: World) -> None:
    """The role files are written all the same."""
    settings = world.path / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text("// mine\n{}\n", encoding="utf-8")

    ran = world.qloop("init", "--agents", "claude")

    assert ran.code == 65
    assert ".claude/settings.json" in ran.err
    assert settings.read_text("utf-8") == "// mine\n{}\n"
    assert (settings.parent / "agents" / "implementer.md").exists()
