"""The shipped runners, and the words and variables that a manifest comes to."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from qloop.agents.manifest import Manifest, RunnerTable
from qloop.agents.shipped import SHIPPED, load_shipped
from qloop.agents.words import command, variables
from qloop.system.assets import asset_path

UNBOUND = ("bypassPermissions", "yolo", "dangerous", "--force", "--allow-all", '"*": "allow"')
"""What lets an agent do everything, in the words of the shipped runners."""

FILES = Path("/files")
COMMANDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
    lambda text: "\0" not in text
)


def shipped(name: str, **changes: Any) -> Manifest:
    """A shipped manifest, with changes."""
    found = load_shipped(name)
    assert found is not None
    return found.model_copy(update=changes)


def spelled(manifest: Manifest) -> str:
    """All that a call of it says, words and variables."""
    given = {"{model}": "m", "{prompt}": "p", "{prompt_file}": "f"}
    return "\n".join((*command(manifest, given, FILES), *variables(manifest, FILES).values()))


def test_each_shipped_runner_has_its_file() -> None:
    """The names in code and the files beside it are the same."""
    files = {path.stem for path in asset_path("runners", "").glob("*.toml")}

    assert files == set(SHIPPED)
    assert load_shipped("nobody") is None


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_runner_is_complete(name: str) -> None:
    """It says what it is, how to install it, takes variables, and starts staggered."""
    manifest = shipped(name)

    assert manifest.title
    assert manifest.install
    assert manifest.notes
    assert manifest.env
    assert manifest.stagger_s > 0
    assert "*" not in manifest.env


@pytest.mark.parametrize("name", SHIPPED)
def test_everything_is_allowed_only_where_it_was_asked_for(name: str) -> None:
    """No least permission is spelled like the full one; without a least one it does not start."""
    least, full = shipped(name), shipped(name, permissions="full")
    bound = not any(word in spelled(least) for word in UNBOUND)

    assert bound or least.needs_full
    assert not full.needs_full
    assert name == "aider" or any(word in spelled(full) for word in UNBOUND)


@pytest.mark.parametrize("name", [name for name in SHIPPED if shipped(name).toolless is not None])
def test_without_tools_nothing_is_allowed_by_name(name: str) -> None:
    """A call without tools has its own words, whatever the permissions, and starts as root too."""
    manifest = shipped(name, permissions="full")
    words = command(manifest.for_answering(), {"{prompt}": "p"}, FILES, ["make test"])
    told = spelled(manifest.for_answering())

    assert not any(word in told for word in (*UNBOUND, "make test", "git commit", "{files}"))
    assert words != command(manifest.for_reading(), {"{prompt}": "p"}, FILES, ["make test"])
    assert manifest.for_answering().rights.root_needs is None
    assert not manifest.for_answering().needs_full


def test_a_rights_word_may_name_a_file_of_the_manifest() -> None:
    """The folder is the one that holds the files during the call."""
    words = command(shipped("gemini").for_answering(), {}, FILES)

    assert words[words.index("--policy") + 1] == "/files/toolless.toml"
    assert "toolless.toml" in shipped("gemini").files


@pytest.mark.parametrize("name", SHIPPED)
def test_no_session_of_another_agent_goes_through(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a CLI tells its own children is not what a new agent is told."""
    marks = (
        *("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CODEX_SANDBOX"),
        *("CODEX_THREAD_ID", "GEMINI_CLI", "QWEN_CODE", "OPENCODE", "CURSOR_AGENT", "AGENT"),
    )
    for mark in marks:
        monkeypatch.setenv(mark, "1")

    assert not variables(shipped(name), FILES).keys() & set(marks)


@given(COMMANDS)
def test_rules_in_json_hold_the_command_as_it_is(check: str) -> None:
    """Whatever a check looks like, claude's and opencode's rules stay JSON and name it."""
    claude = command(shipped("claude"), {}, FILES, [check])
    rules = json.loads(claude[claude.index("--settings") + 1])["permissions"]["allow"]
    opencode = json.loads(variables(shipped("opencode"), FILES, [check])["OPENCODE_PERMISSION"])

    assert f"Bash({check}:*)" in rules
    assert "Bash(git commit:*)" in rules
    assert opencode["bash"][f"{check}*"] == "allow"
    assert opencode["bash"]["*"] == "deny"


def test_rules_as_words_come_for_each_command() -> None:
    """The rule's words are repeated, for the manifest's own commands first."""
    words = command(shipped("gemini"), {}, FILES, ["make test"])

    assert words[-2:] == ("--allowed-tools", "run_shell_command(make test)")
    assert "run_shell_command(git commit)" in words


@pytest.mark.parametrize("check", ["python -c 'print(1)'", "a, b", "x\ny", 'echo "x"', "$(id)"])
def test_a_command_that_a_word_cannot_tell_gets_no_rule(check: str) -> None:
    """A rule that is malformed would be refused, or allow something else."""
    with_rule = command(shipped("copilot"), {}, FILES, [check])

    assert with_rule == command(shipped("copilot"), {}, FILES)


def test_an_empty_placeholder_goes_with_its_flag() -> None:
    """Without a model there is no flag for one."""
    with_model = command(shipped("codex"), {"{model}": "m"}, FILES)
    without = command(shipped("codex"), {"{model}": ""}, FILES)

    assert with_model[4:6] == ("--model", "m")
    assert "--model" not in without


def test_variables_by_who_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    """The manifest's default, then the person's value, then what the manifest insists on."""
    table = {
        "argv": ["a"],
        "env": ["X_*"],
        "default_env": {"X_ONE": "default", "X_TWO": "default"},
        "set_env": {"X_THREE": "set"},
        "full": {"set_env": {"X_FOUR": "full"}},
        "least": {"set_env": {"X_FOUR": "least"}},
    }
    manifest = Manifest.model_validate({"name": "a", **table})
    monkeypatch.setenv("X_TWO", "person")
    monkeypatch.setenv("X_THREE", "person")

    expected = {"X_ONE": "default", "X_TWO": "person", "X_THREE": "set", "X_FOUR": "least"}
    assert variables(manifest, FILES) == expected
    assert variables(manifest.model_copy(update={"permissions": "full"}), FILES)["X_FOUR"] == "full"


def test_a_variable_may_name_a_file_of_the_manifest() -> None:
    """The file's folder is put into the value; its text is in the manifest."""
    gemini = shipped("gemini")
    named = variables(gemini, Path("/some where"))["GEMINI_CLI_SYSTEM_DEFAULTS_PATH"]

    assert named == "/some where/settings.json"
    assert json.loads(gemini.files["settings.json"])["privacy"]["usageStatisticsEnabled"] is False


@pytest.mark.parametrize(
    "table",
    [
        {"argv": []},
        {"argv": ["a", "{prompt}"]},
        {"argv": ["a"], "prompt": "file"},
        {"argv": ["a"], "full": {"args": ["--all"]}},
        {"argv": ["a", "{permissions}"]},
        {"argv": ["a"], "stagger_s": -1},
        {"argv": ["a"], "least": {"words": []}},
        {"argv": ["a", "{resume}"]},
        {"argv": ["a"], "resume": ["-r", "{session}"]},
        {"argv": ["a", "{resume}"], "resume": ["--last"]},
    ],
    ids=str,
)
def test_a_table_that_cannot_be_used_is_refused(table: dict[str, Any]) -> None:
    """A place without what goes there, or the other way round, and what nobody knows."""
    with pytest.raises(ValidationError):
        RunnerTable.model_validate(table)
