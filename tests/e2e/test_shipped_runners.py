"""Runs with the shipped runners, their programs played by scripts on PATH."""

import json
import os
from pathlib import Path

import pytest

from agent_programs import PASSED, install
from qloop.system.clock import parse_utc
from world import Ran, World


def run(world: World, settings: str, *words: str) -> Ran:
    """A run of one story with these settings."""
    (world.path / "qloop.toml").write_text(settings, encoding="utf-8")
    world.plan({"id": "A-1", "title": "One", "verify": ["test -f work.txt"]})
    return world.run(*words)


def words_of(world: World, name: str) -> list[str]:
    """The words that a program was started with."""
    return (world.flags / f"{name}.words").read_text("utf-8").splitlines()


def test_a_name_is_enough(world: World, programs: Path) -> None:
    """`runner = "claude"` needs no table: it may edit, commit, and run the story's checks."""
    install(programs, world.flags, "claude")

    ran = run(world, 'runner = "claude"\nmodel = "small"\n')

    words = words_of(world, "claude")
    allowed = json.loads(words[words.index("--settings") + 1])["permissions"]["allow"]
    assert ran.code == 0, ran.err
    assert words[:3] == ["-p", "--model", "small"]
    assert "acceptEdits" in words
    assert {"Bash(git commit:*)", "Bash(test -f work.txt:*)"} <= set(allowed)
    assert "A-1" in world.files()["prompt.txt"]
    assert "whatever you may" not in ran.err


def test_a_table_wins_wholly(world: World, programs: Path) -> None:
    """A table of a shipped runner's name takes nothing of the shipped one."""
    install(programs, world.flags, "mine")

    ran = run(world, 'runner = "claude"\n[runners.claude]\nargv = ["mine", "-x"]\n')

    assert ran.code == 0, ran.err
    assert words_of(world, "mine") == ["-x"]


def test_full_permissions_are_asked_for_and_said(world: World, programs: Path) -> None:
    """They take the words that allow everything, and the run says so at its start."""
    install(programs, world.flags, "codex")

    ran = run(world, 'runner = "codex"\npermissions = "full"\n')

    assert ran.code == 0, ran.err
    assert "--dangerously-bypass-approvals-and-sandbox" in words_of(world, "codex")
    assert "--sandbox" not in words_of(world, "codex")
    assert 'permissions = "full": codex' in ran.err
    assert "whatever you may" in ran.err


def test_what_cannot_be_held_needs_full_permissions(world: World, programs: Path) -> None:
    """It does not start by accident, and the way out is named."""
    install(programs, world.flags, "mini")

    ran = run(world, 'runner = "mini"\n')

    assert ran.code == 65
    assert 'permissions = "full"' in ran.err
    assert world.statuses() == {"A-1": "pending"}
    assert run(world, 'runner = "mini"\npermissions = "full"\n').code != 65


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is refused")
def test_root_is_told_what_claude_asks_of_it(
    world: World, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As root it starts only where a sandbox is vouched for."""
    install(programs, world.flags, "claude")
    settings = 'runner = "claude"\npermissions = "full"\n'
    monkeypatch.delenv("IS_SANDBOX", raising=False)

    refused = run(world, settings)
    monkeypatch.setenv("IS_SANDBOX", "1")
    allowed = run(world, settings)

    assert refused.code == 65
    assert "IS_SANDBOX" in refused.err
    assert allowed.code == 0, allowed.err
    assert "bypassPermissions" in words_of(world, "claude")


def test_files_of_a_runner_are_there_while_it_works(world: World) -> None:
    """A file that a table brings stands where its variable says; the person's own value wins."""
    script = f'cat > prompt.txt; cp "$MY_SETTINGS" seen.txt; echo x > work.txt; echo "{PASSED}"'
    table = (
        f"argv = {json.dumps(['sh', '-c', script])}\nenv = ['MY_SETTINGS']\n"
        '[runners.own.default_env]\nMY_SETTINGS = "{files}/my.json"\n'
        "[runners.own.files]\n'my.json' = '{}'\n"
    )

    ran = run(world, f'runner = "own"\n[runners.own]\n{table}')

    assert ran.code == 0, ran.err
    assert world.files()["seen.txt"] == "{}"


def test_agents_of_one_runner_start_one_after_the_other(world: World) -> None:
    """Two waves' agents keep the distance that their runner asks for; `shell` asks for none."""
    script = json.dumps(["sh", "-c", f"cat > $QLOOP_STORY; echo '{PASSED}'"])
    text = f'runner = "own"\n[runners.own]\nargv = {script}\nstagger_s = 2\n'
    (world.path / "qloop.toml").write_text(text, encoding="utf-8")
    by_hand = {"tasks": [{"run": ["echo x > C-1"]}], "runner": "shell"}
    world.plan({"id": "A-1"}, {"id": "B-1"}, {"id": "C-1", **by_hand})

    ran = world.run()

    started = {one["story"]: parse_utc(one["ts"]) for one in world.events("agent.started")}
    assert ran.code == 0, ran.err
    assert (
        abs((started["A-1"] - started["B-1"]).total_seconds()) > 0.5
    )  # a late wake-up shortens it
    assert len(list((world.path / ".qloop" / "starts").iterdir())) == 1


def test_auto_takes_the_first_that_is_installed(world: World, programs: Path) -> None:
    """Tables first, then the shipped ones in their order, none that needs full permissions."""
    for name in ("mini", "qwen", "gemini"):
        install(programs, world.flags, name)

    ran = run(world, "")

    assert ran.code == 0, ran.err
    assert world.events("attempt.started")[0]["data"]["runner"] == "gemini"


def test_auto_without_any_says_what_there_is(world: World, programs: Path) -> None:
    """Nothing installed is 69, and the names that would do are told."""
    ran = run(world, "")

    assert ran.code == 69
    for word in ("A-1", "install", "claude", "codex", "qloop runners list"):
        assert word in ran.err


def test_one_that_is_not_installed_says_how_to(world: World, programs: Path) -> None:
    """The command that installs it is in the error."""
    ran = run(world, 'runner = "claude"\n')

    assert ran.code == 69
    assert "npm install -g @anthropic-ai/claude-code" in ran.err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('permissions = "all"', ("permissions", "'all'", "full")),
        ("[runners.x]\nargv = ['a']\n[runners.x.least]\narg = []", ("arg", "args")),
        ("[runners.x]\nargv = ['a']\nstaggers = 1", ("staggers", "stagger_s")),
    ],
)
def test_settings_that_cannot_be_used(
    world: World, programs: Path, line: str, words: tuple[str, ...]
) -> None:
    """A wrong value and an unknown key are named, with what would be right."""
    ran = run(world, line)

    assert ran.code == 65
    for word in words:
        assert word in ran.err
