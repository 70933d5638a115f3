"""`qloop runners`: which there are, how they start, and whether they work."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from agent_programs import install
from qloop.agents.manifest import Manifest, RunnerTable
from qloop.agents.shipped import SHIPPED
from qloop.agents.toml import render_table
from world import Ran, World

WORKS = ("echo hello > hello.txt", "git add hello.txt", "git commit -qm 'say hello'")


def table(world: World, text: str) -> None:
    """The settings of the repository."""
    (world.path / "qloop.toml").write_text(text, encoding="utf-8")


def findings(ran: Ran) -> dict[str, dict[str, Any]]:
    """What a check found, by what was looked at."""
    return {one["check"]: one for one in json.loads(ran.out)["findings"]}


def test_all_are_listed(world: World, programs: Path) -> None:
    """Tables first, then the shipped ones; of the installed the version, of the others how to."""
    install(programs, world.flags, "codex")
    table(world, '[runners.own]\nargv = ["no-such-agent"]\n')

    ran = world.qloop("runners", "list", "--json")
    shown = world.qloop("runners", "list")

    rows = {row["name"]: row for row in json.loads(ran.out)}
    assert ran.code == shown.code == 0, ran.err
    assert list(rows) == ["own", *SHIPPED]
    assert rows["codex"]["installed"] is True
    assert rows["codex"]["version"] == "1.2.3"
    assert (rows["own"]["source"], rows["own"]["permissions"]) == ("qloop.toml", "as in argv")
    assert (rows["mini"]["source"], rows["mini"]["permissions"]) == ("shipped", "needs full")
    assert "npm install -g @anthropic-ai/claude-code" in shown.out


def test_a_program_of_a_table_is_not_started_to_be_listed(world: World, programs: Path) -> None:
    """Only what a table says is asked for a version; it may not know of such a word."""
    install(programs, world.flags, "mine")
    table(world, '[runners.own]\nargv = ["mine"]\n')

    ran = world.qloop("runners", "list", "--json")

    assert json.loads(ran.out)[0]["version"] is None
    assert list(world.flags.iterdir()) == []


def test_outside_of_a_repository(world: World, programs: Path, tmp_path: Path) -> None:
    """The shipped ones can be listed and shown anywhere."""
    listed = world.qloop("runners", "list", "--json", cwd=tmp_path)
    shown = world.qloop("runners", "show", "claude", cwd=tmp_path)

    assert len(json.loads(listed.out)) == len(SHIPPED)
    assert "[runners.claude]" in shown.out


@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_shown_could_stand_in_the_settings(world: World, name: str, tmp_path: Path) -> None:
    """The table that is printed reads as the manifest that it is of."""
    shown = world.qloop("runners", "show", name, cwd=tmp_path)
    printed = tomllib.loads(shown.out)["runners"][name]
    as_json = json.loads(world.qloop("runners", "show", name, "--json", cwd=tmp_path).out)

    manifest = Manifest(name=name, **RunnerTable.model_validate(printed).model_dump())
    assert manifest.argv == tuple(as_json["argv"])
    assert manifest.env == tuple(as_json["env"])
    assert render_table(manifest) == shown.out[shown.out.index("[runners.") :]


def test_an_unknown_one_is_65(world: World) -> None:
    """The names that there are, are told."""
    for words in (("show", "nobody"), ("check", "nobody"), ("show", "shell")):
        ran = world.qloop("runners", *words)

        assert ran.code == 65, words
        assert words[1] in ran.err


def test_one_that_works(world: World, programs: Path) -> None:
    """It is started for real, lands its work in a scratch repository, and nothing is left."""
    install(programs, world.flags, "claude", *WORKS)
    before = world.repo.git("status", "--porcelain=v1", "--untracked-files=all")

    ran = world.qloop("runners", "check", "claude", "--model", "small", "--json")
    told = findings(ran)

    assert ran.code == 0, ran.err + ran.out
    assert json.loads(ran.out)["folder"] is None
    assert {one["state"] for one in told.values()} == {"ok", "warn"}
    assert told["found"]["text"] == str(programs / "claude")
    assert told["version"]["text"] == "1.2.3"
    assert told["commits"]["text"] == "it committed"
    assert told["usage"]["state"] == "warn"
    assert "small" in (world.flags / "claude.words").read_text("utf-8").splitlines()
    assert world.repo.git("status", "--porcelain=v1", "--untracked-files=all") == before


def test_one_that_leaves_its_work_uncommitted_works_too(world: World, programs: Path) -> None:
    """qloop commits it, and that is said; without a name it is the runner of the settings."""
    install(programs, world.flags, "codex", WORKS[0])
    table(world, 'runner = "codex"\n')

    ran = world.qloop("runners", "check")

    assert ran.code == 0, ran.err + ran.out
    assert "it left its work uncommitted; qloop commits it" in ran.out


@pytest.mark.parametrize(
    ("steps", "check", "words"),
    [
        (("exit 3",), "start", "exit code 3"),
        (("echo 'Not logged in · Please run /login'; exit 1",), "start", "/login"),
        (("true",), "edits", "made no hello.txt"),
        ((*WORKS, "echo unsure; exit 0"), "signal", "no signal"),
        (("echo wrong > hello.txt",), "landed", "grep"),
    ],
)
def test_what_does_not_work_is_named(
    world: World, programs: Path, steps: tuple[str, ...], check: str, words: str
) -> None:
    """What failed, in clear words, with what to do; the scratch repository stays."""
    install(programs, world.flags, "claude", *steps)

    ran = world.qloop("runners", "check", "claude", "--json")
    told = findings(ran)

    assert ran.code == 1, ran.err + ran.out
    assert told[check]["state"] == "bad"
    assert words in told[check]["text"]
    assert told[check]["fix"]
    assert (Path(json.loads(ran.out)["folder"]) / ".qloop" / "logs").is_dir()


def test_one_that_waits_for_a_person(world: World, programs: Path) -> None:
    """It is ended after its time, and the guess is told."""
    install(programs, world.flags, "claude", "sleep 600")

    ran = world.qloop("runners", "check", "claude", "--timeout", "2s")

    assert ran.code == 1
    assert "waited for a person" in ran.out


def test_one_that_is_not_installed_is_69(world: World, programs: Path) -> None:
    """How to install it is told; so it is when there is none at all."""
    table(world, "")

    one = world.qloop("runners", "check", "gemini")
    any_one = world.qloop("runners", "check")

    assert one.code == any_one.code == 69
    assert "npm install -g @google/gemini-cli" in one.err
    assert "qloop runners list" in any_one.err


def test_a_program_of_the_checkout(world: World) -> None:
    """A table may name a program by its path in the checkout."""
    tools = world.path / "tools"
    tools.mkdir()
    install(tools, world.flags, "agent", *WORKS)
    table(world, '[runners.own]\nargv = ["tools/agent"]\nenv = ["A b"]\n')

    ran = world.qloop("runners", "check", "own")

    assert ran.code == 0, ran.err + ran.out


def test_doctor_tells_what_is_installed(world: World, programs: Path) -> None:
    """The agents that qloop knows by itself, or how to get one."""
    none = world.qloop("doctor")
    install(programs, world.flags, "qwen")
    one = world.qloop("doctor")

    assert "qloop runners list" in none.out
    assert "qwen installed" in one.out
